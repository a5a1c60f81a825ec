// The way of level 1 for pages inside compress_lz4_cuda(): no scratch, one launch.
#pragma once

#include "format/lz4/lz4_compress_cuda.hpp"

namespace hemstitch::cuda {

// Whether a batch is of pages without history, at the numbers of level 1.
bool compresses_as_pages(const DeviceBlocks& blocks, const Lz4Level& level);

void compress_lz4_as_pages_cuda(const DeviceBlocks& pages, const DeviceLz4Output& output, cudaStream_t stream,
                                int table = 0);

}  // namespace hemstitch::cuda
