// Stands for src/gpu/cuda/side_stream.hpp: everything runs in order.
#pragma once

#include <cuda_runtime.h>

namespace hemstitch::cuda {

class SideStream {
 public:
  explicit SideStream(cudaStream_t beside) : beside_(beside) {}
  cudaStream_t get() const { return beside_; }
  void join() {}

 private:
  cudaStream_t beside_;
};

}  // namespace hemstitch::cuda
