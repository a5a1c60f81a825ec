// Device memory in the order of streams: an allocation is a step of its stream, as is its release, so neither waits
// for the device. Freed memory stays with the pool for the next one, since asking the driver costs milliseconds.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace hemstitch::cuda {

// Any thread may use it.
class DevicePool {
 public:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  // `limit_bytes` bounds what may be in use at once, as --memory does and as tests do that want to run out.
  explicit DevicePool(int device, std::size_t limit_bytes = kNoLimit);
  ~DevicePool();
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  // Throws kDeviceOutOfMemory where there is not enough, after giving back what the pool kept for later: then what
  // was allocated before is as it was, and a smaller request may succeed.
  void* allocate(std::size_t bytes, cudaStream_t stream);
  // Of a pointer from allocate(), with its size; the stream's work so far may still use it.
  void release(void* memory, std::size_t bytes, cudaStream_t stream) noexcept;

  std::size_t used_bytes() const { return used_bytes_; }
  std::size_t peak_bytes() const { return peak_bytes_; }

 private:
  cudaMemPool_t pool_ = nullptr;
  std::size_t limit_bytes_;
  std::atomic<std::size_t> used_bytes_ = 0;
  std::atomic<std::size_t> peak_bytes_ = 0;
};

}  // namespace hemstitch::cuda
