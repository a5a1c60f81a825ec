// A DEFLATE block's tokens at the processor's speed, far from the ends of input and output: there nothing is checked but that a match
// lies inside the content. Whoever calls goes on token by token near the ends.
//
// Content is bytes, or 16-bit symbols: bytes, and what stands for bytes that are not known yet (stream/deflate_markers.hpp). To a match it
// is one whether it repeats the one or the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/deflate/restore/deflate_table.hpp"

namespace hemstitch {

// From these on, in bytes of input and elements of content, the ends are near.
inline constexpr std::ptrdiff_t kDeflateNearInputBytes = 24;  // three words are read ahead
inline constexpr std::ptrdiff_t kDeflateNearOutput = 3 + 258 + 40;

enum class DeflateTokensEnd {
  kNearEnds,
  kBlockEnd,   // its code is taken
  kBadLitlen,  // what stands there is no code
  kBadDistance,
  kBeforeAll,  // a match reaches back behind `before`
};

template <class Element>
struct DeflateTokensRun {
  std::span<const std::byte> input;
  std::uint64_t position_bits = 0;  // of the input: taken before, and with what was restored
  Element* begin = nullptr;         // of the content that matches may repeat
  Element* at = nullptr;            // where the next one goes
  Element* end = nullptr;           // of the room
  std::span<const Element> before =
      {};  // content before `begin` that stands elsewhere, and may be repeated as well
};

// Of std::byte and std::uint16_t. Reads nothing outside the input and writes nothing outside the room.
template <class Element>
DeflateTokensEnd restore_deflate_tokens(const DeflateLitlenTable& litlen,
                                        const DeflateDistanceTable& distance, DeflateTokensRun<Element>& run);

}  // namespace hemstitch
