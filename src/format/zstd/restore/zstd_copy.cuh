// How a warp writes a block's content from its literals and sequences, be it bytes (zstd_restore_copy.cu) or symbols
// (zstd_block_copy.cu, stream/zstd_frame_copy.cu).
//
// The literals and the match of up to 32 sequences, a group, are a row of runs. They are marked in a bitmap, and the runs that begin up to a place say which
// one has it: so lanes take neighbouring places, however short runs are.
#pragma once

#include "format/zstd/block/zstd_mark.hpp"
#include "format/zstd/restore/zstd_repeats.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/warp.cuh"

#if defined(__CUDACC__)
namespace hemstitch::cuda {

inline constexpr std::uint32_t kZstdCopyTile = 1024;  // elements that are described at once
inline constexpr std::uint32_t kZstdCopySteps = 4;    // of 32 elements, whose loads are in flight together
inline constexpr std::uint32_t kZstdFromLiterals = 0xFFFFFFFF;  // larger than any distance

// All elements of a run come from the same distance.
struct alignas(16) ZstdRun {
  const std::uint8_t*
      d_source;  // less the place in the block where the run begins; of a match, a target may do without
  std::uint32_t distance;  // of a match, or kZstdFromLiterals
};
// Of 32 elements: where runs begin, as bits; how many begin before, less 1.
struct ZstdRunBegins {
  std::uint32_t here, rank;
};
template <class Element>
struct ZstdCopyMemory {
  ZstdRun runs[64];
  ZstdRunBegins begins[kZstdCopyTile / 32];  // of a tile
  Element steps[kZstdCopySteps * 32];        // what those in flight bring
};

// Bytes, in their place. Nothing is written to nullptr.
struct ZstdByteTarget {
  using Element = std::uint8_t;
  std::uint8_t* d_block;

  __device__ bool writes() const { return d_block != nullptr; }
  __device__ ZstdRun match(std::uint32_t distance) const { return {d_block - distance, distance}; }
  // The element at this place of the block, whose run comes from before what is in flight.
  __device__ __forceinline__ std::uint32_t at(const ZstdRun& run, std::uint32_t place) const {
    return run.d_source[place];
  }
  __device__ void write(std::uint32_t place, std::uint32_t element) const {
    d_block[place] = static_cast<std::uint8_t>(element);
  }
};

// Symbols (zstd_mark.hpp). A match that begins in its block repeats symbols, be they bytes or marks; one that begins before makes marks.
struct ZstdSymbolTarget {
  using Element = std::uint32_t;
  std::uint32_t* d_block;
  std::uint32_t mark;  // that of the block's first place

  __device__ bool writes() const { return true; }
  __device__ ZstdRun match(std::uint32_t distance) const { return {nullptr, distance}; }
  __device__ __forceinline__ std::uint32_t at(const ZstdRun& run, std::uint32_t place) const {
    if (run.distance == kZstdFromLiterals) return run.d_source[place];
    return run.distance <= place ? d_block[place - run.distance] : mark + place - run.distance;
  }
  __device__ void write(std::uint32_t place, std::uint32_t element) const { d_block[place] = element; }
};

// 32 elements, of which some come from others of them: each lane finds the one that is no copy.
__device__ inline std::uint32_t resolved_in_step(std::uint32_t element, std::uint32_t distance,
                                                 unsigned lane) {
  std::uint32_t from = distance <= lane ? lane - distance : lane;
#pragma unroll
  for (unsigned i = 0; i < 5; ++i) from = __shfl_sync(kAllLanes, from, static_cast<int>(from));
  return __shfl_sync(kAllLanes, element, static_cast<int>(from));
}

// Writes so many elements from place `begin` of the block on, whose runs are described. What a match repeats was written before, by this warp, or
// is brought by a step that is in flight as well.
template <class Target>
__device__ __forceinline__ void copy_zstd_tile(ZstdCopyMemory<typename Target::Element>& sh, const Target& to,
                                               std::uint32_t begin, std::uint32_t elements, unsigned lane) {
  const std::uint32_t up_to_lane = 0xFFFFFFFFu >> (31 - lane);
  for (std::uint32_t step = 0; step * 32 < elements; step += kZstdCopySteps) {
    ZstdRun runs[kZstdCopySteps];
    std::uint32_t is_near = 0;
#pragma unroll
    for (unsigned k = 0; k < kZstdCopySteps; ++k) {
      const ZstdRunBegins begins = sh.begins[step + k];
      runs[k] = sh.runs[begins.rank + static_cast<std::uint32_t>(__popc(begins.here & up_to_lane))];
      is_near |= runs[k].distance <= k * 32 + lane ? 1 : 0;
    }
    const std::uint32_t in_tile = step * 32 + lane, at = begin + in_tile;
    std::uint32_t element[kZstdCopySteps];
#pragma unroll
    for (unsigned k = 0; k < kZstdCopySteps; ++k) {
      element[k] = 0;
      if (runs[k].distance > k * 32 + lane && in_tile + k * 32 < elements)
        element[k] = to.at(runs[k], at + k * 32);
    }
    if (!__any_sync(kAllLanes, is_near != 0)) {
#pragma unroll
      for (unsigned k = 0; k < kZstdCopySteps; ++k)
        if (in_tile + k * 32 < elements) to.write(at + k * 32, element[k]);
      __syncwarp();
      continue;
    }
    // The rest of the way is inside of these steps: through shared memory from the earlier ones, by shuffles inside of one.
#pragma unroll
    for (unsigned k = 0; k < kZstdCopySteps; ++k) {
      const std::uint32_t distance = runs[k].distance, place = k * 32 + lane;
      if (distance > lane && distance <= place) element[k] = sh.steps[place - distance];
      if (__any_sync(kAllLanes, distance <= lane)) element[k] = resolved_in_step(element[k], distance, lane);
      sh.steps[place] = static_cast<typename Target::Element>(element[k]);
      if (in_tile + k * 32 < elements) to.write(at + k * 32, element[k]);
      __syncwarp();
    }
  }
}

// Writes a block. `before`: how many bytes stand before it that matches may reach, as far as the window goes (3.1.1.1.2). False: one reaches farther;
// all lanes get the same answer.
template <class Target>
__device__ bool copy_zstd_block(ZstdCopyMemory<typename Target::Element>& sh, const ZstdStages& stages,
                                const ZstdBlockRecord& record, const Target& to, std::uint32_t before,
                                std::uint64_t window_bytes, unsigned lane) {
  const ZstdDeviceBlock& block = record.block;
  if (!block.is_compressed()) {
    if (to.writes())
      for (std::uint32_t i = lane; i < block.content_bytes; i += 32)
        to.write(i, block.d_data[block.type == ZstdBlockType::kRle ? 0 : i]);
    __syncwarp();
    return true;
  }
  const auto* const d_sequences =
      reinterpret_cast<const ZstdDeviceSequence*>(stages.unit(record.sequences_unit));
  const std::uint8_t* d_literals = block.literals_type == ZstdDeviceLiterals::kRaw
                                       ? block.d_data + block.literals_at
                                       : stages.unit(record.literals_unit);
  const ZstdDeviceRepeats repeats{record.repeats_before[0], record.repeats_before[1],
                                  record.repeats_before[2]};
  std::uint32_t written = 0;
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
    const std::uint32_t group_elements = __shfl_sync(kAllLanes, end, 31);
    const std::uint32_t reach = before + written + match_begin;
    const bool too_far = match != 0 && (distance == 0 || distance > reach || distance > window_bytes);
    if (__any_sync(kAllLanes, too_far)) return false;
    if (to.writes()) {
      const std::uint32_t with_literals = __ballot_sync(kAllLanes, literals != 0),
                          with_match = __ballot_sync(kAllLanes, match != 0);
      const std::uint32_t below = (1u << lane) - 1;
      const auto run = static_cast<std::uint32_t>(__popc(with_literals & below) + __popc(with_match & below));
      __syncwarp();
      if (literals != 0)
        sh.runs[run] = {d_literals + (literals_end - literals) - (written + begin), kZstdFromLiterals};
      if (match != 0) sh.runs[run + (literals != 0 ? 1 : 0)] = to.match(distance);
      std::uint32_t runs_before = 0;
      for (std::uint32_t tile = 0; tile < group_elements; tile += kZstdCopyTile) {
        sh.begins[lane].here = 0;
        __syncwarp();
        if (literals != 0 && begin - tile < kZstdCopyTile)
          atomicOr(&sh.begins[(begin - tile) / 32].here, 1u << ((begin - tile) % 32));
        if (match != 0 && match_begin - tile < kZstdCopyTile)
          atomicOr(&sh.begins[(match_begin - tile) / 32].here, 1u << ((match_begin - tile) % 32));
        __syncwarp();
        const auto here = static_cast<std::uint32_t>(__popc(sh.begins[lane].here));
        const std::uint32_t up_to_here = sum_up_to_lane(here, lane);
        sh.begins[lane].rank = runs_before + up_to_here - here - 1;
        runs_before += __shfl_sync(kAllLanes, up_to_here, 31);
        __syncwarp();
        copy_zstd_tile(sh, to, written + tile, min(group_elements - tile, kZstdCopyTile), lane);
      }
    }
    d_literals += __shfl_sync(kAllLanes, literals_end, 31);
    written += group_elements;
  }
  return true;
}

}  // namespace hemstitch::cuda
#endif
