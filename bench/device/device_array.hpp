// An array in device memory for programs that measure: plain allocations, since the device is such a program's alone and
// a pool would only be one more thing to measure.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::bench {

template <class T>
struct DeviceArray {
  explicit DeviceArray(std::size_t n) : count(n) {
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&data), std::max<std::size_t>(n, 1) * sizeof(T)),
                "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { upload(values); }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void upload(const std::vector<T>& from) {
    cuda::check(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  // The `n` elements from `begin` on.
  std::vector<T> download(std::size_t begin, std::size_t n) const {
    std::vector<T> into(n);
    cuda::check(cudaMemcpy(into.data(), data + begin, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return into;
  }

  T* data = nullptr;
  std::size_t count;
};

}  // namespace hemstitch::bench
