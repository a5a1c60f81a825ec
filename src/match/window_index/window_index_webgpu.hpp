// window_index through WebGPU. Finds and counts exactly what window_index_reference does.
#pragma once

#include "match/common/webgpu/finder_webgpu.hpp"
#include "match/window_index/window_index.hpp"

namespace hemstitch::webgpu {

// Throws kInvalidOption for parameters that check_finder_parameters refuses.
void record_window_index(Recording& recording, const BlockBatch& batch, const FinderOutput& output,
                         const FinderParameters& parameters);

inline void record_find(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                        const WindowIndexParameters& parameters) {
  record_window_index(recording, batch, buffers.output, parameters);
}

}  // namespace hemstitch::webgpu
