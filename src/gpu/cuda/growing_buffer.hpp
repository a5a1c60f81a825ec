// Memory of the device, and pinned memory of the host, that is kept from call to call and replaced by more where a call needs
// more. What stood there is lost then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/grown_size.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/pinned_pool.hpp"

namespace hemstitch::cuda {

template <class T>
class GrowingBuffer {
 public:
  explicit GrowingBuffer(DevicePool& pool) : pool_(pool) {}

  // Room for `count` elements in the order of the stream, which is the same each time.
  T* at_least(std::size_t count, cudaStream_t stream) {
    if (count > buffer_.count()) {
      const std::size_t grown = grown_size(buffer_.count(), count);
      release();  // first: both at once may be more than there is
      buffer_ = DeviceBuffer<T>(grown, stream, pool_);
    }
    return buffer_.get();
  }
  // The same; memory that is new is zero. For copies to the host that take along bytes between results, which no kernel
  // writes: they may be what another program left.
  T* zeroed_at_least(std::size_t count, cudaStream_t stream) {
    const bool grows = count > buffer_.count();
    T* const elements = at_least(count, stream);
    if (grows) check(cudaMemsetAsync(elements, 0, buffer_.bytes(), stream), "cudaMemsetAsync");
    return elements;
  }
  // Room for one at least. Returns when `values` were read, where they are not pinned.
  T* upload(std::span<const T> values, cudaStream_t stream) {
    T* const d_values = at_least(std::max<std::size_t>(values.size(), 1), stream);
    if (!values.empty())
      check(cudaMemcpyAsync(d_values, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
    return d_values;
  }
  void release() { buffer_ = {}; }

 private:
  DevicePool& pool_;
  DeviceBuffer<T> buffer_;
};

class GrowingPinned {
 public:
  explicit GrowingPinned(PinnedPool& pool) : pool_(pool) {}

  // Nothing on the device may use what it held so far.
  std::byte* at_least(std::size_t bytes) {
    if (bytes > block_.span().size()) {
      const std::size_t grown = grown_size(block_.span().size(), bytes);
      block_ = {};
      block_ = pool_.take(grown);
    }
    return block_.span().data();
  }

 private:
  PinnedPool& pool_;
  PinnedPool::Block block_;
};

}  // namespace hemstitch::cuda
