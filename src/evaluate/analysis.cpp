#include "evaluate/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/status.hpp"
#include "evaluate/evaluation.hpp"
#include "match/finders.hpp"

namespace hemstitch {
namespace {

template <std::size_t Count>
std::size_t class_of(std::uint32_t value, const std::array<std::uint32_t, Count>& ends) {
  return static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end() - 1, value) - ends.begin());
}

std::uint32_t usable_length(MatchRecord record, const FinderParameters& parameters) {
  const std::uint32_t length = std::min(record_length(record), parameters.max_match_len);
  return length >= parameters.min_match_len ? length : 0;
}

}  // namespace

std::size_t distance_class(std::uint32_t offset) { return class_of(offset, kDistanceClassEnds); }
std::size_t length_class(std::uint32_t length) { return class_of(length, kLengthClassEnds); }

MatchAnalysis analyze(std::span<const std::byte> data, const FinderChoice& choice,
                      const MatchRecords& records, const FrameFormat* format) {
  if (const auto wrong = first_wrong_record({data, 0}, records))
    throw Error(Status::kInternal,
                fmt::format("{}: the match at position {} refers to different bytes", choice.name, *wrong));
  MatchAnalysis analysis;
  analysis.finder = choice.name;
  JudgedMatches judged = judge(data, records, choice.parameters, format);
  analysis.matches = std::move(judged.matches);
  for (const PositionedMatch& match : analysis.matches)
    for (MatchShare* share : {&analysis.all, &analysis.by_distance[distance_class(match.offset)],
                              &analysis.by_length[length_class(match.length)]}) {
      ++share->match_count;
      share->matched_bytes += match.length;
    }
  analysis.literal_count = data.size() - analysis.all.matched_bytes;
  analysis.cost = static_cast<double>(judged.bits) / (8.0 * static_cast<double>(data.size()));
  return analysis;
}

FinderComparison compare_candidates(const MatchRecords& first, const MatchRecords& second,
                                    const FinderParameters& parameters) {
  FinderComparison comparison;
  for (std::size_t position = 0; position < first.size(); ++position) {
    const std::uint32_t a = usable_length(first[position], parameters);
    const std::uint32_t b = usable_length(second[position], parameters);
    ++(a > b ? comparison.longer : a == b ? comparison.equal : comparison.shorter);
  }
  return comparison;
}

}  // namespace hemstitch
