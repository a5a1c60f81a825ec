// The way of level 1 for pages and for blocks of up to 64 KB: one launch, no scratch (lz4_one_pass.cuh).
#pragma once

#include "format/lz4/lz4_compress_cuda.hpp"

namespace hemstitch::cuda {

// Whether all blocks of a batch may go that way: at most 64 KB, no history, the numbers of level 1.
bool one_pass_takes(const DeviceBlocks& blocks, const Lz4Level& level);

// Whether they are pages besides, with the numbers of level 1 for pages.
bool one_pass_takes_as_pages(const DeviceBlocks& blocks, const Lz4Level& level);

// Only where one_pass_takes().
void compress_one_pass_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                            cudaStream_t stream);

}  // namespace hemstitch::cuda
