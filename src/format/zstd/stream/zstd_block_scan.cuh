// A scan over blocks of a frame, by one thread block: what all blocks before each one come to.
#pragma once

#include <cstdint>

#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kZstdScanThreads = 256, kZstdScanWarps = kZstdScanThreads / 32;

// All threads: the sum of `value` over this lane and those below it. A Value has then(later), which joins two in a row, and below(step), that of
// a lane below this one.
template <class Value>
__device__ inline Value zstd_scan_of_warp(Value value, unsigned lane) {
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const Value below = value.below(step);
    if (lane >= step) value = below.then(value);
  }
  return value;
}

// All threads: what those before this thread come to, behind `carry`; which then has all of them as well. `sh_warps` has room for kZstdScanWarps.
template <class Value>
__device__ inline Value zstd_scan_of_blocks(const Value& value, Value* sh_warps, Value& carry) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Value up_to_lane = zstd_scan_of_warp(value, lane);
  if (lane == 31) sh_warps[warp] = up_to_lane;
  __syncthreads();
  if (warp == 0) {
    const Value own = sh_warps[lane % kZstdScanWarps];
    __syncwarp();
    const Value up_to_warp = zstd_scan_of_warp(own, lane);
    if (lane < kZstdScanWarps) sh_warps[lane] = up_to_warp;
  }
  __syncthreads();
  Value before = carry;
  if (warp > 0) before = before.then(sh_warps[warp - 1]);
  const Value below = up_to_lane.below(1);
  if (lane > 0) before = before.then(below);
  carry = carry.then(sh_warps[kZstdScanWarps - 1]);
  __syncthreads();
  return before;
}

}  // namespace hemstitch::cuda
