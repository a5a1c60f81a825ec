// Thread mapping: a warp a part, whose lanes take 32 places at a time; a thread block a piece where near offsets are dropped. No shared memory but that of
// choose_widths, no synchronisation of thread blocks. Work: O(1) a place.
#include <algorithm>

#include "core/status.hpp"
#include "format/zstd/compress/zstd_cut_cuda.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/hash_chain/choose_widths.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kCutThreads = 128, kCutWarps = kCutThreads / 32;

// The places of a warp's part.
struct PartPlaces {
  std::uint32_t part;
  std::uint32_t first, end;
};

// False for warps behind the last part.
__device__ bool find_places(const DeviceBlocks& parts, const ZstdUnitPlaces& places, PartPlaces& of) {
  of.part = blockIdx.x * kCutWarps + threadIdx.x / 32;
  if (of.part >= parts.block_count) return false;
  of.first = places.first(parts.d_blocks[of.part].position, of.part);
  of.end = of.part + 1 < parts.block_count ? places.first(parts.d_blocks[of.part + 1].position, of.part + 1)
                                           : places.count;
  return true;
}

__global__ void __launch_bounds__(kCutThreads)
    cut_zstd_parts(const DeviceBlocks parts, const ZstdUnitPlaces places, std::uint32_t history_bytes,
                   DeviceBlock* __restrict__ d_units) {
  PartPlaces of;
  if (!find_places(parts, places, of)) return;
  const unsigned lane = threadIdx.x % 32;
  const DeviceBlock part = parts.d_blocks[of.part];
  // If the first part's position is not 0, there are places before its first one.
  if (of.part == 0)
    for (std::uint32_t place = lane; place < of.first; place += 32) d_units[place] = {part.d_block, 0, 0, 0};
  for (std::uint32_t place = of.first + lane; place < of.end; place += 32) {
    const auto begin = static_cast<std::uint32_t>(
        min(std::uint64_t{place - of.first} * places.unit_bytes, std::uint64_t{part.block_bytes}));
    const auto history = static_cast<std::uint32_t>(
        min(std::uint64_t{part.history_bytes} + begin, std::uint64_t{history_bytes}));
    d_units[place] = {part.d_block + begin, min(places.unit_bytes, part.block_bytes - begin), history,
                      part.position + begin};
  }
}

__global__ void __launch_bounds__(kCutThreads)
    drop_near_offsets(const DeviceBlock* __restrict__ d_pieces, const std::uint8_t* __restrict__ d_widths,
                      std::uint16_t* __restrict__ d_near_offsets) {
  if (d_widths[blockIdx.x] == kHashedBytes) return;
  const DeviceBlock piece = d_pieces[blockIdx.x];
  for (std::uint32_t i = threadIdx.x; i < piece.block_bytes; i += kCutThreads)
    d_near_offsets[piece.position + i] = 0;
}

__global__ void __launch_bounds__(kCutThreads)
    size_zstd_parts(const DeviceBlocks parts, const ZstdUnitPlaces places, const ZstdPlacing placing,
                    const DeviceSpan span) {
  PartPlaces of;
  if (!find_places(parts, places, of)) return;
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t bytes = 0;
  for (std::uint32_t first = of.first; first < of.end; first += 32) {
    const std::uint32_t place = first + lane;
    const std::uint32_t size = place < of.end ? placing.d_block_sizes[place] : 0;
    const std::uint32_t up_to = sum_up_to_lane(size, lane);
    if (place < of.end) placing.d_begins[place] = bytes + up_to - size;
    bytes += __shfl_sync(kAllLanes, up_to, 31);
  }
  if (lane != 0) return;
  span.d_sizes[of.part] = bytes;
  placing.d_rooms[of.part] = span.lead_bytes + bytes + span.trail_bytes;
}

__global__ void __launch_bounds__(kCutThreads)
    place_zstd_blocks(const DeviceBlocks parts, const ZstdUnitPlaces places, const ZstdPlacing placing,
                      const DeviceSpan span) {
  PartPlaces of;
  if (!find_places(parts, places, of)) return;
  const unsigned lane = threadIdx.x % 32;
  const bool fits = span.d_offsets[of.part + 1] <= span.capacity_bytes;
  std::byte* const output = span.d_span + span.d_offsets[of.part] + span.lead_bytes;
  if (of.part == 0)
    for (std::uint32_t place = lane; place < of.first; place += 32) placing.d_targets[place] = nullptr;
  for (std::uint32_t place = of.first + lane; place < of.end; place += 32)
    placing.d_targets[place] =
        fits && placing.d_block_sizes[place] != 0 ? output + placing.d_begins[place] : nullptr;
  if (lane == 0) span.d_statuses[of.part] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

constexpr KernelLimits kCutLimits{.threads = kCutThreads, .registers = 48};
constexpr KernelBudget kCutPartsBudget("zstd.cut_parts", "cut_zstd_parts", kCutLimits);
constexpr KernelBudget kDropNearBudget("zstd.drop_near", "drop_near_offsets", kCutLimits);
constexpr KernelBudget kSizePartsBudget("zstd.size_parts", "size_zstd_parts", kCutLimits);
constexpr KernelBudget kPlaceBlocksBudget("zstd.place_blocks", "place_zstd_blocks", kCutLimits);
const KernelRegistration kCutPartsRegistration(kCutPartsBudget, cut_zstd_parts);
const KernelRegistration kDropNearRegistration(kDropNearBudget, drop_near_offsets);
const KernelRegistration kSizePartsRegistration(kSizePartsBudget, size_zstd_parts);
const KernelRegistration kPlaceBlocksRegistration(kPlaceBlocksBudget, place_zstd_blocks);
const KernelRegistration kJudgeRegistration(kChooseWidthsBudget, choose_widths);

Launch a_warp_each(const KernelBudget& budget, const DeviceBlocks& parts, cudaStream_t stream) {
  return {.kernel = budget,
          .grid = (parts.block_count + kCutWarps - 1) / kCutWarps,
          .stream = stream,
          .work = work_of(parts)};
}

}  // namespace

ZstdUnitPlaces zstd_unit_places(const DeviceBlocks& parts, std::uint32_t unit_bytes) {
  constexpr std::uint64_t kMostPlaces = 1u << 25;
  const std::uint64_t per_part =
      std::max<std::uint64_t>((std::uint64_t{parts.max_block_bytes} + unit_bytes - 1) / unit_bytes, 1);
  const std::uint64_t equal = per_part * parts.block_count;
  const std::uint64_t by_position = parts.total_block_bytes / unit_bytes + parts.block_count;
  const std::uint64_t count = std::min(equal, by_position);
  if (count > kMostPlaces)
    throw Error(Status::kInvalidOption, "a batch of Zstandard has too much content; divide it");
  return {unit_bytes, static_cast<std::uint32_t>(count),
          equal == count ? static_cast<std::uint32_t>(per_part) : 0};
}

DeviceBlocks cut_zstd_units(const DeviceBlocks& parts, const ZstdUnitPlaces& places,
                            std::uint32_t history_bytes, const DeviceBlock* d_units) {
  const std::uint64_t before = std::uint64_t{parts.max_history_bytes} +
                               (parts.max_block_bytes > places.unit_bytes ? parts.max_block_bytes : 0);
  return {.d_blocks = d_units,
          .block_count = places.count,
          .max_block_bytes = std::min(parts.max_block_bytes, places.unit_bytes),
          .max_history_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(before, history_bytes)),
          .total_block_bytes = parts.total_block_bytes};
}

void cut_zstd_parts_cuda(const DeviceBlocks& parts, const ZstdUnitPlaces& places, std::uint32_t history_bytes,
                         DeviceBlock* d_units, cudaStream_t stream) {
  launch(a_warp_each(kCutPartsBudget, parts, stream), cut_zstd_parts, parts, places, history_bytes, d_units);
}

void drop_near_of_few_values_cuda(const DeviceBlocks& pieces, std::uint16_t* d_near_offsets,
                                  std::uint8_t* d_widths, cudaStream_t stream) {
  const auto each = [&](const KernelBudget& budget) {
    return Launch{.kernel = budget, .grid = pieces.block_count, .stream = stream, .work = work_of(pieces)};
  };
  launch(each(kChooseWidthsBudget), choose_widths, pieces, static_cast<std::uint32_t>(kHashedBytes),
         static_cast<std::uint32_t>(kMostHashedBytes), d_widths);
  launch(each(kDropNearBudget), drop_near_offsets, pieces.d_blocks, d_widths, d_near_offsets);
}

void size_zstd_parts_cuda(const DeviceBlocks& parts, const ZstdUnitPlaces& places, const ZstdPlacing& placing,
                          const DeviceSpan& span, cudaStream_t stream) {
  launch(a_warp_each(kSizePartsBudget, parts, stream), size_zstd_parts, parts, places, placing, span);
}

void place_zstd_blocks_cuda(const DeviceBlocks& parts, const ZstdUnitPlaces& places,
                            const ZstdPlacing& placing, const DeviceSpan& span, cudaStream_t stream) {
  launch(a_warp_each(kPlaceBlocksBudget, parts, stream), place_zstd_blocks, parts, places, placing, span);
}

}  // namespace hemstitch::cuda
