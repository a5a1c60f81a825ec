// A part of the block that stays in the first-level cache becomes planes of bytes first (split_planes). 8 bytes
// of such a plane are a square of bits: 8 elements, and their 8 bits. It is transposed in a word, by swapping
// squares of 1, 2 and 4 bits across the diagonal. Byte b of the word then is 8 elements' bits b: a piece of
// plane b. So planes of bits are the bytes of such words, split once more as elements of 8 bytes are. (Swaps:
// Hacker's Delight, transpose8.) The way back is the same in the other order.
#include "compact/bitshuffle/bit_planes.hpp"

#include <algorithm>
#include <bit>

#include "compact/shuffle/byte_planes.hpp"
#include "compact/shuffle/byte_vectors.hpp"
#include "compact/shuffle/shuffle_tuning.hpp"

namespace hemstitch {
namespace {

// Words of a byte's planes that are transposed at once: a vector of each of the 8 planes of bits.
constexpr std::size_t kBits = 8;
constexpr std::size_t kRowBytes = kVectorBytes;
constexpr std::size_t kRunElements = kRowBytes * 8;

// A part of a block: many runs, so that planes are written by whole lines of the cache, in half of a first-level
// cache of 32 KB. Of the largest elements it is one run.
constexpr std::size_t kPartBytes = 16 * 1024;
constexpr std::size_t part_elements(std::uint32_t element_bytes) {
  return std::max(kPartBytes / element_bytes / kRunElements, std::size_t{1}) * kRunElements;
}
constexpr std::size_t kMostPartBytes = kRunElements * kMostElementBytes;
static_assert(kMostPartBytes >= kPartBytes);

// Swaps the bits that `mask` names with those `shift` places higher.
template <class Word>
[[gnu::always_inline]] inline void swap_bits(Word& word, unsigned shift, std::uint64_t mask) {
  const Word differing = (word ^ (word >> shift)) & mask;
  word ^= differing ^ (differing << shift);
}

// Transposes the square whose rows are the bytes of a word, in the order of memory. Where the first byte is the
// highest, rows are in reverse, and the diagonal is the other one.
template <class Word>
[[gnu::always_inline]] inline void transpose_square(Word& word) {
  if constexpr (std::endian::native == std::endian::little) {
    swap_bits(word, 7, 0x00AA00AA00AA00AA);
    swap_bits(word, 14, 0x0000CCCC0000CCCC);
    swap_bits(word, 28, 0x00000000F0F0F0F0);
  } else {
    swap_bits(word, 9, 0x0055005500550055);
    swap_bits(word, 18, 0x0000333300003333);
    swap_bits(word, 36, 0x000000000F0F0F0F);
  }
}

using WordVector = std::uint64_t __attribute__((vector_size(kVectorBytes)));

[[gnu::always_inline]] inline void transpose_squares(ByteVectors<kBits>& vectors) {
  each_of<kBits>([&](std::size_t i) __attribute__((always_inline)) {
    auto words = reinterpret_cast<WordVector>(vectors.at[i]);
    transpose_square(words);
    vectors.at[i] = reinterpret_cast<ByteVector>(words);
  });
}

// A plane of `count` bytes, one of each element, to 8 planes of bits that lie `plane_step` bytes apart. The last
// run overlaps the one before, where there is one.
void split_bits(const std::byte* bytes, std::size_t count, std::byte* planes, std::size_t plane_step) {
  const auto split_run = [&](std::size_t first) {
    ByteVectors<kBits> vectors;
    vectors.load(bytes + first);
    transpose_squares(vectors);
    turn_bytes<4>(vectors);
    vectors.store(planes + first / 8, plane_step);
  };
  if (count >= kRunElements) return for_each_run(kRunElements, count, split_run);
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    transpose_square(word);
    std::byte rows[kBits];
    std::memcpy(rows, &word, sizeof word);
    for (std::size_t bit = 0; bit < kBits; ++bit) planes[bit * plane_step + i / 8] = rows[bit];
  }
}

void join_bits(const std::byte* planes, std::size_t plane_step, std::size_t count, std::byte* bytes) {
  const auto join_run = [&](std::size_t first) {
    ByteVectors<kBits> vectors;
    vectors.load(planes + first / 8, plane_step);
    turn_bytes<3>(vectors);
    transpose_squares(vectors);
    vectors.store(bytes + first);
  };
  if (count >= kRunElements) return for_each_run(kRunElements, count, join_run);
  for (std::size_t i = 0; i < count; i += 8) {
    std::byte rows[kBits];
    for (std::size_t bit = 0; bit < kBits; ++bit) rows[bit] = planes[bit * plane_step + i / 8];
    std::uint64_t word = 0;
    std::memcpy(&word, rows, sizeof word);
    transpose_square(word);
    std::memcpy(bytes + i, &word, sizeof word);
  }
}

// Calls move(first element, how many) for the parts of a block.
template <class Move>
void for_each_part(std::uint32_t element_bytes, std::size_t count, const Move& move) {
  const std::size_t most = part_elements(element_bytes);
  for (std::size_t i = 0; i < count; i += most) move(i, std::min(most, count - i));
}

}  // namespace

void split_bit_planes(const std::byte* elements, std::uint32_t element_bytes, std::size_t count,
                      std::byte* planes) {
  const std::size_t plane_bytes = count / 8;
  if (element_bytes == 1) return split_bits(elements, count, planes, plane_bytes);
  alignas(64) std::byte bytes[kMostPartBytes];
  for_each_part(element_bytes, count, [&](std::size_t first, std::size_t part) {
    split_planes(elements + first * element_bytes, element_bytes, part, bytes, part);
    for (std::size_t k = 0; k < element_bytes; ++k)
      split_bits(bytes + k * part, part, planes + k * kBits * plane_bytes + first / 8, plane_bytes);
  });
}

void join_bit_planes(const std::byte* planes, std::uint32_t element_bytes, std::size_t count,
                     std::byte* elements) {
  const std::size_t plane_bytes = count / 8;
  if (element_bytes == 1) return join_bits(planes, plane_bytes, count, elements);
  alignas(64) std::byte bytes[kMostPartBytes];
  for_each_part(element_bytes, count, [&](std::size_t first, std::size_t part) {
    for (std::size_t k = 0; k < element_bytes; ++k)
      join_bits(planes + k * kBits * plane_bytes + first / 8, plane_bytes, part, bytes + k * part);
    join_planes(bytes, part, element_bytes, part, elements + first * element_bytes);
  });
}

}  // namespace hemstitch
