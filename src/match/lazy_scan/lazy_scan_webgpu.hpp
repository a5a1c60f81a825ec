// lazy_scan through WebGPU. Finds and counts exactly what lazy_scan_reference does.
#pragma once

#include "match/common/webgpu/finder_webgpu.hpp"
#include "match/lazy_scan/lazy_scan.hpp"

namespace hemstitch::webgpu {

// Throws kInvalidOption for parameters that check_finder_parameters refuses.
void record_lazy_scan(Recording& recording, const BlockBatch& batch, const FinderOutput& output,
                      const FinderParameters& parameters);

inline void record_find(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                        const LazyScanParameters& parameters) {
  record_lazy_scan(recording, batch, buffers.output, parameters);
}

}  // namespace hemstitch::webgpu
