// The bytes of each block, at their place. All sizes are known, so every part goes straight to where it belongs. CPU twin: put_zstd_block() of zstd_block_writer.hpp.
//
// Mapping. A thread block of four warps a block. One thread writes what headers have; all copy descriptions, the sequences' bits, and content or literals that stay as they
// are. A warp codes each of the four streams of literals, in tiles of 8 literals a lane, from the last one back: a prefix sum of their bits says where each
// lane's begin; it adds them to words of the tile, whose full ones are words of the output. The first and the last word of a stream may hold bytes of others, so they are
// stored byte by byte.
//
// Shared memory: 2 KB. Synchronisation: one barrier, then within warps. Work: O(1) a literal, and a byte.
#include "compact/pieces/piece_words.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/compress/entropy/zstd_huffman.hpp"
#include "format/zstd/compress/entropy/zstd_literals_writer.hpp"
#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "format/zstd/restore/zstd_device_frame.cuh"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 128, kWarps = kThreads / 32;
constexpr std::uint32_t kLaneLiterals = 8, kTileLiterals = 32 * kLaneLiterals;
// What is left of the tile before, a tile, and a word more, to which only zeros are added.
constexpr std::uint32_t kTileWords = 1 + kTileLiterals * kZstdMostLiteralBits / 32 + 1;

struct PackShared {
  std::uint16_t codes[kZstdLiteralValues];
  std::uint32_t words[kWarps][kTileWords];
};

// By all threads.
__device__ void copy_bytes(const void* from, std::uint8_t* to, std::uint32_t bytes) {
  if (bytes == 0) return;
  const PiecePart part{static_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to), 0, bytes};
  const PiecePlan plan = plan_piece(part, 0);
  const std::uint32_t words = word_count(part);
  for (std::uint32_t word = threadIdx.x; word < words; word += kThreads) {
    const SourceEnds ends = source_ends(plan, word);
    auto* const target = reinterpret_cast<std::byte*>(plan.target + std::uintptr_t{word} * kPieceWordBytes);
    if (is_inner_word(ends))
      store_target(target, load_inner_word(plan, word));
    else
      store_word(target, load_word(plan, ends, word, word == 0));
  }
}

// By one thread. Returns where it ends.
__device__ __forceinline__ std::uint8_t* put_bytes(std::uint8_t* to, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) *to++ = static_cast<std::uint8_t>(value >> (8 * i));
  return to;
}

// By one thread.
__device__ void put_literals_header(std::uint8_t* to, const ZstdBlockTables& tables, std::uint32_t count) {
  const std::uint32_t type = tables.literals_type, bytes = tables.literal_header_bytes;
  if (type != static_cast<std::uint32_t>(ZstdDeviceLiterals::kCompressed)) {
    const std::uint32_t value = bytes == 1   ? count << 3
                                : bytes == 2 ? 1 << 2 | count << 4
                                             : 3 << 2 | count << 4;
    put_bytes(to, type | value, bytes);
    return;
  }
  const std::uint32_t format = count < kZstdLeastFourStreams ? 0 : bytes - 2, width = 4 * bytes - 2;
  put_bytes(to,
            type | format << 2 | std::uint64_t{count} << 4 |
                std::uint64_t{tables.literal_data_bytes} << (4 + width),
            bytes);
}

// Stores the bytes of a word whose bytes begin .. end - 1 belong to the stream. By one lane.
__device__ __forceinline__ void store_bytes(std::uint8_t* to, std::uint32_t word, std::uint32_t begin,
                                            std::uint32_t end) {
  for (std::uint32_t i = begin; i < end; ++i) to[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

// Codes the literals from `begin` to `end`, the last one first, by a warp. `literals` is a multiple of 16, and what is behind `end` up to such a one can be read.
__device__ void pack_stream(const PackShared& sh, std::uint32_t* words, const std::uint8_t* literals,
                            std::uint32_t begin, std::uint32_t end, std::uint8_t* target, unsigned lane) {
  for (std::uint32_t i = lane; i < kTileWords; i += 32) words[i] = 0;
  __syncwarp();
  std::uint32_t skip = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(target) % 4);
  std::uint8_t* to = target - skip;  // of the tile's first word, `skip` bytes of which are before the stream
  std::uint32_t fill = 8 * skip;     // bits of the tile, with those
  const std::uint32_t first_group = begin / kLaneLiterals;
  for (std::uint32_t groups_end = (end + kLaneLiterals - 1) / kLaneLiterals;;) {
    const std::uint32_t groups = min(groups_end - first_group, 32u);
    std::uint32_t codes[kLaneLiterals], bits = 0;
    uint2 own{0, 0};
    const std::uint32_t at = (groups_end - 1 - lane) * kLaneLiterals;
    if (lane < groups) own = *reinterpret_cast<const uint2*>(literals + at);
#pragma unroll
    for (unsigned i = 0; i < kLaneLiterals; ++i) {
      // From the last one on.
      const unsigned place = kLaneLiterals - 1 - i;
      const std::uint32_t literal = (place < 4 ? own.x : own.y) >> (8 * (place % 4)) & 0xFF;
      const bool is_own = lane < groups && at + place >= begin && at + place < end;
      codes[i] = is_own ? sh.codes[literal] : 0;
      bits += codes[i] >> 12;
    }
    const std::uint32_t up_to_lane = sum_up_to_lane(bits, lane);
    const std::uint32_t begin_bit = fill + up_to_lane - bits;
    std::uint32_t word = begin_bit / 32, held_bits = begin_bit % 32, held = 0;
#pragma unroll
    for (unsigned i = 0; i < kLaneLiterals; ++i) {
      const std::uint32_t code = codes[i] & 0xFFF, code_bits = codes[i] >> 12;
      held |= code << held_bits;
      held_bits += code_bits;
      if (held_bits >= 32) {
        atomicOr(&words[word++], held);
        held_bits -= 32;
        held = code >> (code_bits - held_bits);
      }
    }
    if (held != 0) atomicOr(&words[word], held);
    fill += __shfl_sync(kAllLanes, up_to_lane, 31);
    groups_end -= groups;
    const bool is_last = groups_end == first_group;
    if (is_last) {
      if (lane == 0) atomicOr(&words[fill / 32], 1u << fill % 32);  // the bit that marks the end
      ++fill;
    }
    __syncwarp();
    const std::uint32_t full = fill / 32, rest = words[full];
    for (std::uint32_t i = lane; i < full; i += 32) {
      if (i == 0 && skip != 0)
        store_bytes(to, words[0], skip, 4);
      else
        reinterpret_cast<std::uint32_t*>(to)[i] = words[i];
    }
    if (full != 0) skip = 0;
    to += 4 * full;
    fill %= 32;
    if (is_last) {
      if (lane == 0) store_bytes(to, rest, skip, (fill + 7) / 8);
      return;
    }
    __syncwarp();
    for (std::uint32_t i = lane; i <= full; i += 32) words[i] = i == 0 ? rest : 0;
    __syncwarp();
  }
}

__global__ void __launch_bounds__(kThreads)
    pack_zstd_blocks(const DeviceBlocks blocks, const ZstdEncodeRoom room, std::byte* const* d_targets) {
  __shared__ PackShared sh;
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  auto* const target = reinterpret_cast<std::uint8_t*>(d_targets[blockIdx.x]);
  if (block.block_bytes == 0 || target == nullptr) return;  // the whole thread block, as below
  const ZstdBlockTables& tables = room.d_tables[blockIdx.x];
  const std::uint32_t literal_count = room.d_counts[blockIdx.x].literal_count,
                      sequence_count = room.d_counts[blockIdx.x].sequence_count;
  std::uint8_t* at = target + kZstdBlockHeaderBytes;
  const auto put_header = [&](ZstdBlockType type, std::uint32_t size) {
    if (thread == 0)
      put_bytes(target, size << 3 | static_cast<std::uint32_t>(type) << 1, kZstdBlockHeaderBytes);
  };
  if (tables.is_raw != 0) {
    put_header(ZstdBlockType::kRaw, block.block_bytes);
    copy_bytes(block.d_block, at, block.block_bytes);
    return;
  }

  const std::uint8_t* const literals = room.d_literals + zstd_literals_at(block.position, blockIdx.x);
  if (thread == 0) put_literals_header(at, tables, literal_count);
  at += tables.literal_header_bytes;
  if (tables.literals_type == static_cast<std::uint32_t>(ZstdDeviceLiterals::kCompressed)) {
    for (unsigned i = thread; i < kZstdLiteralValues; i += kThreads) sh.codes[i] = tables.literal_codes[i];
    __syncthreads();
    for (unsigned i = thread; i < tables.weights_bytes; i += kThreads) at[i] = tables.weights[i];
    std::uint8_t* stream = at + tables.weights_bytes;
    const bool has_four = literal_count >= kZstdLeastFourStreams;
    if (has_four) {
      if (thread < 3) put_bytes(stream + 2 * thread, tables.stream_bytes[thread], 2);
      stream += 6;
    }
    if (has_four || warp == 0) {
      for (unsigned i = 0; i < warp; ++i) stream += tables.stream_bytes[i];
      const std::uint32_t each = has_four ? (literal_count + 3) / 4 : literal_count;
      pack_stream(sh, sh.words[warp], literals, warp * each, min((warp + 1) * each, literal_count), stream,
                  lane);
    }
  } else {
    copy_bytes(literals, at, tables.literal_data_bytes);
  }
  at += tables.literal_data_bytes;

  const std::uint32_t count_bytes = zstd_count_bytes(sequence_count);
  if (thread == 0) {
    const std::uint32_t count = count_bytes == 1 ? sequence_count
                                : count_bytes == 2
                                    ? ((sequence_count >> 8) + 128) | (sequence_count & 255) << 8
                                    : 255 | (sequence_count - 0x7F00) << 8;
    put_bytes(at, count, count_bytes);
    if (sequence_count != 0)
      at[count_bytes] =
          static_cast<std::uint8_t>(tables.modes[0] << 6 | tables.modes[1] << 4 | tables.modes[2] << 2);
  }
  at += count_bytes;
  if (sequence_count != 0) {
    ++at;
    for (unsigned kind = 0; kind < 3; ++kind) {
      const std::uint32_t bytes = tables.description_bytes[kind];
      for (unsigned i = thread; i < bytes; i += kThreads) at[i] = tables.descriptions[kind][i];
      at += bytes;
    }
    copy_bytes(room.d_bits + zstd_bits_at(block.position, blockIdx.x), at, tables.bits_bytes);
    at += tables.bits_bytes;
  }
  put_header(ZstdBlockType::kCompressed, static_cast<std::uint32_t>(at - target - kZstdBlockHeaderBytes));
}

constexpr KernelBudget kPackBudget("zstd_compress.pack", "pack_zstd_blocks",
                                   {.threads = kThreads,
                                    .registers = 64,
                                    .shared_bytes = sizeof(PackShared)});
const KernelRegistration kPackRegistration(kPackBudget, pack_zstd_blocks);

}  // namespace

void pack_zstd_blocks_cuda(const DeviceBlocks& blocks, const ZstdEncodeRoom& room,
                           std::byte* const* d_targets, cudaStream_t stream) {
  launch({.kernel = kPackBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)},
         pack_zstd_blocks, blocks, room, d_targets);
}

}  // namespace hemstitch::cuda
