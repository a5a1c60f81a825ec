// coop_stitch through WebGPU. Finds and counts exactly what coop_stitch_reference does.
#pragma once

#include "match/common/webgpu/finder_webgpu.hpp"
#include "match/coop_stitch/coop_stitch.hpp"

namespace hemstitch::webgpu {

// Throws kInvalidOption for parameters that check_finder_parameters refuses.
void record_coop_stitch(Recording& recording, const BlockBatch& batch, const FinderOutput& output,
                        const FinderParameters& parameters);

inline void record_find(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                        const CoopStitchParameters& parameters) {
  record_coop_stitch(recording, batch, buffers.output, parameters);
}

}  // namespace hemstitch::webgpu
