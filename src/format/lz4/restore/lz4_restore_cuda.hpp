// Restoration of LZ4 blocks on a CUDA device: the bytes, sizes and statuses of restore_lz4_block_reference
// (lz4_restore_reference.hpp), for a batch of independent chunks of any content.
//
// A warp restores a chunk: a page (no capacity above kPageBytes) in shared memory; a larger block by windows of 1 KB, in
// each of which the warp finds the sequences and copies their bytes together. Every read and write is checked; the work
// is bounded by bytes read and written.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "hemstitch/hemstitch.h"

namespace hemstitch::cuda {

// No chunk may be larger, compressed or restored: its positions and their sums are 32-bit words on the device.
inline constexpr std::size_t kLz4RestoreMaxBytes = std::size_t{1} << 30;

// One element of each array a chunk; all arrays, blocks and outputs on the device. Outputs overlap neither each
// other nor blocks.
struct DeviceLz4Restore {
  const std::byte* const* d_blocks = nullptr;  // LZ4 blocks, at any address
  const std::size_t* d_block_bytes = nullptr;
  std::byte* const* d_outputs = nullptr;      // at any address; nullptr: sizes and statuses alone
  const std::size_t* d_capacities = nullptr;  // exact room: no byte behind it is written
  // Bytes directly before d_outputs[i] that matches may reach; restored already. nullptr: none anywhere.
  const std::uint32_t* d_history_bytes = nullptr;
  std::size_t* d_output_bytes = nullptr;  // restored; 0 unless the status is OK
  // OK, CORRUPT_BLOCK or OUTPUT_TOO_SMALL; INVALID_OPTION for a chunk above the two bounds below. What stands in an
  // output is unspecified unless the status is OK.
  hemstitch_status* d_statuses = nullptr;
  std::uint64_t count = 0;
  std::size_t max_capacity = 0;     // no capacity is larger: chooses the kernel
  std::size_t max_block_bytes = 0;  // no block is larger
};

std::size_t restore_lz4_cuda_scratch_bytes(const DeviceLz4Restore& batch);

// Asynchronous on `stream`; may be captured in a graph.
// Throws kInvalidOption for bounds above kLz4RestoreMaxBytes and for too little scratch.
void restore_lz4_cuda(const DeviceLz4Restore& batch, void* d_scratch, std::size_t scratch_bytes,
                      cudaStream_t stream);

// Restores the first *d_count (on the device; at most count) chunks of a chain, one after the other: each may refer to
// what those before it restore, as its history. Without scratch; asynchronous on `stream`; may be captured in a graph.
// Throws kUnsupportedFeature where the device has less than 94 KB of shared memory for a thread block.
void restore_lz4_chain_cuda(const DeviceLz4Restore& batch, const std::uint32_t* d_count, cudaStream_t stream);

}  // namespace hemstitch::cuda
