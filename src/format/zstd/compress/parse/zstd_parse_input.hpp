// What the parses of Zstandard take: one block, and the finders' results for its positions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/match.hpp"

namespace hemstitch {

inline constexpr std::size_t kZstdMostFarFinders = 2;

struct ZstdParseInput {
  // What matches may refer to, then the block.
  std::span<const std::byte> data;
  std::size_t history_bytes = 0;  // of `data`
  // One for each position of the block; matches may go on behind it.
  std::span<const MatchRecord> records;         // of hash_chain
  std::span<const std::uint16_t> near_offsets;  // of near_three
  std::array<std::span<const WideRecord>, kZstdMostFarFinders>
      far_records;  // of far; empty if the level has no such finder

  std::size_t block_bytes() const { return data.size() - history_bytes; }
};

}  // namespace hemstitch
