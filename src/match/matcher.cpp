// The public face of the finders: one switch, one parse.
#include <fmt/format.h>

#include <algorithm>

#include "core/status.hpp"
#include "match/find.hpp"
#include "parse/optimal/optimal.hpp"

namespace hemstitch {

MatchRecords find_reference(Finder finder, const FinderInput& input, const FinderParameters& parameters,
                            SearchCounters& counters) {
  switch (finder) {
    case Finder::kBruteForce:
      return brute_force_reference(input, parameters, counters);
    case Finder::kLazyScan:
      return lazy_scan_reference(input, parameters, counters);
    case Finder::kWindowIndex:
      return window_index_reference(input, parameters, counters);
    case Finder::kCoopStitch: {
      CoopStitchResult result = coop_stitch_reference(input, parameters);
      counters += result.counters;
      return std::move(result.records);
    }
  }
  throw Error(Status::kInvalidOption,
              fmt::format("finder {} is none of the finders", static_cast<int>(finder)));
}

std::optional<std::size_t> first_wrong_record(const FinderInput& input, const MatchRecords& records) {
  for (std::size_t index = 0; index < records.size(); ++index) {
    if (records[index] == 0) continue;
    const std::size_t position = input.history_bytes + index;
    const std::size_t offset = record_offset(records[index]);
    const std::size_t length = record_length(records[index]);
    if (offset == 0 || offset > position || length == 0 || length > input.data.size() - position)
      return index;
    const std::byte* text = input.data.data() + position;
    if (!std::equal(text, text + length, text - offset)) return index;
  }
  return std::nullopt;
}

std::vector<PositionedMatch> choose_matches(const MatchRecords& records, const FinderParameters& parameters) {
  FullLengthCostModel costs;
  costs.literal_cost_bits = parameters.literal_cost;
  costs.match_fixed_cost_bits = parameters.match_fixed_cost;
  const BlockPlan plan = lzss_block_plan(parameters.min_match_len, parameters.max_match_len);

  std::vector<PositionedMatch> matches;
  std::uint64_t position = 0;
  for (const Sequence& sequence : parse_optimal_exact({records, plan}, costs)) {
    position += sequence.literal_count;
    if (sequence.match_length != 0) matches.push_back({position, sequence.offset, sequence.match_length});
    position += sequence.match_length;
  }
  return matches;
}

LzssMatcher::LzssMatcher(const FinderParameters& parameters, Finder finder, std::string_view backend)
    : parameters_(parameters), finder_(finder) {
  if (backend != "reference")
    throw Error(Status::kUnknownBackend,
                fmt::format("backend '{}' finds no matches; there is: reference", backend));
  check_finder_parameters(finder, parameters);
}

std::vector<std::uint32_t> LzssMatcher::find_candidates(std::span<const std::byte> input,
                                                        std::size_t history_bytes) const {
  if (history_bytes > input.size())
    throw Error(Status::kInvalidOption,
                fmt::format("history_bytes is {}, but the input has {} bytes", history_bytes, input.size()));
  const FinderInput finder_input{input, history_bytes};
  SearchCounters counters;
  MatchRecords records = find_reference(finder_, finder_input, parameters_, counters);
#ifndef NDEBUG
  if (const auto wrong = first_wrong_record(finder_input, records))
    throw Error(Status::kInternal, fmt::format("the candidate at position {} is no match", *wrong));
#endif
  return records;
}

std::vector<PositionedMatch> LzssMatcher::find_matches(std::span<const std::byte> input) const {
  return choose_matches(find_candidates(input), parameters_);
}

}  // namespace hemstitch
