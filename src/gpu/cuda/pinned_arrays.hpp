// Small arrays of a batch that stand alike in pinned and in device memory, so that several go up or come down in one copy.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {

class PinnedArrays {
 public:
  template <class T>
  struct Array {
    T* h = nullptr;
    T* d = nullptr;
  };

  // With nullptr twice it only counts.
  PinnedArrays(void* h_begin, void* d_begin) : h_(h_begin), d_(d_begin) {}
  template <class T>
  Array<T> take(std::size_t count) {
    return {h_.take<T>(count), d_.take<T>(count)};
  }
  std::size_t bytes() const { return h_.bytes(); }

 private:
  Carver h_, d_;
};

// No call of the runtime for nothing.
inline void copy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
}

}  // namespace hemstitch::cuda
