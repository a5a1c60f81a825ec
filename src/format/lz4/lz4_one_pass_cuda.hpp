// The way of level 1 for pages and small blocks: one launch, no scratch (lz4_one_pass.cuh).
#pragma once

#include "format/lz4/lz4_compress_cuda.hpp"
#include "format/lz4/lz4_pages_cuda.hpp"

namespace hemstitch::cuda {

// Whether all blocks of a batch may go that way: at most 64 KB, no history, the numbers of level 1.
bool one_pass_takes(const DeviceBlocks& blocks, const Lz4Level& level);

void compress_one_pass_cuda(const DeviceBlocks& blocks, const DeviceLz4Output& output, cudaStream_t stream,
                            int table = 0);

}  // namespace hemstitch::cuda
