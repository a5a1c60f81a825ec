// Repeat offsets of Zstandard (RFC 8878, 3.1.1.5) on a device, where many sequences are looked at side by side.
//
// What a block does to the three last offsets is a map: each of the new ones is an offset, or one of the old ones by its name, perhaps
// less something ("repeat 1 minus 1"). Two maps in a row are one map again. So blocks do not wait for each other.
#pragma once

#include <cstdint>

#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

struct ZstdDeviceRepeats {
  std::uint32_t first, second, third;
};

__device__ inline ZstdDeviceRepeats zstd_same_repeats() {
  return {kZstdNamedOffset, kZstdNamedOffset | 1u << kZstdSlotAt, kZstdNamedOffset | 2u << kZstdSlotAt};
}

// An offset or a name, where the three before it are these. An offset that would be 0 or less is 0.
__device__ inline std::uint32_t resolved_zstd_offset(std::uint32_t offset, const ZstdDeviceRepeats& before) {
  if ((offset & kZstdNamedOffset) == 0) return offset;
  const std::uint32_t slot = offset >> kZstdSlotAt & 3, less = offset & kZstdDifferenceMask;
  const std::uint32_t of = slot == 0 ? before.first : slot == 1 ? before.second : before.third;
  if ((of & kZstdNamedOffset) != 0) return of + less;
  return of > less ? of - less : 0;
}
__device__ inline ZstdDeviceRepeats resolved_zstd_repeats(const ZstdDeviceRepeats& after,
                                                          const ZstdDeviceRepeats& before) {
  return {resolved_zstd_offset(after.first, before), resolved_zstd_offset(after.second, before),
          resolved_zstd_offset(after.third, before)};
}

// The lanes below one, as bits.
__device__ inline std::uint32_t lanes_below(unsigned lane) {
  return lane == 0 ? 0 : 0xFFFFFFFFu >> (32 - lane);
}

// The last offsets after the lanes `own`, in order, have each brought theirs.
__device__ inline ZstdDeviceRepeats after_own_offsets(std::uint32_t own, std::uint32_t distance,
                                                      const ZstdDeviceRepeats& before) {
  ZstdDeviceRepeats after = before;
  std::uint32_t last[3];
#pragma unroll
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned lane = 31 - static_cast<unsigned>(__clz(own));  // any, if there is none
    last[i] = __shfl_sync(kAllLanes, distance, static_cast<int>(lane % 32));
    if (own == 0) break;
    own &= lanes_below(lane);
    after = i == 0   ? ZstdDeviceRepeats{last[0], before.first, before.second}
            : i == 1 ? ZstdDeviceRepeats{last[0], last[1], before.first}
                     : ZstdDeviceRepeats{last[0], last[1], last[2]};
  }
  return after;
}

// The offsets, or their names, of a group of sequences, one a lane. `repeats` are the last offsets before the group, and then after
// it. Most sequences bring an offset of their own, or repeat the last one; the others are taken one after the other.
__device__ inline std::uint32_t resolved_zstd_group(bool has_one, std::uint32_t offset_value,
                                                    std::uint32_t literals, ZstdDeviceRepeats& repeats,
                                                    unsigned lane) {
  std::uint32_t distance = offset_value - kZstdRepeatCount;
  const bool is_repeat = has_one && offset_value <= kZstdRepeatCount;
  // Without literals, the offset that was used last is passed over.
  const std::uint32_t place = offset_value - 1 + (literals == 0 ? 1 : 0);
  const std::uint32_t own = __ballot_sync(kAllLanes, has_one && !is_repeat);
  unsigned since = 0;  // `repeats` are those before this lane
  unsigned since_for_lane = 0;
  std::uint32_t first_for_lane = repeats.first;
  for (std::uint32_t changes = __ballot_sync(kAllLanes, is_repeat && place != 0); changes != 0;
       changes &= changes - 1) {
    const auto at = static_cast<unsigned>(__ffs(static_cast<int>(changes)) - 1);
    const ZstdDeviceRepeats before =
        after_own_offsets(own & lanes_below(at) & ~lanes_below(since), distance, repeats);
    switch (__shfl_sync(kAllLanes, place, static_cast<int>(at))) {
      case 1:
        repeats = {before.second, before.first, before.third};
        break;
      case 2:
        repeats = {before.third, before.first, before.second};
        break;
      default:
        repeats = {resolved_zstd_offset(kZstdNamedOffset + 1, before), before.first, before.second};
    }
    since = at + 1;
    if (lane == at) distance = repeats.first;
    if (lane > at) {
      since_for_lane = since;
      first_for_lane = repeats.first;
    }
  }
  const std::uint32_t before_lane = own & lanes_below(lane) & ~lanes_below(since_for_lane);
  const std::uint32_t last = __shfl_sync(kAllLanes, distance, 31 - __clz(before_lane | 1));
  if (is_repeat && place == 0) distance = before_lane != 0 ? last : first_for_lane;
  repeats = after_own_offsets(own & ~lanes_below(since), distance, repeats);
  return distance;
}

}  // namespace hemstitch::cuda
