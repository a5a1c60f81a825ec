// The stitch through WebGPU; stitch.hpp defines it.
#pragma once

#include <cstdint>

#include "match/common/webgpu/block_batch.hpp"

namespace hemstitch::webgpu {

struct StitchBuffers {
  BufferId records;  // 4 bytes for each byte of the data: capped matches
  BufferId other;    // as large: final records, at the end
  BufferId marks;    // 4 bytes for each tile
};

// Extends capped matches and, unless `reach` is 0, stitches; `reach` is at most kMostStitchReach. The final
// records are in `other`; `records` is overwritten.
void record_stitch(Recording& recording, const BlockBatch& batch, const StitchBuffers& buffers,
                   std::uint32_t cap_bytes, std::uint32_t reach);

}  // namespace hemstitch::webgpu
