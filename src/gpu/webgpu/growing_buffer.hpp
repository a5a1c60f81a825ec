// A buffer between host and device that is kept from call to call, and replaced by a larger one where a call needs it. What
// stood there is lost then.
#pragma once

#include <algorithm>

#include "core/grown_size.hpp"
#include "gpu/webgpu/device.hpp"

namespace hemstitch::webgpu {

class GrowingBuffer {
 public:
  explicit GrowingBuffer(BufferUse use) : use_(use) {}

  // Not mapped, and no work that is queued may use what it was so far. `bytes` is a multiple of 4.
  const Buffer& at_least(std::uint64_t bytes, Device& device) {
    if (bytes > buffer_.bytes()) {
      const std::uint64_t most = std::max(bytes, device.limits().buffer_bytes / 4 * 4);
      const std::uint64_t grown = std::min(grown_size(buffer_.bytes(), bytes) / 4 * 4, most);
      buffer_ = Buffer();  // first: both at once may be more than there is
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
