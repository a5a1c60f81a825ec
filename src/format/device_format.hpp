// A format on a CUDA device: what its blocks are compressed and restored by there, in batches, and what its frames are verified
// by. Formats without an object of this kind are the host's alone. formats_cuda.hpp has those that there are.
//
// A device may compress to a format whose blocks it does not restore.
//
// All of it is asynchronous on the stream, allocates nothing and waits for nothing, and may be captured in a graph. Scratch has any
// alignment and holds nothing between calls; too little of it is kInvalidOption.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "hemstitch/hemstitch.h"
#include "hemstitch/hemstitch.hpp"
#include "match/common/device_block.hpp"

namespace hemstitch::cuda {

// Blocks to restore: one element of each array a block; all arrays, blocks and outputs on the device. Outputs overlap neither each
// other nor blocks.
struct DeviceRestore {
  const std::byte* const* d_blocks = nullptr;  // without what the frame puts around them, at any address
  const std::size_t* d_block_bytes = nullptr;
  std::byte* const* d_outputs = nullptr;      // at any address; nullptr: sizes and statuses alone
  const std::size_t* d_capacities = nullptr;  // exact room: no byte behind it is written
  // Bytes directly before d_outputs[i] that matches may reach; restored already. nullptr: none anywhere.
  const std::uint32_t* d_history_bytes = nullptr;
  std::size_t* d_output_bytes = nullptr;  // restored; 0 unless the status is OK
  // OK, CORRUPT_BLOCK or OUTPUT_TOO_SMALL; INVALID_OPTION for a block above the two bounds below. What stands in an
  // output is unspecified unless the status is OK.
  hemstitch_status* d_statuses = nullptr;
  std::uint64_t count = 0;
  std::size_t max_capacity = 0;     // no capacity is larger: chooses the kernel
  std::size_t max_block_bytes = 0;  // no block is larger
};

// Set in a compressed block's size where the block is stored.
inline constexpr std::uint32_t kStoredBit = 0x80000000;

// Compressed blocks in one span: before each `lead_bytes` of room and behind each `trail_bytes`, which are left as they are (a
// frame's block headers and checksums go there).
struct DeviceSpan {
  std::byte* d_span;
  std::uint64_t capacity_bytes;
  std::uint32_t lead_bytes;
  std::uint32_t trail_bytes;
  std::uint64_t*
      d_offsets;  // one a block, and one more: where the room before it begins; where the last one's ends
  std::uint32_t* d_sizes;  // one a block: its bytes, with kStoredBit where it is stored
  hemstitch_status*
      d_statuses;  // one a block: HEMSTITCH_OUTPUT_TOO_SMALL where it ends behind the capacity; then the
                   // block is not there, and d_offsets says what the span would have to hold
};

class DeviceFormat {
 public:
  virtual ~DeviceFormat() = default;

  virtual Format id() const = 0;

  // A block is stored where compressing would not make it smaller, unless the format has that in its blocks. `block_bytes` is the block size of the frame.
  virtual std::size_t compress_span_scratch_bytes(const DeviceBlocks& blocks, int level,
                                                  std::size_t block_bytes) const = 0;
  virtual void compress_span(const DeviceBlocks& blocks, int level, std::size_t block_bytes,
                             const DeviceSpan& span, void* d_scratch, std::size_t scratch_bytes,
                             cudaStream_t stream) const = 0;

  // Whether devices restore the format's blocks; where they do not, the two functions below throw kInvalidOption.
  virtual bool restores() const { return false; }
  // Of blocks that are not stored.
  virtual std::size_t restore_scratch_bytes(const DeviceRestore& batch) const;
  virtual void restore(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                       cudaStream_t stream) const;

  // FrameFormat::checksum() of the d_sizes[i] bytes at d_spans[i], at any alignment, for every i below `count`.
  virtual void checksums(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                         std::uint32_t* d_checksums, cudaStream_t stream) const = 0;
};

}  // namespace hemstitch::cuda
