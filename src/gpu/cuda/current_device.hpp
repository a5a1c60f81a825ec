// The calling thread's current device, for the time of a scope: for calls that return to a caller who has chosen his own.
#pragma once

#include <cuda_runtime.h>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device.hpp"

namespace hemstitch::cuda {

class CurrentDevice {
 public:
  explicit CurrentDevice(const Device& device) : CurrentDevice(device.facts().index) {}
  explicit CurrentDevice(int index) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(index), "cudaSetDevice");
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace hemstitch::cuda
