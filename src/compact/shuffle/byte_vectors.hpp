// Vectors of 16 bytes in the compiler's own words, so that every processor's are used: what byte shuffle and bit
// shuffle are made of.
//
// `turn_bytes` is the one step. Count the bytes of N vectors through, vector by vector, and write such a number
// in binary. Interleaving vector j with vector j + N / 2, into vectors 2j and 2j + 1, moves every byte to the
// place whose number is its own rotated left by one bit. 16 elements of N bytes are numbered [element][byte of
// it]; planes are [byte][element]. An element's number has 4 bits: so four rounds make planes, and as many
// rounds as a byte's number has bits lead back. (The same network as Blosc's shuffle for SSE2, without its
// order of instructions.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace hemstitch {

inline constexpr std::size_t kVectorBytes = 16;
using ByteVector = std::uint8_t __attribute__((vector_size(kVectorBytes)));

// Calls visit(0), ..., visit(kCount - 1), written out: vectors stay in registers, whatever the optimisation.
template <std::size_t kCount, class Visit>
[[gnu::always_inline]] inline void each_of(const Visit& visit) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) __attribute__((always_inline)) {
    (visit(kIndex), ...);
  }
  (std::make_index_sequence<kCount>());
}

template <std::size_t kVectors>
struct ByteVectors {
  ByteVector at[kVectors];

  // From and to vectors that lie `step` bytes apart.
  [[gnu::always_inline]] void load(const std::byte* from, std::size_t step = kVectorBytes) {
    each_of<kVectors>([&](std::size_t i) __attribute__((always_inline)) {
      std::memcpy(&at[i], from + i * step, kVectorBytes);
    });
  }
  [[gnu::always_inline]] void store(std::byte* to, std::size_t step = kVectorBytes) const {
    each_of<kVectors>([&](std::size_t i) __attribute__((always_inline)) {
      std::memcpy(to + i * step, &at[i], kVectorBytes);
    });
  }
};

template <unsigned kRounds, std::size_t kVectors>
[[gnu::always_inline]] inline void turn_bytes(ByteVectors<kVectors>& vectors) {
  each_of<kRounds>([&](std::size_t) __attribute__((always_inline)) {
    const ByteVectors<kVectors> old = vectors;
    each_of<kVectors / 2>([&](std::size_t i) __attribute__((always_inline)) {
      const ByteVector one = old.at[i], other = old.at[i + kVectors / 2];
      vectors.at[2 * i] =
          __builtin_shufflevector(one, other, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      vectors.at[2 * i + 1] =
          __builtin_shufflevector(one, other, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    });
  });
}

// Calls move(first element of a run) so that runs of `run` elements cover all `count`: the last may overlap the one
// before. There are at least as many elements as a run has.
template <class Move>
[[gnu::always_inline]] inline void for_each_run(std::size_t run, std::size_t count, const Move& move) {
  for (std::size_t i = 0; i + run <= count; i += run) move(i);
  if (count % run != 0) move(count - run);
}

}  // namespace hemstitch
