#include "gpu/cuda/device_pool.hpp"

#include <fmt/format.h>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {

DevicePool::DevicePool(int device, std::size_t limit_bytes) : limit_bytes_(limit_bytes) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
  std::uint64_t keep_all = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all),
        "cudaMemPoolSetAttribute");
}

DevicePool::~DevicePool() { cudaMemPoolDestroy(pool_); }

void* DevicePool::allocate(std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  const std::size_t before = used_bytes_.fetch_add(bytes);
  if (bytes > limit_bytes_ || before > limit_bytes_ - bytes) {
    used_bytes_ -= bytes;
    throw Error(Status::kDeviceOutOfMemory,
                fmt::format("{} bytes of device memory asked for; {} of the limit of {} are in use", bytes,
                            before, limit_bytes_));
  }
  void* memory = nullptr;
  cudaError_t error = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  if (error == cudaErrorMemoryAllocation) {
    // Memory that other streams freed can be reused only once their work is done.
    cudaGetLastError();
    if (cudaDeviceSynchronize() == cudaSuccess && cudaMemPoolTrimTo(pool_, 0) == cudaSuccess)
      error = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  }
  if (error != cudaSuccess) {
    used_bytes_ -= bytes;
    check(error, fmt::format("cudaMallocFromPoolAsync of {} bytes ({} in use)", bytes, before));
  }
  std::size_t peak = peak_bytes_;
  while (peak < before + bytes && !peak_bytes_.compare_exchange_weak(peak, before + bytes)) {
  }
  return memory;
}

void DevicePool::release(void* memory, std::size_t bytes, cudaStream_t stream) noexcept {
  if (memory == nullptr) return;
  cudaFreeAsync(memory, stream);
  used_bytes_ -= bytes;
}

}  // namespace hemstitch::cuda
