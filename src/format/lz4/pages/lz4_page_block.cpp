#include <algorithm>
#include <cstring>

#include "format/kept_page.hpp"

namespace hemstitch {
namespace {

// In the LZ4 block format: the largest value of a token's nibble, and the shortest match.
constexpr std::uint32_t kMostOfNibble = 15, kLeastMatchBytes = 4;

// Writes the bytes that extend a token, for the part of `value` that its nibble does not hold.
std::byte* write_extension(std::uint32_t value, std::byte* at) {
  if (value < kMostOfNibble) return at;
  value -= kMostOfNibble;
  for (; value >= 255; value -= 255) *at++ = std::byte{255};
  *at++ = static_cast<std::byte>(value);
  return at;
}

std::byte* write_literals(std::span<const std::byte> literals, std::uint32_t match_nibble, std::byte* at) {
  const auto count = static_cast<std::uint32_t>(literals.size());
  *at++ = static_cast<std::byte>(std::min(count, kMostOfNibble) << 4 | match_nibble);
  at = write_extension(count, at);
  std::memcpy(at, literals.data(), literals.size());
  return at + literals.size();
}

// Adds the bytes that follow a full nibble. False if the block ends first.
bool read_extension(std::span<const std::byte> block, std::size_t& at, std::size_t& value) {
  for (;;) {
    if (at == block.size()) return false;
    const auto more = static_cast<std::size_t>(block[at++]);
    value += more;
    if (more != 255) return true;
  }
}

}  // namespace

bool restores_same_filled(std::span<const std::byte> block, std::uint32_t page_bytes,
                          std::span<std::byte, kPageWordBytes> word) {
  std::size_t at = 0, restored = 0;
  while (at < block.size()) {
    const auto token = static_cast<std::size_t>(block[at++]);
    std::size_t literals = token >> 4;
    if (literals == kMostOfNibble && !read_extension(block, at, literals)) return false;
    if (literals > block.size() - at) return false;
    for (; literals != 0; --literals, ++restored) {
      const std::byte literal = block[at++];
      if (restored < kPageWordBytes)
        word[restored] = literal;
      else if (literal != word[restored % kPageWordBytes])
        return false;
    }
    if (at == block.size()) return restored == page_bytes;

    if (block.size() - at < 2) return false;
    const std::size_t offset = static_cast<std::size_t>(block[at]) | static_cast<std::size_t>(block[at + 1])
                                                                         << 8;
    at += 2;
    if (offset == 0 || offset > restored) return false;
    std::size_t length = token & kMostOfNibble;
    if (length == kMostOfNibble && !read_extension(block, at, length)) return false;
    length += kLeastMatchBytes;
    for (; length != 0 && restored < kPageWordBytes; --length, ++restored)
      word[restored] = word[restored - offset];
    // The bytes before repeat the word, so a word's bytes of the match speak for all of it.
    for (std::size_t i = restored; i < restored + std::min<std::size_t>(length, kPageWordBytes); ++i)
      if (word[i % kPageWordBytes] != word[(i - offset) % kPageWordBytes]) return false;
    restored += length;
  }
  return false;
}

std::uint32_t write_as_block(PageKind kind, std::span<const std::byte> kept, std::uint32_t page_bytes,
                             std::byte* block) {
  std::byte* at = block;
  if (kind == PageKind::kCompressed) {
    std::memcpy(at, kept.data(), kept.size());
    at += kept.size();
  } else if (kind == PageKind::kRaw) {
    at = write_literals(kept, 0, at);
  } else {
    // The word, a match up to the last word, and the last word as literals, since a block must end with
    // literals.
    const std::uint32_t more = page_bytes - 2 * kPageWordBytes - kLeastMatchBytes;
    at = write_literals(kept, kMostOfNibble, at);
    *at++ = static_cast<std::byte>(kPageWordBytes);
    *at++ = std::byte{0};
    at = write_extension(more, at);
    at = write_literals(kept, 0, at);
  }
  return static_cast<std::uint32_t>(at - block);
}

}  // namespace hemstitch
