// Memory and streams of a CUDA device, owned by objects: freed in the order of the stream they were made on.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <utility>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_pool.hpp"

namespace hemstitch::cuda {

// A stream of its own. Not copyable; any thread may use it, one at a time.
class Stream {
 public:
  // `priority`, from 0 on: thread blocks of streams with a larger one begin first. Devices have at least two.
  explicit Stream(int priority = 0) {
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, -priority),
          "cudaStreamCreateWithPriority");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  void synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

// `count` elements on the device, from a stream-ordered pool; without one, from CUDA's own of the stream's device. Contents are
// unspecified at first.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::size_t count, cudaStream_t stream) : count_(count), stream_(stream) {
    if (count > 0)
      check(cudaMallocAsync(reinterpret_cast<void**>(&data_), bytes(), stream), "cudaMallocAsync");
  }
  DeviceBuffer(std::size_t count, cudaStream_t stream, DevicePool& pool)
      : count_(count), stream_(stream), pool_(&pool) {
    data_ = static_cast<T*>(pool.allocate(bytes(), stream));
  }
  ~DeviceBuffer() {
    if (data_ == nullptr) return;
    if (pool_ != nullptr)
      pool_->release(data_, bytes(), stream_);
    else
      cudaFreeAsync(data_, stream_);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer(std::move(other)).swap(*this);
    return *this;
  }

  T* get() const { return data_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

  // Asynchronous where the host memory is pinned.
  void upload(std::span<const T> from) {
    check(cudaMemcpyAsync(data_, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
  }
  void download(std::span<T> into) const {
    check(cudaMemcpyAsync(into.data(), data_, into.size_bytes(), cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
  }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(stream_, other.stream_);
    std::swap(pool_, other.pool_);
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
  cudaStream_t stream_ = nullptr;
  DevicePool* pool_ = nullptr;
};

// Host memory that the device copies from and to at full speed, and asynchronously.
template <class T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t count) : count_(count) {
    if (count > 0)
      check(cudaMallocHost(reinterpret_cast<void**>(&data_), count * sizeof(T)), "cudaMallocHost");
  }
  ~PinnedBuffer() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    PinnedBuffer(std::move(other)).swap(*this);
    return *this;
  }

  std::span<T> span() const { return {data_, count_}; }

 private:
  void swap(PinnedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace hemstitch::cuda
