#include "core/status.hpp"
#include "format/deflate/restore/deflate_blocks.cuh"
#include "format/deflate/restore/deflate_emission.cuh"
#include "format/deflate/restore/deflate_sequential.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

struct WarpMemory {
  DeflateTables tables;
  DeflateWindow window;
  DeflateStream stream;  // in shared memory, since no registers are left
};

// A warp, as a team (deflate_blocks.cuh).
class WarpTeam {
 public:
  static constexpr unsigned kThreads = 32;

  __device__ WarpTeam(WarpMemory& memory, unsigned lane) : thread(lane), sh_(memory) {}

  const unsigned thread;

  __device__ void meet() const { __syncwarp(); }
  __device__ const DeflateTables& tables() const { return sh_.tables; }
  __device__ const DeflateWindow& window() const { return sh_.window; }

  __device__ bool make_tables(const DeflateStream& stream, DeflateBlockType type, std::uint64_t& bit) {
    return make_block_tables(stream, type, bit, sh_.window.table_work, sh_.tables, thread);
  }

  __device__ DeflateListed find_tokens(const DeflateStream& stream, std::uint64_t bit) {
    load_window<kThreads>(stream, bit / 32, sh_.window, thread);
    __syncwarp();
    const auto first_bit = static_cast<unsigned>(bit % 32);
    DeflateSegment segment =
        open_segment(sh_.window, sh_.tables, thread, first_bit, stream.end_bit - bit / 32 * 32);
    settle_segments(sh_.window, sh_.tables, first_bit, segment, kDeflatePlainRounds, kDeflateMostRounds,
                    thread);
    return list_tokens(sh_.window, segment, thread);
  }

  // False if a token reaches too far back or does not fit.
  __device__ bool restore_listed(const DeflateStream& stream, unsigned count, std::uint64_t& written) {
    for (unsigned first = 0; first < count; first += 32) {
      DeflateTokenBytes token;
      if (first + thread < count)
        token = read_token(sh_.window, sh_.tables, sh_.window.tokens[first + thread]);
      const std::uint32_t up_to_lane = sum_up_to_lane(token.bytes, thread);
      const DeflatePlace place{up_to_lane - token.bytes, __shfl_sync(kAllLanes, up_to_lane, 31)};
      const bool too_far = (token.info & kDeflateMatch) != 0 &&
                           (token.info & ~kDeflateMatch) > written + place.begin + stream.history_bytes;
      if (__any_sync(kAllLanes, too_far) || place.total > stream.capacity - written) return false;
      if (stream.d_output != nullptr)
        write_tokens(token, place, DeflateByteOutput{stream.d_output + written}, thread);
      written += place.total;
    }
    __syncwarp();
    return true;
  }

 private:
  WarpMemory& sh_;
};

// Restores sound streams.
//
// Mapping: a warp a stream. Shared memory: 7 KB a warp. Synchronisation inside of warps alone. Work: linear in bytes read and
// written; 32 times as much where codes do not synchronise and guesses fail. CPU twin: deflate_restore_reference.
__global__ void __launch_bounds__(32 * kDeflateStreamsPerBlock, kDeflateResidency)
    restore_deflate_streams(const DeviceRestore batch, const LeftDeflateStreams left,
                            const LongDeflateStreams apart) {
  __shared__ WarpMemory sh_memory[kDeflateStreamsPerBlock];
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kDeflateStreamsPerBlock + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  if (index >= batch.count) return;
  bool is_apart = false;
  if (lane == 0) is_apart = set_apart(batch, apart, index);
  if (__any_sync(kAllLanes, is_apart)) return;
  WarpMemory& sh = sh_memory[threadIdx.x / 32];
  {
    DeflateStream stream;
    if (!open_deflate_stream(batch, index, stream, lane == 0)) return;
    if (lane == 0) sh.stream = stream;
  }
  __syncwarp();
  DeflateProgress at{sh.stream.begin_bit, 0};
  WarpTeam team(sh, lane);
  const bool done = restore_blocks(sh.stream, team, at);
  if (lane == 0) close_deflate_stream(batch, left, index, done, at.written);
}

// Restores the streams that are left, and finds what is wrong with them.
//
// Mapping: a thread a stream, a stream a thread block, in turns. Shared memory: 2 KB. No synchronisation. Work: linear in bits read
// and bytes written. CPU twin: deflate_restore_reference.
__global__ void __launch_bounds__(32)
    restore_left_deflate_streams(const DeviceRestore batch, const LeftDeflateStreams left) {
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
// Thread blocks of the second kernel, which seldom has work.
constexpr std::uint64_t kMostLeftBlocks = 4096;

struct Scratch {
  std::uint32_t* d_counts;  // two, side by side
  LeftDeflateStreams left;
  LongDeflateStreams apart;

  Scratch(Carver& carve, const DeviceRestore& batch)
      : d_counts(carve.take<std::uint32_t>(2)),
        left{d_counts, carve.take<std::uint32_t>(batch.count)},
        apart{d_counts == nullptr ? nullptr : d_counts + 1,  // a carver that only counts returns nullptr
              carve.take<std::uint32_t>(kDeflateMostLongStreams)} {}
};

std::uint64_t resident_warps() {
  int device = 0, multiprocessors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return kDeflateFewStreams;
  return std::uint64_t{kDeflateStreamsPerBlock} * kDeflateResidency *
         static_cast<std::uint64_t>(multiprocessors);
}

}  // namespace

std::size_t restore_deflate_cuda_scratch_bytes(const DeviceRestore& batch) {
  if (batch.count > kMostStreams)
    throw Error(Status::kInvalidOption, "deflate_restore: 2^31 streams or more; split the batch");
  Carver carve(nullptr);
  Scratch(carve, batch);
  return carve.bytes();
}

DeflateWay deflate_way(const DeviceRestore& batch) {
  const std::uint64_t rounds =
      batch.max_block_bytes < kDeflateShortBytes ? kDeflateManyShortRounds : kDeflateManyRounds;
  if (batch.count >= rounds * resident_warps() || batch.max_block_bytes < kDeflateGroupLeastBytes ||
      !few_deflate_streams_fit(DeflateWay::kFew))
    return DeflateWay::kMany;
  return batch.count < kDeflateFewStreams && few_deflate_streams_fit(DeflateWay::kFewest)
             ? DeflateWay::kFewest
             : DeflateWay::kFew;
}

void restore_deflate_cuda(DeflateWay way, const DeviceRestore& batch, void* d_scratch,
                          std::size_t scratch_bytes, cudaStream_t stream) {
  check_scratch("deflate_restore", restore_deflate_cuda_scratch_bytes(batch), d_scratch, scratch_bytes);
  if (batch.count == 0) return;
  Carver carve(d_scratch);
  Scratch scratch(carve, batch);
  check(cudaMemsetAsync(scratch.d_counts, 0, 2 * sizeof *scratch.d_counts, stream), "deflate_restore");
  const bool sets_apart =
      batch.max_block_bytes >= kDeflateLongStreamBytes && few_deflate_streams_fit(DeflateWay::kFewest);
  if (!sets_apart) scratch.apart.d_indices = nullptr;
  if (way == DeflateWay::kMany)
    launch(
        {.kernel = kStreamsBudget,
         .grid = static_cast<unsigned>((batch.count + kDeflateStreamsPerBlock - 1) / kDeflateStreamsPerBlock),
         .stream = stream},
        restore_deflate_streams, batch, scratch.left, scratch.apart);
  else
    launch_few_deflate_streams(way, batch, scratch.left,
                               way == DeflateWay::kFewest ? LongDeflateStreams{} : scratch.apart, stream);
  if (sets_apart) launch_long_deflate_streams(batch, scratch.left, scratch.apart, stream);
  launch({.kernel = kLeftBudget,
          .grid = static_cast<unsigned>(batch.count < kMostLeftBlocks ? batch.count : kMostLeftBlocks),
          .stream = stream},
         restore_left_deflate_streams, batch, scratch.left);
}

void restore_deflate_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  restore_deflate_cuda(deflate_way(batch), batch, d_scratch, scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
