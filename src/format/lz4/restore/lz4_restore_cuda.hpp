// Restores LZ4 blocks on a CUDA device: the bytes, sizes and statuses of restore_lz4_block_reference
// (lz4_restore_reference.hpp), for a batch of independent chunks of any content.
//
// A warp restores a chunk: a page (no capacity above kPageBytes) in shared memory; a larger block in windows
// of 1 KB. In each window the warp finds the sequences and copies their bytes together. Every read and write
// is checked; the work is bounded by the bytes read and written.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

// The largest chunk, compressed or restored: its positions and their sums are 32-bit words on the device.
inline constexpr std::size_t kLz4RestoreMaxBytes = std::size_t{1} << 30;

std::size_t restore_lz4_cuda_scratch_bytes(const DeviceRestore& batch);

// Asynchronous on `stream`; can be captured in a graph. Throws kInvalidOption for limits above
// kLz4RestoreMaxBytes and for too little scratch.
void restore_lz4_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                      cudaStream_t stream);

// Restores the first *d_count (on the device; at most count) chunks of a chain, one after the other: each may
// refer to the content of those before it, as its history. Without scratch; asynchronous on `stream`; can be
// captured in a graph. Throws kUnsupportedFeature if the device has less than 94 KB of shared memory for a
// thread block.
void restore_lz4_chain_cuda(const DeviceRestore& batch, const std::uint32_t* d_count, cudaStream_t stream);

}  // namespace hemstitch::cuda
