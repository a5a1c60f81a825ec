// How thread blocks of a launch wait for each other: through a number in the device's memory. Whoever loads what was added sees what the adding
// thread, and those that met it at a barrier before, have written.
//
// Thread blocks that wait must not keep those from beginning that they wait for (match/far/far.cu says how to see to that). Kernels that tests run on the
// processor use functions of the same names (tests/emulated_cuda).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace hemstitch::cuda {

__device__ inline void add_release(std::uint32_t* d_number, std::uint32_t more) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(d_number)), "r"(more)
               : "memory");
}

__device__ inline std::uint32_t load_acquire(const std::uint32_t* d_number) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(d_number))
               : "memory");
  return value;
}

}  // namespace hemstitch::cuda
