// The two ways in which restore_lz4_cuda (lz4_restore_cuda.hpp) restores chunks larger than pages, by its contract. Smaller
// ones they restore as well.
#pragma once

#include "format/lz4/lz4_restore_cuda.hpp"

namespace hemstitch::cuda {

// By several warps a chunk: for batches of fewer than kLz4FewBlocks. By a warp a chunk where the device's shared memory does
// not suffice.
void restore_few_lz4_blocks_cuda(const DeviceLz4Restore& batch, cudaStream_t stream);
// By a warp a chunk.
void restore_many_lz4_blocks_cuda(const DeviceLz4Restore& batch, cudaStream_t stream);
}  // namespace hemstitch::cuda
