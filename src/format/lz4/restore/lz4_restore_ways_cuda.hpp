// The ways in which restore_lz4_cuda (lz4_restore_cuda.hpp) restores chunks, by its contract.
#pragma once

#include "format/lz4/restore/lz4_restore_cuda.hpp"

namespace hemstitch::cuda {

// ---- Pages: no capacity above kPageBytes, no history ----

// For batches of fewer than kLz4FewPages: each in as little time as can be.
void restore_few_lz4_pages_cuda(const DeviceRestore& batch, cudaStream_t stream);
// With as little work as can be.
void restore_many_lz4_pages_cuda(const DeviceRestore& batch, cudaStream_t stream);

// ---- Larger chunks; they restore smaller ones as well ----

// By several warps a chunk: for batches of fewer than kLz4FewBlocks. By a warp a chunk where the device's shared memory does
// not suffice.
void restore_few_lz4_blocks_cuda(const DeviceRestore& batch, cudaStream_t stream);
// By a warp a chunk.
void restore_many_lz4_blocks_cuda(const DeviceRestore& batch, cudaStream_t stream);

}  // namespace hemstitch::cuda
