// Numbers of coop_stitch's kernels. None of them changes a result.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Slots of the filter that keeps phase B from trying an offset once for each of the lists it stands in: 1 KB of shared
// memory. A group's lists hold 64 * top_k offsets, on text mostly the same few.
inline constexpr std::uint32_t kOffsetFilterBits = 8;

// Workgroups of 64 threads that a multiprocessor must be able to hold, so at most 64 registers a thread. Fewer registers
// spill; the kernels take about 48 by themselves, which lets an H200 hold 20.
inline constexpr int kCoopGroupsAMultiprocessor = 16;

}  // namespace hemstitch::cuda
