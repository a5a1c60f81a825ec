#include <algorithm>

#include "core/between_pieces.hpp"
#include "match/brute_force/brute_force.hpp"
#include "match/common/common_length.hpp"
#include "match/common/parallel_find.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kRootBits = 16;  // for the roots of the trees: 256 KB, which stay in a core's cache
constexpr std::size_t kPiecePositions =
    512u * 1024;  // a piece inserts the window before it: 12% of work at 64K
constexpr std::int64_t kNone = -1;

// The trees of one stretch of the data.
class TextTrees {
 public:
  TextTrees(std::span<const std::byte> data, std::size_t begin, std::size_t end,
            const FinderParameters& parameters)
      : data_(data),
        begin_(begin),
        parameters_(parameters),
        key_bytes_(std::min(parameters.min_match_len, 4u)),
        roots_(std::size_t{1} << kRootBits, kNone),
        lesser_(end - begin, kNone),
        greater_(end - begin, kNone) {}

  // Returns the best match of `position`, which becomes the newest one. Positions must come in order.
  Match insert(std::size_t position) {
    const std::byte* text = data_.data() + position;
    const auto limit =
        static_cast<std::uint32_t>(std::min<std::size_t>(parameters_.max_match_len, data_.size() - position));
    if (limit < parameters_.min_match_len) return {};

    std::int64_t& root = roots_[root_of(text)];
    std::int64_t node = root;
    root = static_cast<std::int64_t>(position);
    std::int64_t* lesser_end = &lesser_[position - begin_];  // where the next lesser subtree will be attached
    std::int64_t* greater_end = &greater_[position - begin_];
    std::uint32_t shared_with_lesser = 0, shared_with_greater = 0;
    Match best;
    while (node != kNone && position - static_cast<std::size_t>(node) <= parameters_.window_size) {
      const std::byte* other = data_.data() + node;
      std::uint32_t length = std::min(shared_with_lesser, shared_with_greater);
      length += static_cast<std::uint32_t>(common_length(text + length, other + length, limit - length));
      if (length > best.length) best = {static_cast<std::uint32_t>(text - other), length};
      const std::size_t index = static_cast<std::size_t>(node) - begin_;
      if (length == limit) {  // as good as `position` for all that follows, and older, so it is removed
        *lesser_end = lesser_[index];
        *greater_end = greater_[index];
        return best;
      }
      if (other[length] < text[length]) {
        *lesser_end = node;
        lesser_end = &greater_[index];
        shared_with_lesser = length;
        node = greater_[index];
      } else {
        *greater_end = node;
        greater_end = &lesser_[index];
        shared_with_greater = length;
        node = lesser_[index];
      }
    }
    *lesser_end = kNone;
    *greater_end = kNone;
    return best.length >= parameters_.min_match_len ? best : Match{};
  }

 private:
  std::uint32_t root_of(const std::byte* text) const {
    std::uint32_t key = 0;
    std::memcpy(&key, text, key_bytes_);
    return key * 0x9E3779B1u >> (32 - kRootBits);
  }

  std::span<const std::byte> data_;
  std::size_t begin_;
  const FinderParameters& parameters_;
  std::uint32_t key_bytes_;          // leading bytes that choose the tree; no match is shorter
  std::vector<std::int64_t> roots_;  // the newest position of each tree
  std::vector<std::int64_t>
      lesser_;  // for each position from begin_ on: the newest one below it with a lesser text
  std::vector<std::int64_t> greater_;
};

}  // namespace

MatchRecords brute_force_reference(const FinderInput& input, const FinderParameters& parameters,
                                   FindCounters& counters) {
  MatchRecords records(input.block_bytes());
  counters +=
      find_in_pieces(records.size(), kPiecePositions, [&](std::size_t begin, std::size_t end, auto& sum) {
        const std::size_t first = input.history_bytes + begin;
        const std::size_t last = input.history_bytes + end;
        const std::size_t oldest = first - std::min<std::size_t>(first, parameters.window_size);
        TextTrees trees(input.data, oldest, last, parameters);
        PositionCount positions;
        for (std::size_t position = oldest; position < first; ++position, positions.next())
          trees.insert(position);
        for (std::size_t position = first; position < last; ++position, positions.next()) {
          const Match best = trees.insert(position);
          records[position - input.history_bytes] = pack_match(best.offset, best.length);
          sum.probes += std::min<std::size_t>(position, parameters.window_size);
        }
      });
  return records;
}

}  // namespace hemstitch
