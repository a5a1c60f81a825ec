// In place of CUDA's header, for kernels that are compiled for the processor (emulated_cuda.hpp): what those that run there use of the
// language and of the runtime. A target that is to have it names this folder before all others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "emulated_cuda.hpp"

#define __device__
#define __host__
#define __global__
#define __launch_bounds__(...)
#define __forceinline__ inline
// One thread block runs at a time in a thread of the host. What is declared `extern` needs a definition before it.
#define __shared__ thread_local

using hemstitch::emulated::blockDim;
using hemstitch::emulated::blockIdx;
using hemstitch::emulated::gridDim;
using hemstitch::emulated::threadIdx;

struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};
struct uint2 {
  std::uint32_t x, y;
};
struct dim3 {
  // NOLINTNEXTLINE(google-explicit-constructor): as CUDA's
  dim3(unsigned all_x, unsigned all_y = 1, unsigned all_z = 1) : x(all_x), y(all_y), z(all_z) {}
  unsigned x, y, z;
};

// ---- The runtime: a device of a few multiprocessors, whose memory is the host's ----

enum cudaError_t { cudaSuccess };
using cudaStream_t = struct CUstream_st*;
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrMultiProcessorCount };

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? hemstitch::emulated::kMultiprocessors
                                                       : hemstitch::emulated::kSharedBytes;
  return cudaSuccess;
}
enum cudaMemcpyKind { cudaMemcpyDefault };
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}

// ---- What lanes of a warp and threads of a block do together ----

template <class Value>
Value exchanged(unsigned mask, Value value, unsigned from, hemstitch::emulated::Meeting how) {
  static_assert(sizeof value <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = hemstitch::emulated::meet_lanes(mask, how, bits)[from % 32];
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline unsigned this_lane() { return threadIdx.x % 32; }

template <class Value>
Value __shfl_sync(unsigned mask, Value value, int lane) {
  return exchanged(mask, value, static_cast<unsigned>(lane), hemstitch::emulated::Meeting::kShuffle);
}
template <class Value>
Value __shfl_up_sync(unsigned mask, Value value, unsigned step) {
  const unsigned lane = this_lane();
  return exchanged(mask, value, lane < step ? lane : lane - step, hemstitch::emulated::Meeting::kShuffle);
}
template <class Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned step) {
  const unsigned lane = this_lane();
  return exchanged(mask, value, lane + step > 31 ? lane : lane + step,
                   hemstitch::emulated::Meeting::kShuffle);
}
template <class Value>
Value __shfl_xor_sync(unsigned mask, Value value, unsigned step) {
  return exchanged(mask, value, this_lane() ^ step, hemstitch::emulated::Meeting::kShuffle);
}
inline unsigned __ballot_sync(unsigned mask, bool is_so) {
  const std::uint64_t* all =
      hemstitch::emulated::meet_lanes(mask, hemstitch::emulated::Meeting::kVote, is_so);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= static_cast<unsigned>(all[lane]) << lane;
  return bits;
}
inline int __any_sync(unsigned mask, bool is_so) { return __ballot_sync(mask, is_so) != 0 ? 1 : 0; }
inline int __all_sync(unsigned mask, bool is_so) { return __ballot_sync(mask, !is_so) == 0 ? 1 : 0; }
inline unsigned __match_any_sync(unsigned mask, std::uint32_t value) {
  const std::uint64_t* all =
      hemstitch::emulated::meet_lanes(mask, hemstitch::emulated::Meeting::kMatch, value);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= (all[lane] == value ? 1u : 0u) << lane;
  return bits;
}
inline void __syncwarp(unsigned mask = ~0u) {
  hemstitch::emulated::meet_lanes(mask, hemstitch::emulated::Meeting::kWarp, 0);
}
inline void __syncthreads() { hemstitch::emulated::meet_threads(false); }
inline int __syncthreads_count(int is_so) {
  static thread_local int count;
  if (threadIdx.x == 0) count = 0;
  hemstitch::emulated::meet_threads(false);
  count += is_so != 0 ? 1 : 0;
  hemstitch::emulated::meet_threads(false);
  const int all = count;
  hemstitch::emulated::meet_threads(false);  // before the next call begins to count
  return all;
}
inline int __syncthreads_or(int is_so) { return hemstitch::emulated::meet_threads(is_so != 0) ? 1 : 0; }

// A thread is left where it meets others alone, so nothing comes between.
template <class Number, class Other>
Number atomicAdd(Number* at, Other more) {
  const Number before = *at;
  *at += static_cast<Number>(more);
  return before;
}
template <class Number, class Other>
Number atomicXor(Number* at, Other bits) {
  const Number before = *at;
  *at ^= static_cast<Number>(bits);
  return before;
}
template <class Number, class Other>
Number atomicMin(Number* at, Other other) {
  const Number before = *at;
  if (static_cast<Number>(other) < before) *at = static_cast<Number>(other);
  return before;
}
template <class Number, class Other>
Number atomicMax(Number* at, Other other) {
  const Number before = *at;
  if (before < static_cast<Number>(other)) *at = static_cast<Number>(other);
  return before;
}
template <class Number, class Other>
Number atomicOr(Number* at, Other bits) {
  const Number before = *at;
  *at |= static_cast<Number>(bits);
  return before;
}

// ---- What a thread does alone ----

inline int __popc(std::uint32_t bits) { return std::popcount(bits); }
inline int __clz(std::uint32_t bits) { return std::countl_zero(bits); }
inline int __ffs(std::uint32_t bits) { return bits == 0 ? 0 : std::countr_zero(bits) + 1; }
inline std::uint32_t __brev(std::uint32_t bits) {
  std::uint32_t reversed = 0;
  for (unsigned i = 0; i < 32; ++i) reversed |= (bits >> i & 1) << (31 - i);
  return reversed;
}
template <class Value>
Value __ldg(const Value* at) {
  return *at;
}
template <class Value>
Value __ldcg(const Value* at) {
  return *at;
}
template <class Value>
void __stcs(Value* at, Value value) {
  *at = value;
}
// Bytes of both words, the low one's first, each by a digit of four bits.
inline std::uint32_t __byte_perm(std::uint32_t low, std::uint32_t high, std::uint32_t digits) {
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t picked = 0;
  for (unsigned i = 0; i < 4; ++i)
    picked |= static_cast<std::uint32_t>(bytes >> ((digits >> 4 * i & 7) * 8) & 0xFF) << 8 * i;
  return picked;
}
// Products of four pairs of bytes.
inline std::uint32_t __dp4a(std::uint32_t one, std::uint32_t other, std::uint32_t sum) {
  for (unsigned bit = 0; bit < 32; bit += 8) sum += (one >> bit & 0xFF) * (other >> bit & 0xFF);
  return sum;
}
inline std::uint32_t __vimax3_u32(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return std::max(std::max(a, b), c);
}
inline std::uint32_t __funnelshift_l(std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) << shift % 32 >> 32);
}
// Here the shift is no number modulo 32, but at most 32.
inline std::uint32_t __funnelshift_rc(std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> std::min(shift, 32u));
}
inline std::uint32_t __funnelshift_r(std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (shift % 32));
}
template <class One, class Other>
constexpr auto min(One one, Other other) {
  return one < other ? one : static_cast<One>(other);
}
template <class One, class Other>
constexpr auto max(One one, Other other) {
  return one < other ? static_cast<One>(other) : one;
}
