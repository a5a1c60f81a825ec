// The lower half of XXH64 with seed 0, which frames of Zstandard have of their content, as its specification (xxhash.com, "XXH64
// algorithm description") gives it.
//
// Four lanes compute one: each has an accumulator, and reads every fourth word of 8 bytes. Words are put together from aligned ones of 4
// bytes. In the first and last stripe, these may lie partly outside, so bytes are read one by one. CPU twin: xxHash's XXH64().
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

namespace zstd_hash {
inline constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                               kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                               kPrime5 = 0x27D4EB2F165667C5;
inline constexpr unsigned kStripeBytes = 32, kWordBytes = 8;

__device__ inline std::uint64_t rotated(std::uint64_t word, unsigned bits) {
  return word << bits | word >> (64 - bits);
}
__device__ inline std::uint64_t round_of(std::uint64_t accumulator, std::uint64_t word) {
  return rotated(accumulator + word * kPrime2, 31) * kPrime1;
}
__device__ inline std::uint64_t word_by_bytes(const std::uint8_t* d_bytes, unsigned count) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < count; ++i) word |= std::uint64_t{d_bytes[i]} << (8 * i);
  return word;
}
}  // namespace zstd_hash

inline constexpr unsigned kZstdHashLanes = 4;

// Called by the four lanes that `lanes` names, in order with `part` 0 to 3. All get the result.
__device__ inline std::uint32_t zstd_content_hash(const std::uint8_t* d_bytes, std::uint64_t size,
                                                  unsigned part, unsigned lanes) {
  using namespace zstd_hash;
  const std::uint64_t stripes = size / kStripeBytes;
  std::uint64_t hash = kPrime5;
  if (stripes != 0) {
    std::uint64_t accumulator = part == 0   ? kPrime1 + kPrime2
                                : part == 1 ? kPrime2
                                : part == 2 ? 0
                                            : 0 - kPrime1;
    const std::uint8_t* const d_own = d_bytes + part * kWordBytes;
    accumulator = round_of(accumulator, word_by_bytes(d_own, kWordBytes));
    const auto address = reinterpret_cast<std::uintptr_t>(d_own);
    const auto* d_words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    const auto shift = static_cast<unsigned>(address % 4 * 8);
    constexpr unsigned kBatch = 4;
    std::uint64_t stripe = 1;
    for (; stripe + kBatch < stripes; stripe += kBatch) {
      std::uint64_t words[kBatch];
#pragma unroll
      for (unsigned i = 0; i < kBatch; ++i) {
        const std::uint32_t* d_word = d_words + (stripe + i) * (kStripeBytes / 4);
        const std::uint32_t w0 = d_word[0], w1 = d_word[1], w2 = d_word[2];
        words[i] = std::uint64_t{__funnelshift_r(w1, w2, shift)} << 32 | __funnelshift_r(w0, w1, shift);
      }
#pragma unroll
      for (unsigned i = 0; i < kBatch; ++i) accumulator = round_of(accumulator, words[i]);
    }
    for (; stripe < stripes; ++stripe)
      accumulator = round_of(accumulator, word_by_bytes(d_own + stripe * kStripeBytes, kWordBytes));
    hash = 0;
    std::uint64_t all[kZstdHashLanes];
#pragma unroll
    for (unsigned i = 0; i < kZstdHashLanes; ++i) {
      constexpr unsigned kRotations[] = {1, 7, 12, 18};
      all[i] = __shfl_sync(lanes, accumulator, static_cast<int>((threadIdx.x % 32 & ~3u) + i));
      hash += rotated(all[i], kRotations[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < kZstdHashLanes; ++i) hash = (hash ^ round_of(0, all[i])) * kPrime1 + kPrime4;
  }
  hash += size;
  std::uint64_t at = stripes * kStripeBytes;
  for (; at + 8 <= size; at += 8)
    hash = rotated(hash ^ round_of(0, word_by_bytes(d_bytes + at, 8)), 27) * kPrime1 + kPrime4;
  for (; at + 4 <= size; at += 4)
    hash = rotated(hash ^ word_by_bytes(d_bytes + at, 4) * kPrime1, 23) * kPrime2 + kPrime3;
  for (; at < size; ++at) hash = rotated(hash ^ d_bytes[at] * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace hemstitch::cuda
