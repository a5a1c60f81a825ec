// A buffer between host and device that is kept from call to call. A larger one replaces it when a call needs
// that; its content is lost then.
#pragma once

#include <algorithm>

#include "core/grown_size.hpp"
#include "gpu/webgpu/device.hpp"

namespace hemstitch::webgpu {

class GrowingBuffer {
 public:
  explicit GrowingBuffer(BufferUse use) : use_(use) {}

  // The buffer must not be mapped or in use by queued work. `bytes` is a multiple of 4.
  const Buffer& at_least(std::uint64_t bytes, Device& device) {
    if (bytes > buffer_.bytes()) {
      const std::uint64_t most = std::max(bytes, device.limits().buffer_bytes / 4 * 4);
      const std::uint64_t grown = std::min(grown_size(buffer_.bytes(), bytes) / 4 * 4, most);
      buffer_ = Buffer();  // first, since memory may not suffice for both
      buffer_ = device.make_buffer("staging", grown, use_);
    }
    return buffer_;
  }
  const Buffer& get() const { return buffer_; }
  void release() { buffer_ = Buffer(); }

 private:
  BufferUse use_;
  Buffer buffer_;
};

}  // namespace hemstitch::webgpu
