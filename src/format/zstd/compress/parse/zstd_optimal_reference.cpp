#include <algorithm>
#include <array>

#include "core/between_pieces.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "format/zstd/compress/parse/zstd_optimal.hpp"
#include "match/common/common_length.hpp"
#include "parse/parse.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kLeastLength = 3;

class ZstdOptimalParse {
 public:
  ZstdOptimalParse(const ZstdParseInput& input, const ZstdPrices& prices, const ZstdPass& pass)
      : input_(input), prices_(prices), pass_(pass), decisions_(input.block_bytes()) {}

  std::vector<Sequence> run() {
    const std::size_t block_bytes = input_.block_bytes();
    for (std::size_t begin = 0; begin < block_bytes; begin += kZstdSegmentBytes) {
      const std::size_t end = std::min(begin + kZstdSegmentBytes, block_bytes);
      solve(begin, end, std::min(end + kZstdLookAheadBytes, block_bytes));
    }
    SequenceBuilder sequences;
    for (std::size_t position = 0; position < block_bytes;) {
      Match match = decisions_[position];
      if (match.length >= kFarCutBytes)
        match.length = static_cast<std::uint32_t>(agreement(position, match.offset, block_bytes - position));
      if (match.length == 0) {
        sequences.literal();
        ++position;
      } else {
        sequences.match(match);
        position += match.length;
      }
    }
    return sequences.finish();
  }

 private:
  struct State {
    std::int32_t cost = 0;
    std::int32_t run = kNoMatch;
    std::array<std::uint32_t, 3> next{};     // 0: not so many
    std::array<bool, 3> follows_directly{};  // not kept for next[0], of which `run` says it
  };
  static constexpr std::int32_t kNoMatch = -1;

  void solve(std::size_t begin, std::size_t end, std::size_t horizon) {
    states_.assign(horizon - begin + 1, {});
    tried_ = {};
    Match last_choice;
    for (std::size_t position = horizon; position-- > begin; positions_.next()) {
      const State& behind = states_[position + 1 - begin];
      State best = behind;
      best.cost += prices_.literal[static_cast<std::size_t>(input_.data[input_.history_bytes + position])];
      if (behind.run != kNoMatch) {
        ++best.run;
        best.cost += prices_.run[static_cast<std::size_t>(best.run)] -
                     prices_.run[static_cast<std::size_t>(behind.run)];
      }
      Match choice;
      offsets_done_.clear();
      const auto consider = [&](std::uint32_t offset, std::size_t length) {
        length = std::min(length, kZstdMostSolvedBytes);
        if (length < kLeastLength || std::ranges::find(offsets_done_, offset) != offsets_done_.end()) return;
        offsets_done_.push_back(offset);
        const std::size_t least =
            std::max<std::size_t>(kLeastLength, length - std::min<std::size_t>(length, pass_.shorter));
        for (; length >= least; --length) {
          const State& after = states_[std::min(position + length, horizon) - begin];
          const State state = before_match(offset, length, after);
          if (state.cost >= best.cost) continue;
          best = state;
          choice = {offset, static_cast<std::uint32_t>(length)};
        }
      };
      consider_found(position, consider);
      if ((position + 1 - begin) % kZstdTriedAtOnce == 0 || position + 1 == horizon)
        try_next(behind, position + 1 == horizon ? Match() : last_choice);
      consider_tried(position, consider);
      states_[position - begin] = best;
      last_choice = choice;
      if (position < end) decisions_[position] = choice;
    }
  }

  template <class Consider>
  void consider_found(std::size_t position, const Consider& consider) const {
    const std::size_t left = input_.block_bytes() - position;
    const MatchRecord record = input_.records[position];
    consider(record_offset(record), std::min<std::size_t>(record_length(record), left));
    if (const std::uint32_t near = input_.near_offsets[position]; near != 0)
      consider(near, agreement(position, near, std::min<std::size_t>(left, kZstdNearMatchBytes)));
    for (const auto& records : input_.far_records)
      if (!records.empty())
        consider(records[position].offset, std::min<std::size_t>(records[position].length, left));
  }

  // An offset that is tried, and how many bytes agree, as far as that is known.
  struct Tried {
    std::uint32_t offset = 0;  // 0: none
    std::size_t length = 0;
    bool is_known = false;
  };

  // Tries what comes next behind a pair, where `choice` is what the position behind it has chosen.
  void try_next(const State& behind, const Match& choice) {
    std::array<Tried, 3> tries;
    for (unsigned i = 0; i < pass_.tries; ++i) {
      const std::uint32_t offset = behind.next[i];
      const auto before = std::ranges::find(tried_, offset, &Tried::offset);
      const bool begins_here = i == 0 && choice.length != 0 && choice.offset == offset;
      tries[i] =
          before != tried_.end() ? *before : Tried{offset, begins_here ? choice.length : 0, begins_here};
    }
    tried_ = tries;
  }

  template <class Consider>
  void consider_tried(std::size_t position, const Consider& consider) {
    const std::byte* const here = input_.data.data() + input_.history_bytes + position;
    for (Tried& tried : tried_) {
      if (tried.offset == 0) continue;
      if (tried.offset > input_.history_bytes + position || *here != *(here - tried.offset)) {
        tried = {tried.offset, 0, true};
        continue;
      }
      tried.length = std::min(tried.length + 1, kZstdMostSolvedBytes);
      if (!tried.is_known && tried.length == kLeastLength)
        tried = {tried.offset,
                 agreement(position, tried.offset,
                           std::min(input_.block_bytes() - position, kZstdMostSolvedBytes)),
                 true};
      consider(tried.offset, tried.length);
    }
  }

  // The state where a match begins; `after` is that behind it.
  State before_match(std::uint32_t offset, std::size_t length, const State& after) const {
    State state = after;
    state.run = 0;
    const bool touches = after.run == 0;
    const auto known_end = after.next.begin() + pass_.knows;
    const auto place =
        static_cast<std::size_t>(std::find(after.next.begin(), known_end, offset) - after.next.begin());
    if (place == 0 && touches) return state;  // one match with the next one
    const std::int32_t own_value = prices_.offset_value(offset + kZstdRepeatCount);
    state.cost += prices_.run[0] + own_value + prices_.match[length];
    if (place < pass_.knows) {
      const bool directly = place == 0 ? false : after.follows_directly[place];
      const std::int32_t repeat_value =
          prices_.offset_value(static_cast<std::uint32_t>(place) + (directly ? 0 : 1));
      state.cost -= std::max(0, own_value - repeat_value);
    }
    if (place == 0) return state;
    const std::size_t moved = place < pass_.knows ? place : state.next.size() - 1;
    for (std::size_t i = moved; i > 0; --i) {
      state.next[i] = after.next[i - 1];
      state.follows_directly[i] = i == 1 ? touches : after.follows_directly[i - 1];
    }
    state.next[0] = offset;
    return state;
  }

  std::size_t agreement(std::size_t position, std::uint32_t offset, std::size_t limit) const {
    const std::byte* const here = input_.data.data() + input_.history_bytes + position;
    return common_length(here, here - offset, limit);
  }

  const ZstdParseInput& input_;
  const ZstdPrices& prices_;
  const ZstdPass& pass_;
  std::vector<Match> decisions_;  // length 0: a literal
  std::vector<State> states_;
  std::vector<std::uint32_t> offsets_done_;
  std::array<Tried, 3> tried_;
  PositionCount positions_;
};

}  // namespace

std::vector<Sequence> parse_zstd_optimal(const ZstdParseInput& input, const ZstdPrices& prices,
                                         const ZstdPass& pass) {
  return ZstdOptimalParse(input, prices, pass).run();
}

}  // namespace hemstitch
