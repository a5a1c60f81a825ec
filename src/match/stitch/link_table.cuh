// What the first kernels of hash_chain and hash_step share: one warp, a table of 16-bit heads in shared memory, and the
// words that it hashes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "match/hash_word.hpp"

namespace hemstitch::cuda {

// A run of positions that one warp hashes, counted from `first`, where its table begins.
struct HashedRun {
  const std::byte* first;
  std::uint32_t positions;
  std::uint64_t
      readable;  // bytes from `first` to the end of the data; positions + 3 or fewer leave none to hash

  __device__ bool hashed(std::uint32_t x) const {
    return x < positions && std::uint64_t{x} + kHashedBytes <= readable;
  }

  // The words of the positions [x, x + kSteps * 32): the warp's lane takes every 32nd. 0 where there is none.
  template <unsigned kSteps>
  __device__ void load_words(std::uint32_t x, std::uint32_t lane, std::uint32_t (&words)[kSteps]) const {
    // Whole words around the lane's; those at the data's edges are put together from bytes.
    if (x >= 4 && std::uint64_t{x} + kSteps * 32 + 8 <= readable) {
      const auto address = reinterpret_cast<std::uintptr_t>(first + x + lane);
      const auto* aligned = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
      const std::uint32_t shift = (address & 3) * 8;
#pragma unroll
      for (unsigned i = 0; i < kSteps; ++i)
        words[i] = __funnelshift_r(__ldg(aligned + i * 8), __ldg(aligned + i * 8 + 1), shift);
    } else {
#pragma unroll
      for (unsigned i = 0; i < kSteps; ++i) {
        const std::uint32_t at = x + i * 32 + lane;
        words[i] = 0;
        if (std::uint64_t{at} + kHashedBytes <= readable)
          for (std::uint32_t k = 0; k < 4; ++k)
            words[i] |= static_cast<std::uint32_t>(first[at + k]) << (8 * k);
      }
    }
  }
};

__device__ inline void clear_heads(std::uint16_t* sh_heads, unsigned hash_bits, std::uint32_t lane) {
  auto* vectors = reinterpret_cast<uint4*>(sh_heads);
  for (std::uint32_t i = lane; i < (1u << hash_bits) / 8; i += 32) vectors[i] = {0, 0, 0, 0};
  __syncwarp();
}
static_assert((1u << kMinHashBits) % 8 == 0);

}  // namespace hemstitch::cuda
