// The content of a DEFLATE block: tokens, each a literal or a match, and how often their symbols occur.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sequence.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

struct DeflateToken {
  std::uint16_t match_length = 0;  // bytes; 0: a literal
  std::uint16_t value = 0;         // the literal, or the match's offset

  std::size_t content_bytes() const { return match_length == 0 ? 1 : match_length; }
};

// The tokens of `sequences`, which must cover `content` with matches of DEFLATE's lengths and offsets.
inline std::vector<DeflateToken> deflate_tokens(std::span<const std::byte> content,
                                                std::span<const Sequence> sequences) {
  std::vector<DeflateToken> tokens;
  std::size_t position = 0;
  for (const Sequence& sequence : sequences) {
    for (std::uint32_t i = 0; i < sequence.literal_count; ++i)
      tokens.push_back({0, static_cast<std::uint16_t>(content[position++])});
    if (sequence.match_length == 0) continue;
    tokens.push_back(
        {static_cast<std::uint16_t>(sequence.match_length), static_cast<std::uint16_t>(sequence.offset)});
    position += sequence.match_length;
  }
  return tokens;
}

// How often each symbol occurs, without the end of the block.
struct DeflateHistogram {
  std::array<std::uint32_t, kDeflateLitlenCount> litlen = {};
  std::array<std::uint32_t, kDeflateDistanceCount> distance = {};

  void add(const DeflateToken& token) {
    if (token.match_length == 0) {
      ++litlen[token.value];
    } else {
      ++litlen[deflate_length_symbol(token.match_length)];
      ++distance[deflate_distance_symbol(token.value)];
    }
  }
  void add(const DeflateHistogram& other) {
    for (std::size_t i = 0; i < litlen.size(); ++i) litlen[i] += other.litlen[i];
    for (std::size_t i = 0; i < distance.size(); ++i) distance[i] += other.distance[i];
  }
};

}  // namespace hemstitch
