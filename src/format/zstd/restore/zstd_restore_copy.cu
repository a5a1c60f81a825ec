// Finds where blocks begin and copies their content, as the last stages of restoring (zstd_restore_cuda.hpp).
#include "format/zstd/restore/zstd_repeats.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kPlaceThreads = 128;
constexpr unsigned kWarps = 4;
constexpr std::uint32_t kTileBytes = 1024;  // what is described at once
constexpr std::uint32_t kSteps = 4;         // of 32 bytes, whose loads are in flight together

// Mapping: a thread a chunk. No shared memory, no synchronisation. Work: linear in blocks.
__global__ void __launch_bounds__(kPlaceThreads)
    place_zstd_blocks(const DeviceRestore batch, const ZstdStages stages) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kPlaceThreads + threadIdx.x;
  if (index >= batch.count) return;
  ZstdChunkRecord& chunk = stages.d_chunks[index];
  if (chunk.is_left != 0) return;
  ZstdDeviceRepeats repeats{1, 4, 8};
  std::uint64_t begin = 0;
  for (std::uint32_t i = 0; i < chunk.block_count; ++i) {
    ZstdBlockRecord& record = stages.d_blocks[chunk.first_block + i];
    record.begin = begin;
    record.repeats_before[0] = repeats.first;
    record.repeats_before[1] = repeats.second;
    record.repeats_before[2] = repeats.third;
    const std::uint32_t bytes = record.block.content_bytes;
    if (bytes > kZstdMostBlockBytes || bytes > chunk.window_bytes) chunk.is_left = 1;
    begin += bytes;
    repeats = resolved_zstd_repeats({record.repeats[0], record.repeats[1], record.repeats[2]}, repeats);
  }
  if (begin > batch.d_capacities[index] || (chunk.has_size && begin != chunk.stated_bytes)) chunk.is_left = 1;
  chunk.content_bytes = begin;
}

// A group of up to 32 sequences, each some literals and a match, is a row of runs. All bytes of a run come from the same distance.
struct alignas(16) Run {
  const std::uint8_t* d_source;  // less the place in the group where the run begins
  std::uint32_t distance;        // of a match; that of literals is larger than any
};
// Of 32 bytes: where runs begin, as bits; how many begin before, less 1.
struct Begins {
  std::uint32_t here, rank;
};
struct CopyMemory {
  Run runs[64];
  Begins begins[kTileBytes / 32];   // of a tile
  std::uint8_t steps[kSteps * 32];  // what those in flight bring
};

// The run of byte `lane` of so many steps behind the tile's first byte. A byte's run is the last one that begins at it or before.
__device__ __forceinline__ Run run_at(const CopyMemory& sh, std::uint32_t step, std::uint32_t up_to_lane) {
  const Begins begins = sh.begins[step];
  return sh.runs[begins.rank + static_cast<std::uint32_t>(__popc(begins.here & up_to_lane))];
}

// 32 bytes, of which some come from others of them: each lane finds the one that is no copy.
__device__ std::uint32_t resolved_in_step(std::uint32_t byte, std::uint32_t distance, unsigned lane) {
  std::uint32_t from = distance <= lane ? lane - distance : lane;
#pragma unroll
  for (unsigned i = 0; i < 5; ++i) from = __shfl_sync(kAllLanes, from, static_cast<int>(from));
  return __shfl_sync(kAllLanes, byte, static_cast<int>(from));
}

// Writes `bytes` bytes at `d_to`, which the runs of a group describe from place `first` of the group on. What a match copies was
// written before, by this warp, or is brought by a step that is in flight as well.
__device__ __forceinline__ void copy_tile(CopyMemory& sh, std::uint8_t* d_to, std::uint32_t first,
                                          std::uint32_t bytes, unsigned lane) {
  const std::uint32_t up_to_lane = 0xFFFFFFFFu >> (31 - lane);
  for (std::uint32_t step = 0; step * 32 < bytes; step += kSteps) {
    Run runs[kSteps];
    std::uint32_t is_near = 0;
#pragma unroll
    for (unsigned k = 0; k < kSteps; ++k) {
      runs[k] = run_at(sh, step + k, up_to_lane);
      is_near |= runs[k].distance <= k * 32 + lane ? 1 : 0;
    }
    const std::uint32_t at = step * 32 + lane;
    if (!__any_sync(kAllLanes, is_near != 0)) {
      std::uint32_t byte[kSteps];
#pragma unroll
      for (unsigned k = 0; k < kSteps; ++k)
        if (at + k * 32 < bytes) byte[k] = runs[k].d_source[first + at + k * 32];
#pragma unroll
      for (unsigned k = 0; k < kSteps; ++k)
        if (at + k * 32 < bytes) d_to[at + k * 32] = static_cast<std::uint8_t>(byte[k]);
      __syncwarp();
      continue;
    }
    // The rest of the way is inside of these steps: through shared memory from the earlier ones, by shuffles inside of one.
    std::uint32_t byte[kSteps];
#pragma unroll
    for (unsigned k = 0; k < kSteps; ++k) {
      byte[k] = 0;
      if (runs[k].distance > k * 32 + lane && at + k * 32 < bytes)
        byte[k] = runs[k].d_source[first + at + k * 32];
    }
#pragma unroll
    for (unsigned k = 0; k < kSteps; ++k) {
      const std::uint32_t distance = runs[k].distance, place = k * 32 + lane;
      if (distance > lane && distance <= place) byte[k] = sh.steps[place - distance];
      if (__any_sync(kAllLanes, distance <= lane)) byte[k] = resolved_in_step(byte[k], distance, lane);
      sh.steps[place] = static_cast<std::uint8_t>(byte[k]);
      if (at + k * 32 < bytes) d_to[at + k * 32] = static_cast<std::uint8_t>(byte[k]);
      __syncwarp();
    }
  }
}

// Mapping: a warp a chunk. Shared memory: 1.3 KB a warp. Synchronisation inside of warps alone. Work: linear in content. CPU twin:
// ZstdReferenceDecoder.
__global__ void __launch_bounds__(32 * kWarps, 8)
    copy_zstd_content(const DeviceRestore batch, const ZstdStages stages) {
  __shared__ CopyMemory sh_memory[kWarps];
  CopyMemory& sh = sh_memory[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (index >= batch.count) return;
  ZstdChunkRecord& chunk = stages.d_chunks[index];
  if (chunk.is_left != 0) return;
  if (lane == 0) trace_mark(kTraceRestoreZstdChunk, static_cast<std::uint32_t>(index));
  const bool writes = batch.d_outputs != nullptr;
  std::uint8_t* const d_output = writes ? reinterpret_cast<std::uint8_t*>(batch.d_outputs[index]) : nullptr;
  for (std::uint32_t number = 0; number < chunk.block_count; ++number) {
    const ZstdBlockRecord& record = stages.d_blocks[chunk.first_block + number];
    const ZstdDeviceBlock& block = record.block;
    auto written = static_cast<std::uint32_t>(record.begin);
    if (!block.is_compressed()) {
      if (writes)
        for (std::uint32_t i = lane; i < block.content_bytes; i += 32)
          d_output[written + i] = block.d_data[block.type == ZstdBlockType::kRle ? 0 : i];
      __syncwarp();
      continue;
    }
    const auto* const d_sequences =
        reinterpret_cast<const ZstdDeviceSequence*>(stages.unit(record.sequences_unit));
    const std::uint8_t* d_literals = block.literals_type == ZstdDeviceLiterals::kRaw
                                         ? block.d_data + block.literals_at
                                         : stages.unit(record.literals_unit);
    const ZstdDeviceRepeats repeats{record.repeats_before[0], record.repeats_before[1],
                                    record.repeats_before[2]};
    // The literals behind the last sequence are one more, without a match.
    for (std::uint32_t first = 0; first <= block.sequences; first += 32) {
      std::uint32_t literals = 0, match = 0, distance = 1;
      if (first + lane < block.sequences) {
        const ZstdDeviceSequence sequence = d_sequences[first + lane];
        distance = resolved_zstd_offset(static_cast<std::uint32_t>(sequence) & kZstdOffsetMask, repeats);
        literals = static_cast<std::uint32_t>(sequence >> kZstdLiteralsAt) & kZstdLengthMask;
        match = static_cast<std::uint32_t>(sequence >> kZstdMatchAt);
      } else if (first + lane == block.sequences) {
        literals = block.literals - record.used_literals;
      }
      const std::uint32_t end = sum_up_to_lane(literals + match, lane),
                          literals_end = sum_up_to_lane(literals, lane);
      const std::uint32_t begin = end - literals - match, match_begin = begin + literals;
      const std::uint32_t group_bytes = __shfl_sync(kAllLanes, end, 31);
      // 3.1.1.1.2: as far back as the window reaches, and the content.
      const std::uint32_t reach = written + match_begin;
      const bool too_far = match != 0 && (distance == 0 || distance > reach || distance > chunk.window_bytes);
      if (__any_sync(kAllLanes, too_far)) {
        if (lane == 0) chunk.is_left = 1;
        return;
      }
      if (writes) {
        const std::uint32_t with_literals = __ballot_sync(kAllLanes, literals != 0),
                            with_match = __ballot_sync(kAllLanes, match != 0);
        const std::uint32_t below = (1u << lane) - 1;
        const auto run =
            static_cast<std::uint32_t>(__popc(with_literals & below) + __popc(with_match & below));
        __syncwarp();
        if (literals != 0) sh.runs[run] = {d_literals + (literals_end - literals) - begin, 0xFFFFFFFF};
        if (match != 0) sh.runs[run + (literals != 0 ? 1 : 0)] = {d_output + written - distance, distance};
        std::uint32_t runs_before = 0;
        for (std::uint32_t tile = 0; tile < group_bytes; tile += kTileBytes) {
          sh.begins[lane].here = 0;
          __syncwarp();
          if (literals != 0 && begin - tile < kTileBytes)
            atomicOr(&sh.begins[(begin - tile) / 32].here, 1u << ((begin - tile) % 32));
          if (match != 0 && match_begin - tile < kTileBytes)
            atomicOr(&sh.begins[(match_begin - tile) / 32].here, 1u << ((match_begin - tile) % 32));
          __syncwarp();
          const auto here = static_cast<std::uint32_t>(__popc(sh.begins[lane].here));
          const std::uint32_t up_to_here = sum_up_to_lane(here, lane);
          sh.begins[lane].rank = runs_before + up_to_here - here - 1;
          runs_before += __shfl_sync(kAllLanes, up_to_here, 31);
          __syncwarp();
          copy_tile(sh, d_output + written + tile, tile, min(group_bytes - tile, kTileBytes), lane);
        }
      }
      d_literals += __shfl_sync(kAllLanes, literals_end, 31);
      written += group_bytes;
    }
  }
}

constexpr KernelBudget kPlacesBudget("zstd_restore.places", "place_zstd_blocks",
                                     {.threads = kPlaceThreads, .registers = 48});
const KernelRegistration kPlacesRegistration(kPlacesBudget, place_zstd_blocks);
constexpr KernelBudget kCopyBudget("zstd_restore.copy", "copy_zstd_content",
                                   {.threads = 32 * kWarps,
                                    .registers = 64,
                                    .shared_bytes = sizeof(CopyMemory) * kWarps});
const KernelRegistration kCopyRegistration(kCopyBudget, copy_zstd_content);

}  // namespace

void launch_zstd_places(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kPlacesBudget,
          .grid = static_cast<unsigned>((batch.count + kPlaceThreads - 1) / kPlaceThreads),
          .stream = stream},
         place_zstd_blocks, batch, stages);
}

void launch_zstd_copy(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kCopyBudget,
          .grid = static_cast<unsigned>((batch.count + kWarps - 1) / kWarps),
          .stream = stream},
         copy_zstd_content, batch, stages);
}

}  // namespace hemstitch::cuda
