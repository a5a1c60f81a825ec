// Functions that all lanes of a warp compute together.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;

// The sum over this lane and those below it.
template <class Number>
__device__ inline Number sum_up_to_lane(Number value, unsigned lane) {
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const Number below = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += below;
  }
  return value;
}

// Over all lanes: the sum, the maximum, and the OR of all bits. Devices before compute capability 8.0 have no instructions for these.
__device__ inline std::uint32_t sum_over_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAllLanes, value);
#else
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
#endif
}
__device__ inline std::uint32_t largest_over_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAllLanes, value);
#else
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) value = max(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
#endif
}
__device__ inline std::uint32_t bits_over_warp(std::uint32_t bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kAllLanes, bits);
#else
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) bits |= __shfl_xor_sync(kAllLanes, bits, step);
  return bits;
#endif
}

}  // namespace hemstitch::cuda
