// One position against many offsets, one after the other: what brute_force and phase A of coop_stitch do.
//
// A thread compares its position's leading bytes with 32 candidates at once. Candidates are the bytes of eight
// words; byte b of (words ^ first byte everywhere) | (words one byte on ^ second byte everywhere) | .. is 0 where the
// candidate that begins at b agrees in all leading bytes. Finding zero bytes is a subtraction and an AND. So a
// candidate costs between two and three instructions, and a byte of text one 32nd of two 16-byte loads; the threads of
// a warp, whose positions are neighbours, read the same lines. Candidates that pass go to the caller, who compares in full. (The
// subtraction may also pass a candidate right after one that agrees; the caller's comparison rejects it.)
#pragma once

#include <cstdint>

#include "match/common/cuda/device_text.cuh"

namespace hemstitch::cuda {

// The leading bytes of a position, each repeated over a word.
template <unsigned kKeyBytes>
struct SpreadKey {
  static_assert(kKeyBytes == 3 || kKeyBytes == 4);

  __device__ explicit SpreadKey(std::uint32_t leading_word) {
    for (unsigned i = 0; i < kKeyBytes; ++i) bytes[i] = __byte_perm(leading_word, 0, 0x1111 * i);
  }

  // Bit 7 of each byte of `word` at which the key begins; `next` is the word that follows it.
  __device__ std::uint32_t places(std::uint32_t word, std::uint32_t next) const {
    std::uint32_t differs = (word ^ bytes[0]) | (__funnelshift_r(word, next, 8) ^ bytes[1]);
    differs |= __funnelshift_r(word, next, 16) ^ bytes[2];
    if constexpr (kKeyBytes == 4) differs |= __funnelshift_r(word, next, 24) ^ bytes[3];
    return (differs - 0x01010101u) & ~differs & 0x80808080u;
  }

  std::uint32_t bytes[kKeyBytes];
};

// Takes, in ascending order, the offsets first..last at which `position` and its candidate may agree in kKeyBytes bytes: all at
// which they do, and few others. If is_worth(offset), calls compare(offset), until one call returns true. Returns whether one did.
// is_worth is cheap and compare expensive: a warp's threads call compare together, each with its next offset that is worth it.
// `position` has at least kKeyBytes bytes left, and `last` bytes before it in the text.
template <unsigned kKeyBytes, typename IsWorth, typename Compare>
__device__ bool scan_offsets(const DeviceText& text, std::uint32_t position, std::uint32_t first,
                             std::uint32_t last, const IsWorth& is_worth, const Compare& compare) {
  constexpr std::uint32_t kStep = 32;  // bytes: two loads of 16
  if (first > last) return false;
  const SpreadKey<kKeyBytes> key(text.word(position));
  const std::uint32_t last_step = (position - last) & ~(kStep / 2 - 1);
  // Steps go down in addresses and end at the 16 bytes that hold the last candidate, or half a step below.
  std::uint32_t step = ((position - first) & ~(kStep / 2 - 1)) - kStep / 2;
  std::uint32_t above = text.aligned_word(step + kStep);
  while (true) {
    const uint4 high = text.aligned_words(step + 16);
    const uint4 low = text.aligned_words(step);
    // Candidate 4 * i + s of the step is bit 8 * s + i.
    std::uint32_t found = key.places(high.w, above) | key.places(high.z, high.w) >> 1 |
                          key.places(high.y, high.z) >> 2 | key.places(high.x, high.y) >> 3 |
                          key.places(low.w, high.x) >> 4 | key.places(low.z, low.w) >> 5 |
                          key.places(low.y, low.z) >> 6 | key.places(low.x, low.y) >> 7;
    while (true) {
      std::uint32_t offset = 0;
      while (found != 0 && offset == 0) {
        std::uint32_t words = found | found >> 16;
        words = (words | words >> 8) & 0xFF;
        const std::uint32_t i = 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(words)));
        const std::uint32_t bytes = found >> i & 0x01010101u;
        const std::uint32_t bit = 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(bytes)));
        found &= ~(1u << (bit + i));
        const std::uint32_t candidate_offset = position - (step + 4 * i + bit / 8);
        if (candidate_offset >= first && candidate_offset <= last && is_worth(candidate_offset))
          offset = candidate_offset;
      }
      if (offset == 0) break;
      if (compare(offset)) return true;
    }
    if (static_cast<std::int32_t>(step - last_step) <= 0) return false;
    above = low.x;
    step -= kStep;
  }
}

}  // namespace hemstitch::cuda
