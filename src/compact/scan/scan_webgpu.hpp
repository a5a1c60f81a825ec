// scan through WebGPU; scan.hpp defines it.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// How many elements a workgroup scans.
inline constexpr std::uint32_t kScanTileElements = 1024;

// The sums of all levels, as buffers of a plan.
struct ScanBuffers {
  std::vector<BufferId> levels;
};
ScanBuffers plan_scan(BufferPlan& plan, std::uint64_t most_elements);

// begins[i] = sizes[0] + ... + sizes[i-1] for i in 0..count; the last one is the total, which must be below 4
// GiB. `begins` has count + 1 elements of 32 bits. It must not be `sizes`, nor the `sizes` of another step.
void record_scan(Recording& recording, BufferId sizes, BufferId begins, const ScanBuffers& buffers,
                 std::uint32_t count);

}  // namespace hemstitch::webgpu
