#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "match/common/counted_length.hpp"
#include "match/common/parallel_find.hpp"
#include "match/common/scan_offsets.hpp"
#include "match/coop_stitch/coop_stitch.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kPiecePositions = 64 * kCoopGroupPositions;

// The matches of one position that others see: at most top_k, all different. An empty entry has length 0.
struct ShownMatches {
  std::array<Match, kMaxTopK> entries;

  // For kLongest: keeps the best ones, in order.
  void insert_longest(Match match, std::uint32_t top_k) {
    if (!better_match(match, entries[top_k - 1])) return;
    std::uint32_t place = top_k - 1;
    for (; place > 0 && better_match(match, entries[place - 1]); --place) entries[place] = entries[place - 1];
    entries[place] = match;
  }

  // For kLongestPerBucket.
  void insert_in_bucket(Match match, std::uint32_t bucket) {
    if (better_match(match, entries[bucket])) entries[bucket] = match;
  }
};

struct Band {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool contains(std::uint32_t offset) const { return offset >= first && offset <= last; }
};

Band band_of(std::uint32_t thread, const FinderParameters& parameters) {
  const std::uint32_t before = parameters.band_origin + thread * parameters.stride;
  return {before + 1, before + parameters.window_size};
}

// Searches for one position of a group.
class Searcher {
 public:
  Searcher(const FinderInput& input, const FinderParameters& parameters, std::size_t position,
           std::uint32_t thread, FindCounters& counters)
      : parameters_(parameters),
        counters_(counters),
        text_(input.data.data() + position),
        limit_(static_cast<std::uint32_t>(
            std::min<std::size_t>(parameters.max_match_len, input.data.size() - position))),
        farthest_(static_cast<std::uint32_t>(std::min<std::size_t>(kMaxRecordOffset, position))),
        band_(band_of(thread, parameters)) {}

  ShownMatches try_own_offsets() {
    ShownMatches shown;
    FindCounters tried;  // local, so that counting stays in registers
    const auto try_offset = [&](std::uint32_t offset) { return try_own(offset, shown, tried); };
    good_in_phase_a_ =
        scan_offsets(text_, 1, std::min(parameters_.near_range, farthest_), tried, try_offset) ||
        scan_offsets(text_, std::max(band_.first, parameters_.near_range + 1),
                     std::min(band_.last, farthest_), tried, try_offset);
    counters_ += tried;
    return shown;
  }

  void try_shown(const ShownMatches& others) {
    if (good_in_phase_a_) return;
    for (std::uint32_t k = 0; k < parameters_.top_k; ++k) {
      const std::uint32_t offset = others.entries[k].offset;
      if (offset == 0 || offset > farthest_) continue;
      const std::uint32_t length = counted_length(text_, text_ - offset, limit_, counters_);
      ++counters_.stitch_probes;
      if (offset <= parameters_.near_range || band_.contains(offset)) ++counters_.repeated_probes;
      if (length >= parameters_.min_match_len && better_match({offset, length}, best_))
        best_ = {offset, length};
    }
  }

  Match best() const { return best_; }

 private:
  // Returns whether the match is good enough to end phase A.
  bool try_own(std::uint32_t offset, ShownMatches& shown, FindCounters& tried) {
    const std::uint32_t length = counted_length(text_, text_ - offset, limit_, tried);
    if (length < parameters_.min_match_len) return false;
    const Match match{offset, length};
    if (better_match(match, best_)) best_ = match;
    if (parameters_.top_k_policy == TopKPolicy::kLongest) {
      shown.insert_longest(match, parameters_.top_k);
    } else if (band_.contains(offset)) {
      const std::uint32_t bucket_offsets =
          (parameters_.window_size + parameters_.top_k - 1) / parameters_.top_k;
      shown.insert_in_bucket(match, (offset - band_.first) / bucket_offsets);
    }
    return parameters_.good_match_len != 0 && length >= parameters_.good_match_len;
  }

  const FinderParameters& parameters_;
  FindCounters& counters_;
  const std::byte* text_;
  std::uint32_t limit_;     // the longest that a match may be here
  std::uint32_t farthest_;  // the largest offset that stays within the data
  Band band_;
  Match best_;
  bool good_in_phase_a_ = false;
};

// Searches for the positions [group_begin, group_end) of the block.
void find_in_group(const FinderInput& input, const FinderParameters& parameters, std::size_t group_begin,
                   std::size_t group_end, CoopStitchResult& result, FindCounters& counters) {
  std::vector<Searcher> searchers;
  std::array<ShownMatches, kCoopGroupPositions> shown;
  searchers.reserve(kCoopGroupPositions);
  for (std::size_t position = group_begin; position < group_end; ++position) {
    const auto thread = static_cast<std::uint32_t>(position - group_begin);
    Searcher& searcher =
        searchers.emplace_back(input, parameters, input.history_bytes + position, thread, counters);
    shown[thread] = searcher.try_own_offsets();
    result.before_stitch[position] = pack_match(searcher.best().offset, searcher.best().length);
  }
  for (std::size_t thread = 0; thread < searchers.size(); ++thread) {
    Searcher& searcher = searchers[thread];
    if (parameters.stitch)
      for (std::size_t other = 0; other < searchers.size(); ++other)
        if (other != thread) searcher.try_shown(shown[other]);
    result.records[group_begin + thread] = pack_match(searcher.best().offset, searcher.best().length);
  }
}

}  // namespace

CoopStitchResult coop_stitch_reference(const FinderInput& input, const FinderParameters& parameters) {
  CoopStitchResult result;
  result.records.resize(input.block_bytes());
  result.before_stitch.resize(input.block_bytes());
  result.counters = find_in_pieces(
      input.block_bytes(), kPiecePositions, [&](std::size_t begin, std::size_t end, auto& sum) {
        for (std::size_t group = begin; group < end; group += kCoopGroupPositions)
          find_in_group(input, parameters, group, std::min<std::size_t>(group + kCoopGroupPositions, end),
                        result, sum);
      });
  return result;
}

void check_parameters(const CoopStitchParameters& p) {
  check_scan_parameters(p);
  require_parameter(p.stride >= 1, "stride", p.stride, "at least 1");
  require_parameter(p.top_k >= 1 && p.top_k <= kMaxTopK, "top_k", p.top_k, fmt::format("1 to {}", kMaxTopK));
  require_parameter(p.top_k_policy == TopKPolicy::kLongest || p.top_k_policy == TopKPolicy::kLongestPerBucket,
                    "top_k_policy", static_cast<std::uint64_t>(p.top_k_policy), "one of the policies");
  const std::uint64_t last_band = std::uint64_t{p.stride} * (kCoopGroupPositions - 1);
  require_parameter(last_band + p.window_size <= kMaxRecordOffset, "stride", p.stride,
                    fmt::format("small enough that {} * stride + window_size ({}) stays within {}",
                                kCoopGroupPositions - 1, p.window_size, kMaxRecordOffset));
  require_parameter(p.band_origin + last_band + p.window_size <= kMaxRecordOffset, "band_origin",
                    p.band_origin,
                    fmt::format("at most {}, so that the last band ends within {}",
                                kMaxRecordOffset - last_band - p.window_size, kMaxRecordOffset));
}

}  // namespace hemstitch
