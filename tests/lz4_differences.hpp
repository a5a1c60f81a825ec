// Where we are meant to differ from liblz4 1.9.4 and its tool in what we make of damaged or crafted data: the one list of
// it, for tests and for fuzzing. docs/formats/lz4.md has it as a table ("Where we differ from lz4"); each of its rows is
// an Lz4Difference here.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/block_plan.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "lz4f_oracle.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// ---- Blocks ----

// What stands in a block, read as the format says it.
struct Lz4BlockFacts {
  bool adds_up = false;  // sequences with matches, then one of literals alone that ends with the block
  bool has_zero_offset = false;  // among those that are complete
  bool keeps_end_rules = true;   // "End of block conditions", where it adds up
  std::uint64_t restored_bytes = 0;
};

inline Lz4BlockFacts lz4_block_facts(std::span<const std::byte> block) {
  Lz4BlockFacts facts;
  std::size_t at = 0;
  std::uint64_t last_match_start = 0, last_match_end = 0;
  bool has_match = false;
  const auto extended = [&](std::uint64_t number) -> std::optional<std::uint64_t> {
    if (number < 15) return number;
    for (;;) {
      if (at == block.size()) return std::nullopt;
      const auto more = static_cast<std::uint8_t>(block[at++]);
      number += more;
      if (more != 255) return number;
    }
  };
  while (at < block.size()) {
    const auto token = static_cast<std::uint8_t>(block[at++]);
    const auto literals = extended(token >> 4);
    if (!literals || *literals > block.size() - at) return facts;
    at += static_cast<std::size_t>(*literals);
    facts.restored_bytes += *literals;
    if (at == block.size()) {
      facts.adds_up = true;
      if (has_match)
        facts.keeps_end_rules =
            facts.restored_bytes - last_match_start >= lz4_block_plan().last_match_start_gap &&
            facts.restored_bytes - last_match_end >= lz4_block_plan().last_match_end_gap;
      return facts;
    }
    if (block.size() - at < 2) return facts;
    if (block[at] == std::byte{0} && block[at + 1] == std::byte{0}) facts.has_zero_offset = true;
    at += 2;
    const auto code = extended(token & 15);
    if (!code) return facts;
    has_match = true;
    last_match_start = facts.restored_bytes;
    facts.restored_bytes += *code + 4;
    last_match_end = facts.restored_bytes;
  }
  return facts;
}

// Whether restoring `block` into `room` bytes gave what it is meant to: ours, and liblz4's. Nothing: it was refused.
inline bool lz4_block_as_meant(std::span<const std::byte> block, std::size_t room,
                               const std::optional<Bytes>& ours, const std::optional<Bytes>& liblz4) {
  const Lz4BlockFacts facts = lz4_block_facts(block);
  if (!ours) return !liblz4 || facts.has_zero_offset;
  if (!facts.adds_up || facts.has_zero_offset || ours->size() != facts.restored_bytes) return false;
  if (liblz4) return *ours == *liblz4;
  // Into no room, liblz4 takes a token of 0 and nothing else.
  return !facts.keeps_end_rules || facts.restored_bytes < room || room == 0;
}

// ---- Frames ----

enum class Lz4Difference {
  kNone,
  kOffsetZero,
  kEndOfBlock,
  kDictionaryId,
  kContentSizeZero,
  kFourBytesTooMany,  // the tool's alone: liblz4 itself is told which bytes are left
  kNoBytes,
  kLegacyFrame  // liblz4's frame functions' alone: the tool has others for it
};

struct Lz4Outcome {
  Status status = Status::kOk;
  Bytes content;  // also what was given before an error
  bool operator==(const Lz4Outcome&) const = default;
};

// What in the data calls for a difference; all of it, since a frame may have several.
inline std::vector<Lz4Difference> lz4_differences_in(std::span<const std::byte> data) {
  std::vector<Lz4Difference> found;
  Lz4FrameParser parser(true);
  try {
    for (;;) {
      const auto at = static_cast<std::size_t>(parser.position() + parser.held_bytes());
      const auto bytes = data.subspan(at, std::min(parser.wanted_bytes(), data.size() - at));
      const auto event = parser.step(bytes);
      if (event == Lz4FrameParser::Event::kEnd || event == Lz4FrameParser::Event::kGarbage) return found;
      if (event == Lz4FrameParser::Event::kSkip)
        parser.skipped(std::min<std::uint64_t>(parser.skip_bytes(), data.size() - parser.position()));
      if (event == Lz4FrameParser::Event::kFrameBegin) {
        if (parser.header().legacy) found.push_back(Lz4Difference::kLegacyFrame);
        if (parser.header().dictionary_id) found.push_back(Lz4Difference::kDictionaryId);
        if (parser.header().content_bytes == 0u) found.push_back(Lz4Difference::kContentSizeZero);
        if (parser.header().block_checksums && !parser.header().content_checksum)
          found.push_back(Lz4Difference::kFourBytesTooMany);
      }
      if (event != Lz4FrameParser::Event::kBlockEnd || parser.block().stored) continue;
      const Lz4BlockFacts facts = lz4_block_facts(bytes.first(parser.block().data_bytes));
      if (facts.has_zero_offset) found.push_back(Lz4Difference::kOffsetZero);
      if (facts.adds_up && !facts.keeps_end_rules) found.push_back(Lz4Difference::kEndOfBlock);
    }
  } catch (const Error&) {
    return found;  // all refuse it here at the latest
  }
}

// How what liblz4 or its tool made of the data (nothing: refused it) differs from what we did. Nothing where it does so in a
// way that is not meant.
inline std::optional<Lz4Difference> lz4_difference_of(std::span<const std::byte> data, const Lz4Outcome& ours,
                                                      const std::optional<Bytes>& theirs) {
  const bool restored = ours.status == Status::kOk;
  if (restored == theirs.has_value() && (!restored || ours.content == *theirs)) return Lz4Difference::kNone;
  const std::vector<Lz4Difference> found = lz4_differences_in(data);
  const auto may_be = [&](Lz4Difference difference) {
    return std::ranges::find(found, difference) != found.end();
  };
  if (data.empty()) return Lz4Difference::kNoBytes;
  if (!restored && theirs) {
    if (ours.status == Status::kCorruptBlock && may_be(Lz4Difference::kOffsetZero))
      return Lz4Difference::kOffsetZero;
    if (ours.status == Status::kDictionaryNeeded && may_be(Lz4Difference::kDictionaryId))
      return Lz4Difference::kDictionaryId;
    if (ours.status == Status::kContentSizeMismatch && may_be(Lz4Difference::kContentSizeZero))
      return Lz4Difference::kContentSizeZero;
  } else if (restored && !theirs) {
    if (may_be(Lz4Difference::kLegacyFrame)) return Lz4Difference::kLegacyFrame;
    if (may_be(Lz4Difference::kEndOfBlock)) return Lz4Difference::kEndOfBlock;
    if (may_be(Lz4Difference::kFourBytesTooMany) && lz4f_restore(data) == ours.content)
      return Lz4Difference::kFourBytesTooMany;
  }
  return std::nullopt;
}

}  // namespace hemstitch::testing
