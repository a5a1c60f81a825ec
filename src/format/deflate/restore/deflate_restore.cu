#include "core/status.hpp"
#include "format/deflate/restore/deflate_emission.cuh"
#include "format/deflate/restore/deflate_restore_cuda.hpp"
#include "format/deflate/restore/deflate_sequential.cuh"
#include "format/deflate/restore/deflate_window.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

// Streams that are left to the second kernel, in any order.
struct LeftStreams {
  std::uint32_t* d_count;
  std::uint32_t* d_indices;
};

struct WarpMemory {
  DeflateTables tables;
  DeflateWindow window;
  DeflateStream stream;  // here, not in registers: there are none left
};

// How far a warp has come in a stream.
struct Progress {
  std::uint64_t bit, written;
};

__device__ inline void copy_stored(const std::uint8_t* d_from, std::uint32_t bytes, std::uint8_t* d_to,
                                   unsigned lane) {
  for (std::uint32_t i = lane; i < bytes; i += 32) d_to[i] = d_from[i];
  __syncwarp();
}

// Restores a stored block behind its first three bits.
__device__ inline bool restore_stored(const DeflateStream& stream, Progress& at, unsigned lane) {
  at.bit = (at.bit + 7) / 8 * 8;
  const std::uint32_t sizes = stream.bits(at.bit);
  const std::uint32_t bytes = sizes & 0xFFFF;
  at.bit += 32;
  if (bytes != (~sizes >> 16) || at.bit + 8 * std::uint64_t{bytes} > stream.end_bit ||
      bytes > stream.capacity - at.written)
    return false;
  if (stream.d_output != nullptr)
    copy_stored(stream.byte_at(at.bit), bytes, stream.d_output + at.written, lane);
  at.bit += 8 * std::uint64_t{bytes};
  at.written += bytes;
  return true;
}

// Writes the tokens that are listed; false where one reaches too far back, or does not fit.
__device__ inline bool restore_listed(const DeflateStream& stream, const WarpMemory& sh, unsigned count,
                                      std::uint64_t& written, unsigned lane) {
  for (unsigned first = 0; first < count; first += 32) {
    DeflateTokenBytes token;
    if (first + lane < count) token = read_token(sh.window, sh.tables, sh.window.tokens[first + lane]);
    const std::uint32_t up_to_lane = sum_up_to_lane(token.bytes, lane);
    const DeflatePlace place{up_to_lane - token.bytes, __shfl_sync(kAllLanes, up_to_lane, 31)};
    const bool too_far = (token.info & kDeflateMatch) != 0 &&
                         (token.info & ~kDeflateMatch) > written + place.begin + stream.history_bytes;
    if (__any_sync(kAllLanes, too_far) || place.total > stream.capacity - written) return false;
    if (stream.d_output != nullptr) write_tokens(token, place, stream.d_output + written, lane);
    written += place.total;
  }
  return true;
}

// Restores the tokens of a block whose tables are made.
__device__ inline bool restore_tokens(const DeflateStream& stream, WarpMemory& sh, Progress& at,
                                      unsigned lane) {
  while (at.bit < stream.end_bit) {
    const std::uint64_t first_word = at.bit / 32;
    load_window(stream, first_word, sh.window, lane);
    const unsigned exit = synchronise_window(sh.window, sh.tables, static_cast<unsigned>(at.bit % 32), lane);
    const DeflateListed listed = list_tokens(sh.window, exit, lane);
    const unsigned end = listed.exit & ~kDeflateStopped;
    std::uint32_t end_entry = 0;
    if (listed.exit != end)
      end_entry = deflate_entry_of<kLitlenTableBits>(sh.tables.litlen, sh.window.bits(end));
    const bool ends = (end_entry & deflate_entry::kKindMask) == deflate_entry::kEnd &&
                      (end_entry & deflate_entry::kBitsMask) != 0;
    if (listed.exit != end && !ends) return false;
    at.bit = 32 * first_word + end + (end_entry & deflate_entry::kBitsMask);
    if (at.bit > stream.end_bit || !restore_listed(stream, sh, listed.count, at.written, lane)) return false;
    __syncwarp();
    if (ends) return true;
  }
  return false;
}

__device__ inline bool restore_stream(const DeflateStream& stream, WarpMemory& sh, Progress& at,
                                      unsigned lane) {
  bool last = false;
  while (!last) {
    if (at.bit + 3 > stream.end_bit) return false;
    const std::uint32_t head = stream.bits(at.bit);
    at.bit += 3;
    last = (head & 1) != 0;
    bool done = false;
    switch (static_cast<DeflateBlockType>(head >> 1 & 3)) {
      case DeflateBlockType::kStored:
        done = restore_stored(stream, at, lane);
        break;
      case DeflateBlockType::kFixed:
        done =
            make_fixed_tables(sh.window.table_work, sh.tables, lane) && restore_tokens(stream, sh, at, lane);
        break;
      case DeflateBlockType::kDynamic:
        done = make_dynamic_tables(stream, at.bit, sh.window.table_work, sh.tables, lane) &&
               restore_tokens(stream, sh, at, lane);
        break;
      case DeflateBlockType::kReserved:
        break;
    }
    if (!done) return false;
    __syncwarp();
  }
  return (at.bit + 7) / 8 == stream.end_bit / 8;
}

// Restores sound streams.
//
// Mapping: a warp a stream. Shared memory: 7 KB a warp. Synchronisation inside of warps alone. Work: linear in
// bytes read and written, times 32 where codes do not put themselves right. CPU twin: deflate_restore_reference.
__global__ void __launch_bounds__(32 * kDeflateStreamsPerBlock, kDeflateResidency)
    restore_deflate_streams(const DeviceRestore batch, const LeftStreams left) {
  __shared__ WarpMemory sh_memory[kDeflateStreamsPerBlock];
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kDeflateStreamsPerBlock + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  if (index >= batch.count) return;
  WarpMemory& sh = sh_memory[threadIdx.x / 32];
  {
    DeflateStream stream;
    if (!open_deflate_stream(batch, index, stream, lane == 0)) return;
    if (lane == 0) sh.stream = stream;
  }
  __syncwarp();
  Progress at{sh.stream.begin_bit, 0};
  const bool done = restore_stream(sh.stream, sh, at, lane);
  if (lane != 0) return;
  if (done) {
    batch.d_output_bytes[index] = at.written;
    batch.d_statuses[index] = HEMSTITCH_OK;
  } else {
    left.d_indices[atomicAdd(left.d_count, 1u)] = static_cast<std::uint32_t>(index);
  }
}

// Restores the streams that are left, and says what is wrong with them.
//
// Mapping: a thread a stream, a stream a thread block, in turns. Shared memory: 2 KB. No synchronisation. Work: linear in bits read
// and bytes written. CPU twin: deflate_restore_reference.
__global__ void __launch_bounds__(32)
    restore_left_deflate_streams(const DeviceRestore batch, const LeftStreams left) {
  __shared__ SequentialMemory sh_memory;
  if (threadIdx.x != 0) return;
  for (std::uint32_t i = blockIdx.x; i < *left.d_count; i += gridDim.x) {
    const std::uint32_t index = left.d_indices[i];
    DeflateStream stream;
    if (!open_deflate_stream(batch, index, stream, true)) continue;
    SequentialDecoder decoder(stream, sh_memory);
    const DeflateVerdict verdict = decoder.restore();
    batch.d_output_bytes[index] = verdict == DeflateVerdict::kDone ? decoder.written() : 0;
    batch.d_statuses[index] = verdict == DeflateVerdict::kDone       ? HEMSTITCH_OK
                              : verdict == DeflateVerdict::kTooSmall ? HEMSTITCH_OUTPUT_TOO_SMALL
                                                                     : HEMSTITCH_CORRUPT_BLOCK;
  }
}

constexpr KernelBudget kStreamsBudget("deflate_restore.streams", "restore_deflate_streams",
                                      {.threads = 32 * kDeflateStreamsPerBlock,
                                       .registers = 64,
                                       .shared_bytes = sizeof(WarpMemory) * kDeflateStreamsPerBlock});
const KernelRegistration kStreamsRegistration(kStreamsBudget, restore_deflate_streams);

constexpr KernelBudget kLeftBudget("deflate_restore.left_streams", "restore_left_deflate_streams",
                                   {.threads = 32,
                                    .registers = 64,
                                    .shared_bytes = sizeof(SequentialMemory)});
const KernelRegistration kLeftRegistration(kLeftBudget, restore_left_deflate_streams);

constexpr std::uint64_t kMostStreams = (std::uint64_t{1} << 31) - 1;
// Blocks of the second kernel: it is seldom that one has work.
constexpr std::uint64_t kMostLeftBlocks = 4096;

LeftStreams take_left(Carver& carve, const DeviceRestore& batch) {
  std::uint32_t* const d_count = carve.take<std::uint32_t>(1);
  return {d_count, carve.take<std::uint32_t>(batch.count)};
}

}  // namespace

std::size_t restore_deflate_cuda_scratch_bytes(const DeviceRestore& batch) {
  if (batch.count > kMostStreams)
    throw Error(Status::kInvalidOption, "deflate_restore: 2^31 streams or more; split the batch");
  Carver carve(nullptr);
  take_left(carve, batch);
  return carve.bytes();
}

void restore_deflate_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  check_scratch("deflate_restore", restore_deflate_cuda_scratch_bytes(batch), d_scratch, scratch_bytes);
  if (batch.count == 0) return;
  Carver carve(d_scratch);
  const LeftStreams left = take_left(carve, batch);
  check(cudaMemsetAsync(left.d_count, 0, sizeof *left.d_count, stream), "deflate_restore");
  launch(
      {.kernel = kStreamsBudget,
       .grid = static_cast<unsigned>((batch.count + kDeflateStreamsPerBlock - 1) / kDeflateStreamsPerBlock),
       .stream = stream},
      restore_deflate_streams, batch, left);
  launch({.kernel = kLeftBudget,
          .grid = static_cast<unsigned>(batch.count < kMostLeftBlocks ? batch.count : kMostLeftBlocks),
          .stream = stream},
         restore_left_deflate_streams, batch, left);
}

}  // namespace hemstitch::cuda
