// Device memory of a content. It is made while the content is loaded and then belongs to the caller.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "gpu/cuda/current_device.hpp"
#include "gpu/cuda/device.hpp"

namespace hemstitch::cuda {

class FrameMemory {
 public:
  FrameMemory() = default;
  // Allocated and freed as a step of the stream.
  FrameMemory(Device& device, std::uint64_t bytes, cudaStream_t stream)
      : device_(&device),
        data_(static_cast<std::byte*>(device.memory().allocate(bytes, stream))),
        bytes_(bytes),
        used_bytes_(bytes),
        stream_(stream) {}
  ~FrameMemory() {
    if (data_ == nullptr) return;
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device_->facts().index);
    device_->memory().release(data_, bytes_, stream_);
    cudaSetDevice(before);
  }
  FrameMemory(FrameMemory&& other) noexcept { swap(other); }
  FrameMemory& operator=(FrameMemory&& other) noexcept {
    FrameMemory(std::move(other)).swap(*this);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t used_bytes() const { return used_bytes_; }

  // Call it once nothing is in progress in this memory. From then on it is freed as a step of `stream`.
  void complete(std::uint64_t used_bytes, cudaStream_t stream) {
    used_bytes_ = used_bytes;
    stream_ = stream;
  }
  std::shared_ptr<std::byte> share() && {
    if (data_ == nullptr) return nullptr;
    const auto owner = std::make_shared<FrameMemory>(std::move(*this));
    return {owner, owner->data_};
  }

 private:
  void swap(FrameMemory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(used_bytes_, other.used_bytes_);
    std::swap(stream_, other.stream_);
  }

  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t used_bytes_ = 0;  // from the beginning
  cudaStream_t stream_ = nullptr;
};

}  // namespace hemstitch::cuda
