// scan through WebGPU; the definition stands in scan.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// Elements that one workgroup scans.
inline constexpr std::uint32_t kScanTileElements = 1024;

// The sums of all levels, as parts of a plan.
struct ScanBuffers {
  std::vector<BufferId> levels;
};
ScanBuffers plan_scan(BufferPlan& plan, std::uint64_t most_elements);

// begins[i] = sizes[0] + ... + sizes[i-1] for i in 0..count, the last being the total, which must be below 4 GiB.
// `begins` has count + 1 elements of 32 bits; it may be `sizes` of no other step, and not `sizes` itself.
void record_scan(Recording& recording, BufferId sizes, BufferId begins, const ScanBuffers& buffers,
                 std::uint32_t count);

}  // namespace hemstitch::webgpu
