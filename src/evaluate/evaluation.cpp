#include "evaluate/evaluation.hpp"

#include <algorithm>
#include <chrono>

#include "match/finders.hpp"
#include "parse/choose_matches.hpp"

namespace hemstitch {
namespace {

constexpr int kWarmCalls = 3;

template <typename Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::uint64_t cost_all_lengths_bits(const MatchRecords& records, const FinderParameters& parameters) {
  // Computed backwards: the cost of everything from a position to the end.
  std::vector<std::uint64_t> cost(records.size() + 1, 0);
  for (std::size_t position = records.size(); position-- > 0;) {
    std::uint64_t best = cost[position + 1] + parameters.literal_cost;
    const std::uint32_t longest = std::min(record_length(records[position]), parameters.max_match_len);
    if (longest >= parameters.min_match_len) {
      std::uint64_t cheapest = cost[position + longest];
      for (std::uint32_t length = parameters.min_match_len; length < longest; ++length)
        cheapest = std::min(cheapest, cost[position + length]);
      best = std::min(best, cheapest + parameters.match_fixed_cost);
    }
    cost[position] = best;
  }
  return cost.front();
}

JudgedMatches judge(std::span<const std::byte> data, const MatchRecords& records,
                    const FinderParameters& parameters, const FrameFormat* format) {
  if (format != nullptr) return format->judge(data, records).value();
  JudgedMatches judged{0, choose_matches(records, parameters)};
  std::uint64_t literal_count = records.size();
  for (const PositionedMatch& match : judged.matches) literal_count -= match.length;
  judged.bits = literal_count * parameters.literal_cost + judged.matches.size() * parameters.match_fixed_cost;
  return judged;
}

ParseFigures parse_figures(std::span<const std::byte> data, const MatchRecords& records,
                           const FinderParameters& parameters, const FrameFormat* format) {
  ParseFigures figures;
  const JudgedMatches judged = judge(data, records, parameters, format);
  for (const PositionedMatch& match : judged.matches) {
    ++figures.match_count;
    figures.matched_bytes += match.length;
  }
  figures.literal_count = records.size() - figures.matched_bytes;
  const double raw_bits = 8.0 * static_cast<double>(records.size());
  figures.cost = static_cast<double>(judged.bits) / raw_bits;
  if (format == nullptr)
    figures.cost_all_lengths = static_cast<double>(cost_all_lengths_bits(records, parameters)) / raw_bits;
  return figures;
}

Evaluation evaluate(std::span<const std::byte> data, const FinderChoice& choice, const FrameFormat* format) {
  Evaluation result;
  // Measures latency before all else, since only one call can be the first.
  const FinderInput start{data.first(std::min(data.size(), kLatencyBytes)), 0};
  result.latency_bytes = start.data.size();
  const auto find_and_parse = [&] { judge(start.data, choice.find(start), choice.parameters, format); };
  result.first_call_seconds = result.warm_seconds = seconds_of(find_and_parse);
  for (int call = 0; call < kWarmCalls; ++call) {
    const double seconds = seconds_of(find_and_parse);
    result.warm_seconds = call == 0 ? seconds : std::min(result.warm_seconds, seconds);
  }

  const FinderInput input{data, 0};
  FoundMatches found;
  result.find_seconds = seconds_of([&] { found = choice.find_with_stitch_apart(input); });
  result.first_wrong_position = first_wrong_record(input, found.records);
  if (!result.first_wrong_position && found.before_stitch)
    result.first_wrong_position = first_wrong_record(input, *found.before_stitch);
  result.verified = !result.first_wrong_position;
  result.counters = found.counters;
  result.figures = parse_figures(data, found.records, choice.parameters, format);
  if (found.before_stitch)
    result.without_stitch = parse_figures(data, *found.before_stitch, choice.parameters, format);
  return result;
}

Optimum optimum(std::span<const std::byte> data, std::uint32_t window_bytes,
                const FinderParameters& parameters, const FrameFormat* format) {
  FinderParameters exhaustive = parameters;
  exhaustive.window_size = window_bytes;
  if (format != nullptr) {
    const BlockPlan limits = format->match_limits().value();
    exhaustive.min_match_len = limits.min_match_length;
    exhaustive.max_match_len = std::min<std::uint32_t>(limits.max_match_length, kMaxRecordLength);
  }
  const FoundMatches found = find_reference({data, 0}, BruteForceParameters::from(exhaustive));
  return {window_bytes, parse_figures(data, found.records, exhaustive, format)};
}

}  // namespace hemstitch
