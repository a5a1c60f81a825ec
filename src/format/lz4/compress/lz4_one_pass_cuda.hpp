// The way of level 1 for pages and for blocks of up to 64 KB (lz4_one_pass.cuh): pages in one launch, without scratch;
// larger blocks in two.
#pragma once

#include <cstddef>

#include "format/lz4/compress/lz4_compress_cuda.hpp"

namespace hemstitch::cuda {

// Whether all blocks of a batch may go that way: at most 64 KB, no history, the numbers of level 1.
bool one_pass_takes(const DeviceBlocks& blocks, const Lz4Level& level);

// Whether they are pages besides, with the numbers of level 1 for pages.
bool one_pass_takes_as_pages(const DeviceBlocks& blocks, const Lz4Level& level);

// Only where one_pass_takes().
std::size_t compress_one_pass_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level);
void compress_one_pass_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                            void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
