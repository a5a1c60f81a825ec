// A format on a CUDA device: how batches of its blocks are compressed and restored there, and how its frames
// are verified. Formats without such an object work only on the host. formats_cuda.hpp lists those that
// exist.
//
// A device may compress to a format whose blocks it does not restore.
//
// All functions are asynchronous on the stream, allocate nothing, wait for nothing, and can be captured in a
// graph. Scratch memory may have any alignment and holds nothing between calls; too little of it is
// kInvalidOption.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "hemstitch/hemstitch.h"
#include "hemstitch/hemstitch.hpp"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch {
class StreamDecoder;
struct FrameHeader;
struct StreamMeans;
struct StreamMemory;
}  // namespace hemstitch

namespace hemstitch::cuda {

class Device;
class DeviceClock;
struct StreamInMemory;
struct StreamOutcome;

// Blocks to restore. Each array has one element for each block. All arrays, blocks and outputs are on the
// device. Outputs overlap neither each other nor blocks.
struct DeviceRestore {
  const std::byte* const* d_blocks = nullptr;  // without the frame's bytes around them, at any address
  const std::size_t* d_block_bytes = nullptr;
  std::byte* const* d_outputs = nullptr;      // at any address; nullptr: only sizes and statuses
  const std::size_t* d_capacities = nullptr;  // exact room: no byte after it is written
  // How many bytes directly before d_outputs[i] matches may refer to; they are restored already. nullptr:
  // none.
  const std::uint32_t* d_history_bytes = nullptr;
  std::size_t* d_output_bytes = nullptr;  // restored; 0 unless the status is OK
  // OK, CORRUPT_BLOCK or OUTPUT_TOO_SMALL; INVALID_OPTION for a block above one of the two limits below. An
  // output is unspecified unless its status is OK.
  hemstitch_status* d_statuses = nullptr;
  std::uint64_t count = 0;
  std::size_t max_capacity = 0;     // no capacity is larger: decides which kernel runs
  std::size_t max_block_bytes = 0;  // no block is larger
};

// Set in a compressed block's size if the block is stored.
inline constexpr std::uint32_t kStoredBit = 0x80000000;

// Compressed blocks in one span. Before each lie `lead_bytes` and after each `trail_bytes` of free room,
// which stay unchanged, for a frame's block headers and checksums.
struct DeviceSpan {
  std::byte* d_span;
  std::uint64_t capacity_bytes;
  std::uint32_t lead_bytes;
  std::uint32_t trail_bytes;
  std::uint64_t*
      d_offsets;  // count + 1 of them: where the room before each block begins; where the last block's ends
  std::uint32_t* d_sizes;  // one for each block: its bytes, with kStoredBit if it is stored
  hemstitch_status*
      d_statuses;  // one for each block: HEMSTITCH_OUTPUT_TOO_SMALL if it ends after the capacity; then it
  // is not written, and d_offsets says how large the span would have to be
};

// Where a stream decoder works. The device and the clock must outlive it.
struct StreamDevice {
  Device& device;
  DeviceClock* clock = nullptr;   // may be null
  std::uint64_t limit_bytes = 0;  // the most device memory
  std::function<void()> release_memory =
      {};  // frees what others keep for later; called while a decoder is made
};

class DeviceFormat {
 public:
  virtual ~DeviceFormat() = default;

  virtual Format id() const = 0;

  // The format with the same codes whose blocks restore by themselves: this one, unless its blocks are parts of a
  // stream.
  virtual Format of_separate_blocks() const { return id(); }

  // A block is stored if compressing would not make it smaller, unless the format has stored blocks inside
  // its data. `block_bytes` is the block size of the frame.
  virtual std::size_t compress_span_scratch_bytes(const DeviceBlocks& blocks, int level,
                                                  std::size_t block_bytes) const = 0;
  virtual void compress_span(const DeviceBlocks& blocks, int level, std::size_t block_bytes,
                             const DeviceSpan& span, void* d_scratch, std::size_t scratch_bytes,
                             cudaStream_t stream) const = 0;

  // Whether devices restore the format's blocks; if not, the two functions below throw kInvalidOption.
  virtual bool restores() const { return false; }
  // For blocks that are not stored.
  virtual std::size_t restore_scratch_bytes(const DeviceRestore& batch) const;
  virtual void restore(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                       cudaStream_t stream) const;

  // FrameFormat::checksum() of the d_sizes[i] bytes at d_spans[i], at any alignment, for every i below `count`.
  virtual void checksums(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                         std::uint32_t* d_checksums, cudaStream_t stream) const = 0;

  // For frames whose blocks cannot be told apart: a decoder, and how much memory it takes with so much of the
  // device's. By default there is none: null, and no memory. Where the device does not help, as with short streams
  // or too little memory, the decoder is one of the processor's.
  virtual StreamMemory stream_memory(const FrameHeader& header, const StreamMeans& means,
                                     std::uint64_t limit_bytes) const;
  virtual std::unique_ptr<StreamDecoder> make_stream_decoder(const StreamDevice& on,
                                                             const FrameHeader& header,
                                                             std::span<const std::byte> history,
                                                             const StreamMeans& means) const;

  // For a file that is one long stream, or several in a row: whether one that begins like this is restored from
  // device memory to device memory. If not, the two functions below throw kInvalidOption.
  virtual bool restores_stream(std::span<const std::byte> /*head*/) const { return false; }
  virtual std::size_t stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t output_bytes) const;
  // Waits for the stream. With less memory than stream_temp_bytes() it is slower. Throws Error (device family).
  virtual StreamOutcome restore_stream(const StreamInMemory& work, void* d_temp, std::size_t temp_bytes,
                                       cudaStream_t stream) const;
};

}  // namespace hemstitch::cuda
