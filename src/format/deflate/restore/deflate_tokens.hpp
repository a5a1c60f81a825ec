// Restores a DEFLATE block's tokens at the processor's speed, far from the ends of input and output. There
// the only check is that a match lies inside the content. Near the ends, the caller continues token by token.
//
// Content is bytes or 16-bit symbols. Symbols are bytes, or stand for bytes that are not known yet
// (stream/deflate_markers.hpp). A match repeats both in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/deflate/restore/deflate_table.hpp"

namespace hemstitch {

// Below this many bytes of input or elements of content, the end is near.
inline constexpr std::ptrdiff_t kDeflateNearInputBytes = 24;  // three words are read ahead
inline constexpr std::ptrdiff_t kDeflateNearOutput = 3 + 258 + 40;

enum class DeflateTokensEnd {
  kNearEnds,
  kBlockEnd,   // its code is taken
  kBadLitlen,  // these bits are not a code
  kBadDistance,
  kBeforeAll,  // a match begins before `before`
};

template <class Element>
struct DeflateTokensRun {
  std::span<const std::byte> input;
  std::uint64_t position_bits = 0;  // of the input: taken before, then including what was restored
  Element* begin = nullptr;         // of the content that matches may repeat
  Element* at = nullptr;            // where the next element goes
  Element* end = nullptr;           // of the room
  std::span<const Element> before =
      {};  // content before `begin` that is elsewhere and may be repeated as well
};

// For std::byte and std::uint16_t. Reads nothing outside the input and writes nothing outside the room.
template <class Element>
DeflateTokensEnd restore_deflate_tokens(const DeflateLitlenTable& litlen,
                                        const DeflateDistanceTable& distance, DeflateTokensRun<Element>& run);

}  // namespace hemstitch
