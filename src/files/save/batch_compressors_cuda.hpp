// How batches of content become parts of a file, on a CUDA device. The saver (frame_save_cuda.cpp) has the content, and writes what is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "files/save/frame_batches.hpp"
#include "format/frame_writer.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "hemstitch/files.hpp"

namespace hemstitch {

// What a compressor may use for as long as it lives. A slot has the output of one batch at a time.
struct SaveWork {
  cuda::Device& device;
  const cuda::Stream& stream;
  std::span<const std::byte> content;
  const FrameSaveOptions& options;  // with defaults filled in
  const FrameWriter& writer;
  const std::vector<FrameBatch>& batches;  // at least one
  std::size_t header_bytes;                // of the file's
  std::size_t slot_count;
};

class BatchCompressor {
 public:
  virtual ~BatchCompressor() = default;

  // Enqueues a batch's compression on the stream. The slot's batch before is written.
  virtual void enqueue(std::size_t slot, const FrameBatch& batch) = 0;
  // Once that is done: what of the slot's output comes next in the file, piece by piece. Throws kDeviceFault where the device failed.
  virtual std::vector<std::span<const std::byte>> written(std::size_t slot, const FrameBatch& batch) = 0;
};

// Blocks of one LZ4 frame.
std::unique_ptr<BatchCompressor> make_frame_compressor(const SaveWork& work);
// Blocks that stand by themselves, each of block_bytes, as the batch interface writes them: a piece each.
std::unique_ptr<BatchCompressor> make_blocks_compressor(const SaveWork& work);

}  // namespace hemstitch
