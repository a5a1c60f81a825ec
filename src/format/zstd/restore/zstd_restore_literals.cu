// Decodes the literals of blocks, as a stage of restoring (zstd_restore_cuda.hpp).
#include "format/zstd/restore/zstd_bit_ring.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kStreams = 4, kBlocks = 32 / kStreams;  // of a warp
constexpr std::uint32_t kSizesBytes = 6;                   // of the first three of four streams (3.1.1.3.1.6)

struct alignas(16) Codes {
  ZstdDeviceCode of[kZstdCodes];
};

struct Stream {
  const std::uint8_t* d_bytes = nullptr;
  std::uint32_t bytes = 0;
  std::uint8_t* d_output = nullptr;
  std::uint32_t literals = 0;
};

// Stream `number` of a block's literals; false if sizes break a rule.
__device__ bool open_stream(const ZstdDeviceBlock& block, std::uint32_t description_bytes, unsigned number,
                            std::uint8_t* d_output, Stream& stream) {
  const std::uint8_t* const d_data = block.d_data + block.literals_at + description_bytes;
  if (description_bytes >= block.literals_bytes) return false;
  const std::uint32_t size = block.literals_bytes - description_bytes;
  stream.d_output = d_output;
  if (block.streams == 1) {
    if (number != 0) return true;
    stream.d_bytes = d_data;
    stream.bytes = size;
    stream.literals = block.literals;
  } else {
    if (size <= kSizesBytes) return false;
    const std::uint32_t each = (block.literals + kStreams - 1) / kStreams;
    if (block.literals < kSizesBytes || (kStreams - 1) * each > block.literals) return false;
    std::uint32_t begin = kSizesBytes, end = kSizesBytes;
    for (unsigned i = 0; i <= number; ++i) {
      begin = end;
      end = i + 1 == kStreams ? size : begin + static_cast<std::uint32_t>(zstd_number_at(d_data + 2 * i, 2));
    }
    if (begin >= end || end > size) return false;
    stream.d_bytes = d_data + begin;
    stream.bytes = end - begin;
    stream.d_output += number * each;
    stream.literals = number + 1 == kStreams ? block.literals - (kStreams - 1) * each : each;
  }
  // A stream without literals is its mark.
  const std::uint8_t last = stream.d_bytes[stream.bytes - 1];
  return stream.literals != 0 ? last != 0 : stream.bytes == 1 && last == 1;
}

// Mapping: a lane a stream, eight blocks a warp, a warp a thread block. Shared memory: 37 KB, the codes and rings. Synchronisation inside
// of warps alone. Work: linear in literals, bound by the latency of a look-up and by the longest stream of a warp. CPU twin: read_zstd_literals().
__global__ void __launch_bounds__(32)
    decode_zstd_literals(const DeviceRestore batch, const ZstdStages stages) {
  __shared__ Codes sh_codes[kBlocks];
  __shared__ ZstdRing sh_rings[32];
  const unsigned lane = threadIdx.x, slot = lane / kStreams, number = lane % kStreams;
  const std::uint32_t count = stages.listed(0), first = blockIdx.x * kBlocks;
  if (first >= count) return;
  const std::uint32_t* const d_list = stages.list(0);
  for (unsigned i = 0; i < kBlocks && first + i < count; ++i) {
    const ZstdBlockRecord& record = stages.d_blocks[d_list[first + i]];
    if (!record.block.has_coded_literals() || stages.is_left(record)) continue;
    const ZstdBlockRecord& described = stages.d_blocks[record.huffman_of];
    const auto* const d_codes =
        reinterpret_cast<const uint4*>(stages.d_codes + std::size_t{described.tables} * kZstdCodes);
    auto* const sh_own = reinterpret_cast<uint4*>(sh_codes[i].of);
    constexpr unsigned kOfVector = sizeof(uint4) / sizeof(ZstdDeviceCode);
    const unsigned vectors = ((1u << described.huffman_bits) + kOfVector - 1) / kOfVector;
    for (unsigned k = lane; k < vectors; k += 32) sh_own[k] = d_codes[k];
  }
  __syncwarp();

  ZstdBlockRecord* record = nullptr;
  if (first + slot < count) record = &stages.d_blocks[d_list[first + slot]];
  if (record != nullptr && stages.is_left(*record)) record = nullptr;
  Stream stream;
  unsigned code_bits = kZstdCodeBits;
  bool is_sound = true;
  ZstdBits bits(sh_rings[lane]);
  if (record != nullptr) {
    const ZstdDeviceBlock& block = record->block;
    if (number == 0) trace_mark(kTraceRestoreZstdBlock, d_list[first + slot]);
    std::uint8_t* const d_output = stages.unit(record->literals_unit);
    if (block.literals_type == ZstdDeviceLiterals::kRle) {
      const std::uint8_t literal = block.d_data[block.literals_at];
      for (std::uint32_t i = number; i < block.literals; i += kStreams) d_output[i] = literal;
    } else {
      const bool has_description = block.literals_type == ZstdDeviceLiterals::kCompressed;
      code_bits = stages.d_blocks[record->huffman_of].huffman_bits;
      is_sound = code_bits != 0 &&
                 open_stream(block, has_description ? record->huffman_bytes : 0, number, d_output, stream);
      if (!is_sound) stream.literals = 0;
    }
  }
  const bool has_stream = stream.literals != 0;
  if (has_stream) {
    const auto* const d_chunk = reinterpret_cast<const std::uint8_t*>(batch.d_blocks[record->chunk]);
    bits = ZstdBits(sh_rings[lane], d_chunk, d_chunk + batch.d_block_bytes[record->chunk], stream.d_bytes,
                    stream.bytes);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();

  const ZstdDeviceCode* const sh_own = sh_codes[slot].of;
  const unsigned shift = 32 - code_bits;
  // A window gives eight codes.
  ZstdWindow window{};
  const auto take = [&] {
    const std::uint32_t code =
        sh_own[window.high >> shift];  // its lowest five bits are how many it has, and shifts are modulo 32
    window = {__funnelshift_l(window.middle, window.high, code),
              __funnelshift_l(window.low, window.middle, code), __funnelshift_l(0, window.low, code)};
    bits.skip(code % 32);
    return code >> kZstdSymbolAt;
  };
  std::uint32_t done = 0;
  // Up to where words of 16 bytes begin.
  for (; done < stream.literals && (reinterpret_cast<std::uintptr_t>(stream.d_output + done) & 15) != 0;
       ++done) {
    window = bits.window();
    stream.d_output[done] = static_cast<std::uint8_t>(take());
  }
  for (;;) {
    const bool goes_on = done + 16 <= stream.literals;
    if (!__any_sync(kAllLanes, goes_on)) break;
    bits.ask();
    __pipeline_commit();
    __pipeline_wait_prior(1);
    if (!goes_on) continue;
    std::uint32_t words[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      if (i % 2 == 0) window = bits.window();
      words[i] = take();
      words[i] |= take() << 8;
      words[i] |= take() << 16;
      words[i] |= take() << 24;
    }
    *reinterpret_cast<uint4*>(stream.d_output + done) = {words[0], words[1], words[2], words[3]};
    done += 16;
  }
  __pipeline_wait_prior(0);
  for (; done < stream.literals; ++done) {
    window = bits.window();
    stream.d_output[done] = static_cast<std::uint8_t>(take());
  }
  if (record != nullptr && (!is_sound || (has_stream && !bits.is_used_up()))) stages.leave(*record);
}

constexpr KernelBudget kLiteralsBudget("zstd_restore.literals", "decode_zstd_literals",
                                       {.threads = 32,
                                        .registers = 128,
                                        .shared_bytes = sizeof(Codes) * kBlocks + sizeof(ZstdRing) * 32});
const KernelRegistration kLiteralsRegistration(kLiteralsBudget, decode_zstd_literals);

}  // namespace

void launch_zstd_literals(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kLiteralsBudget, .grid = (stages.block_room + kBlocks - 1) / kBlocks, .stream = stream},
         decode_zstd_literals, batch, stages);
}

}  // namespace hemstitch::cuda
