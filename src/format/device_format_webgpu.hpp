// A format on a WebGPU device: how batches of its blocks are compressed and restored there, as data.
// formats_webgpu.hpp lists those that exist. Any thread may use one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "format/staged_batch_webgpu.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::webgpu {

// The most that a batch may have. A block that alone has more is a batch.
struct BatchLimits {
  std::uint64_t bytes = 0;  // of data, as DeviceFormat::counted_bytes() counts them
  std::uint64_t blocks = std::numeric_limits<std::uint64_t>::max();
};

class DeviceFormat {
 public:
  virtual ~DeviceFormat() = default;

  virtual Format id() const = 0;

  // Whether devices compress to the format; if not, the three functions below throw kInvalidOption.
  virtual bool compresses() const { return false; }
  // Batches to compress on a device that is busy with `batch_bytes` of data, and whose shaders see at most
  // `binding_bytes` of a buffer. `block_bytes` is the block size of the frame.
  virtual BatchLimits compress_limits(int level, std::size_t block_bytes, std::uint64_t batch_bytes,
                                      std::uint64_t binding_bytes) const;
  // How many bytes of data a block to compress counts as: its largest array takes four times as many.
  virtual std::uint64_t counted_bytes(const BlockSizes& block) const;
  // A block that does not fit into its room gets kOutputTooSmall.
  virtual StagedBatch stage_compress(std::span<const BlockSizes> blocks, int level,
                                     std::size_t block_bytes) const;

  // Blocks get kOk, kCorruptBlock or kOutputTooSmall, as their twin does; kDeviceFault if the device did not come to
  // an end.
  virtual StagedBatch stage_restore(std::span<const BlockSizes> blocks) const = 0;
};

}  // namespace hemstitch::webgpu
