// The ways in which restore_lz4_cuda (lz4_restore_cuda.hpp) restores chunks. All follow its description.
#pragma once

#include "format/lz4/restore/lz4_restore_cuda.hpp"

namespace hemstitch::cuda {

// ---- Pages: no capacity above kPageBytes, no history ----

// For batches of fewer than kLz4FewPages: each page in the least time.
void restore_few_lz4_pages_cuda(const DeviceRestore& batch, cudaStream_t stream);
// All pages with the least work.
void restore_many_lz4_pages_cuda(const DeviceRestore& batch, cudaStream_t stream);

// ---- Larger chunks; they restore smaller ones as well ----

// With several warps for each chunk: for batches of fewer than kLz4FewBlocks. Uses one warp for each chunk if
// the device has too little shared memory.
void restore_few_lz4_blocks_cuda(const DeviceRestore& batch, cudaStream_t stream);
// With one warp for each chunk.
void restore_many_lz4_blocks_cuda(const DeviceRestore& batch, cudaStream_t stream);

}  // namespace hemstitch::cuda
