// What all parses share: from one match record a position to a list of sequences that covers the block.
//
// A parse walks the block from its first byte to its last and decides at each position it comes to: a literal, or a match, and then
// continues after it. Its result is a list of sequences. The last one has only literals (perhaps none), so an encoder need not
// check whether the block ends with a match. Finders know nothing of formats. The limits of a format (core/block_plan.hpp) are
// applied here, by usable_match(), to every record before any parse looks at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/block_plan.hpp"
#include "core/host_device.hpp"
#include "core/match.hpp"
#include "core/sequence.hpp"

namespace hemstitch {

// Record is what the finder wrote: MatchRecord or WideRecord (core/match.hpp).
template <typename Record>
struct BasicParseInput {
  std::span<const Record> records;  // one for each byte of the block
  BlockPlan plan;                   // the format's limits
  // The block itself: for cost models that price each literal (`optimal`).
  std::span<const std::byte> content = {};
  // A second record for each byte: for `optimal`, where a format has another finder besides.
  std::span<const Record> near_records = {};
};
using ParseInput = BasicParseInput<MatchRecord>;

// The part of `record` that may be used at `position` of a block of `block_bytes`: clipped to the format's longest match and to
// where the last match must end. The length is 0 if the rest is too short, the offset too large, or the match would start too late.
template <typename Record>
HEMSTITCH_HOST_DEVICE constexpr Match usable_match(Record record, std::size_t position,
                                                   std::size_t block_bytes, const BlockPlan& plan) {
  if (!is_match(record) || record_offset(record) > plan.max_offset) return {};
  if (position + plan.last_match_start_gap > block_bytes || position + plan.last_match_end_gap > block_bytes)
    return {};
  std::size_t length = record_length(record);
  if (length > plan.max_match_length) length = plan.max_match_length;
  const std::size_t room = block_bytes - plan.last_match_end_gap - position;
  if (length > room) length = room;
  if (length < plan.min_match_length) return {};
  return {record_offset(record), static_cast<std::uint32_t>(length)};
}

// Collects decisions, in order, into sequences.
class SequenceBuilder {
 public:
  void literal() { ++literal_count_; }
  void match(Match match) {
    sequences_.push_back({literal_count_, match.length, match.offset});
    literal_count_ = 0;
  }
  // Ends the list with the literals that are left.
  std::vector<Sequence> finish() {
    sequences_.push_back({literal_count_, 0, 0});
    return std::move(sequences_);
  }

 private:
  std::vector<Sequence> sequences_;
  std::uint32_t literal_count_ = 0;
};

// What a match's offset costs, if the cost model prices offsets.
template <typename Model>
std::uint64_t offset_cost_of(const Model& model, std::uint32_t offset) {
  if constexpr (requires { model.offset_cost(offset); })
    return model.offset_cost(offset);
  else
    return 0;
}

// What a match costs under a cost model.
template <typename Model>
std::uint64_t whole_match_cost(const Model& model, std::uint32_t length, std::uint32_t offset) {
  return model.match_cost(length) + offset_cost_of(model, offset);
}

// What `sequences` cost under a cost model, in its units (sixteenths of a bit).
template <typename Model>
std::uint64_t parse_cost(std::span<const Sequence> sequences, const Model& model) {
  std::uint64_t cost = 0;
  for (const Sequence& sequence : sequences) {
    cost += std::uint64_t{sequence.literal_count} * model.literal_cost();
    if (sequence.match_length != 0) cost += whole_match_cost(model, sequence.match_length, sequence.offset);
  }
  return cost;
}

}  // namespace hemstitch
