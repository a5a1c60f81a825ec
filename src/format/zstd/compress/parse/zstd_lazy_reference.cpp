#include <algorithm>
#include <array>
#include <bit>

#include "core/between_pieces.hpp"
#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "match/common/common_length.hpp"
#include "match/far/far_tuning.hpp"
#include "parse/parse.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kLeastOwnMatchBytes = 4, kLeastRepeatBytes = 3;
constexpr int kGainOfByte = 4;
constexpr int kGainOfWaiting = 4;  // how much more the next position must gain

class ZstdLazyWalk {
 public:
  explicit ZstdLazyWalk(const ZstdParseInput& input) : input_(input) {}

  std::vector<Sequence> run() {
    SequenceBuilder sequences;
    PositionCount positions;
    bool behind_match = false;
    for (std::size_t position = 0; position < input_.block_bytes(); positions.next()) {
      Candidate here = best_at(position, behind_match);
      if (here.match.length != 0 && position + 1 < input_.block_bytes()) {
        const Candidate next = best_at(position + 1, false);
        if (next.gain > here.gain + kGainOfWaiting) here = {};
      }
      behind_match = here.match.length != 0;
      if (behind_match) {
        sequences.match(here.match);
        take(here.match.offset);
        position += here.match.length;
      } else {
        sequences.literal();
        ++position;
      }
    }
    return sequences.finish();
  }

 private:
  struct Candidate {
    Match match;
    int gain = 0;
  };

  static int offset_cost(std::uint32_t offset) { return static_cast<int>(std::bit_width(offset)) - 1; }

  Candidate best_at(std::size_t position, bool behind_match) const {
    Candidate best;
    const auto consider = [&](std::uint32_t offset, std::size_t length, int cost) {
      const int gain = kGainOfByte * static_cast<int>(length) - cost;
      if (gain > best.gain) best = {{offset, static_cast<std::uint32_t>(length)}, gain};
    };
    const std::size_t left = input_.block_bytes() - position;
    const MatchRecord record = input_.records[position];
    if (const std::size_t length = std::min<std::size_t>(record_length(record), left);
        length >= kLeastOwnMatchBytes)
      consider(record_offset(record), length, offset_cost(record_offset(record)));

    if (const std::uint32_t near = input_.near_offsets[position]; near != 0) {
      const std::size_t length = agreement(position, near, std::min<std::size_t>(left, kZstdNearMatchBytes));
      if (length >= kLeastOwnMatchBytes || (length == 3 && near < kZstdNearThreeOffsets))
        consider(near, length, offset_cost(near));
    }
    for (const auto& records : input_.far_records) {
      if (records.empty()) continue;
      const WideRecord far = records[position];
      std::size_t length = std::min<std::size_t>(far.length, left);
      if (length >= kFarCutBytes) length = agreement(position, far.offset, left);
      if (length >= kLeastOwnMatchBytes) consider(far.offset, length, offset_cost(far.offset));
    }
    for (std::size_t i = behind_match ? 1 : 0; i < last_.size(); ++i) {
      if (last_[i] == 0) continue;
      const std::size_t length = agreement(position, last_[i], left);
      if (length >= kLeastRepeatBytes) consider(last_[i], length, static_cast<int>(i) + 1);
    }
    return best;
  }

  std::size_t agreement(std::size_t position, std::uint32_t offset, std::size_t limit) const {
    const std::byte* const here = input_.data.data() + input_.history_bytes + position;
    return common_length(here, here - offset, limit);
  }

  void take(std::uint32_t offset) {
    const auto place = std::min(std::find(last_.begin(), last_.end(), offset), last_.end() - 1);
    std::copy_backward(last_.begin(), place, place + 1);
    last_[0] = offset;
  }

  const ZstdParseInput& input_;
  std::array<std::uint32_t, kZstdRepeatCount> last_{};  // 0: none yet
};

}  // namespace

std::vector<Sequence> parse_zstd_lazy(const ZstdParseInput& input) { return ZstdLazyWalk(input).run(); }

}  // namespace hemstitch
