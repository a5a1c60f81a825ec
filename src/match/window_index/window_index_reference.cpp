#include <algorithm>
#include <array>

#include "match/common/counted_length.hpp"
#include "match/common/parallel_find.hpp"
#include "match/window_index/window_index.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kTableBits = 11;  // two heads for each indexed position
constexpr std::uint16_t kNone = 0xFFFF;
constexpr std::size_t kPieceGroups = 16;

// A group: the positions [begin, end) of the data, at most kMaxIndexedPositions.
class Group {
 public:
  Group(const FinderInput& input, const FinderParameters& parameters, std::size_t begin, std::size_t end,
        FindCounters& counters)
      : data_(input.data),
        parameters_(parameters),
        begin_(begin),
        end_(end),
        key_bytes_(std::min(parameters.min_match_len, 4u)),
        counters_(counters) {
    heads_.fill(kNone);
  }

  void index_positions() {
    for (std::size_t position = begin_; position < end_; ++position) {
      if (data_.size() - position < parameters_.min_match_len) break;
      const std::size_t nearest = std::min<std::size_t>({position, kRunOffsets, parameters_.window_size});
      for (std::size_t offset = 1; offset <= nearest; ++offset) compare(position, position - offset);
      if (best_[position - begin_].length >= kRunLength) continue;
      std::uint16_t& head = heads_[hash_at(position)];
      next_[position - begin_] = head;
      head = static_cast<std::uint16_t>(position - begin_);
    }
  }

  void stream_candidates() {
    const std::size_t oldest = begin_ - std::min<std::size_t>(begin_, parameters_.window_size);
    for (std::size_t candidate = oldest; candidate + 1 < end_; ++candidate) {
      if (data_.size() - candidate < parameters_.min_match_len) break;
      ++counters_.lookups;
      for (std::uint16_t index = heads_[hash_at(candidate)]; index != kNone; index = next_[index]) {
        const std::size_t position = begin_ + index;
        if (candidate < position && position - candidate <= parameters_.window_size)
          compare(position, candidate);
      }
    }
  }

  MatchRecord record(std::size_t position) const {
    const Match best = best_[position - begin_];
    return best.length >= parameters_.min_match_len ? pack_match(best.offset, best.length) : 0;
  }

 private:
  void compare(std::size_t position, std::size_t candidate) {
    const auto limit =
        static_cast<std::uint32_t>(std::min<std::size_t>(parameters_.max_match_len, data_.size() - position));
    const std::byte* text = data_.data() + position;
    const Match match{static_cast<std::uint32_t>(position - candidate),
                      counted_length(text, data_.data() + candidate, limit, counters_)};
    Match& best = best_[position - begin_];
    if (better_match(match, best)) best = match;
  }

  std::uint32_t hash_at(std::size_t position) const {
    std::uint32_t key = 0;
    std::memcpy(&key, data_.data() + position, key_bytes_);
    return key * 0x9E3779B1u >> (32 - kTableBits);
  }

  std::span<const std::byte> data_;
  const FinderParameters& parameters_;
  std::size_t begin_;
  std::size_t end_;
  std::uint32_t key_bytes_;
  FindCounters& counters_;
  std::array<std::uint16_t, std::size_t{1} << kTableBits> heads_;
  std::array<std::uint16_t, kMaxIndexedPositions> next_;
  std::array<Match, kMaxIndexedPositions> best_;
};

}  // namespace

MatchRecords window_index_reference(const FinderInput& input, const FinderParameters& parameters,
                                    FindCounters& counters, std::uint32_t group_positions) {
  MatchRecords records(input.block_bytes());
  const std::size_t piece = kPieceGroups * group_positions;
  counters += find_in_pieces(records.size(), piece, [&](std::size_t begin, std::size_t end, auto& sum) {
    for (std::size_t first = begin; first < end; first += group_positions) {
      const std::size_t last = std::min<std::size_t>(first + group_positions, end);
      Group group(input, parameters, input.history_bytes + first, input.history_bytes + last, sum);
      group.index_positions();
      group.stream_candidates();
      for (std::size_t position = first; position < last; ++position)
        records[position] = group.record(input.history_bytes + position);
    }
  });
  return records;
}

}  // namespace hemstitch
