#include <algorithm>
#include <vector>

#include "core/bytes.hpp"
#include "core/match.hpp"
#include "match/common/common_length.hpp"
#include "match/common/hash_word.hpp"
#include "match/common/parameter_check.hpp"
#include "match/hash_pairs/hash_pairs.hpp"

namespace hemstitch {
namespace {

// The lengths and offsets in such a block fit into records.
constexpr std::size_t kMostBlockBytes = 65536;

struct Found {
  std::uint32_t position, offset, end;  // the end as a position
};

// Steps 1 to 3. A long match is compared up to its end only if no earlier match covers it, so that each byte
// is compared once.
std::vector<Found> find_in_pairs(std::span<const std::byte> data, unsigned hash_bits) {
  std::vector<Found> found;
  std::vector<std::uint32_t> newest(std::size_t{1} << hash_bits, 0);  // even positions, plus one; 0 for none
  std::vector<std::uint32_t> newest_before_row = newest;
  const auto end = static_cast<std::uint32_t>(data.size());
  std::uint32_t covered_end = 0;
  // Returns whether the position has a match.
  const auto take = [&](std::uint32_t position, std::uint32_t word, std::uint32_t newest_candidate) {
    if (newest_candidate == 0) return false;
    const std::uint32_t candidate = newest_candidate - 1;
    if (load_le32(&data[candidate]) != word) return false;
    const auto agreeing = [&](std::uint32_t most) {
      return static_cast<std::uint32_t>(common_length(&data[position], &data[candidate], most));
    };
    std::uint32_t length = agreeing(std::min(kHashPairsCoverBytes, end - position));
    if (length == kHashPairsCoverBytes) {
      if (position + kHashPairsCoverBytes <= covered_end) return true;
      length = agreeing(end - position);
      covered_end = position + length;
    }
    found.push_back({position, position - candidate, position + length});
    return true;
  };
  for (std::uint32_t even = 0; even + kHashedBytes <= end; even += 2) {
    if (even % kHashPairsRowBytes == 0) newest_before_row = newest;
    const std::uint32_t word = load_le32(&data[even]);
    std::uint32_t& head = newest[hash_word(word, hash_bits)];
    const bool taken = take(even, word, head);
    head = even + 1;
    const std::uint32_t odd = even + 1;
    if (taken || odd + kHashedBytes > end) continue;
    const std::uint32_t odd_word = load_le32(&data[odd]);
    take(odd, odd_word, newest_before_row[hash_word(odd_word, hash_bits)]);
  }
  return found;
}

}  // namespace

void check_parameters(const HashPairsParameters& parameters) {
  check_parameter("hash_pairs", "hash_bits", parameters.hash_bits, kMinHashBits, kMaxHashBits);
}

MatchRecords find_hash_pairs(const FinderInput& input, const HashPairsParameters& parameters) {
  check_parameters(parameters);
  check_parameter("hash_pairs", "history_bytes", input.history_bytes, 0, 0);
  check_parameter("hash_pairs", "data bytes", input.data.size(), 0, kMostBlockBytes);
  const std::byte* data = input.data.data();
  const std::vector<Found> found = find_in_pairs(input.data, parameters.hash_bits);

  // Step 4. `best` of a position is the best match that begins there; then, from left to right, the best that
  // begins there or before.
  std::vector<Match> best(input.data.size());  // a length here is the match's end
  const auto better = [](const Match& a, const Match& b) {
    return a.length != b.length ? a.length > b.length : a.offset < b.offset;
  };
  for (const Found& match : found) {
    std::uint32_t begin = match.position;
    while (match.position - begin < kHashPairsReach && begin > match.offset &&
           data[begin - 1] == data[begin - 1 - match.offset])
      --begin;
    const Match carried{match.offset, match.end};
    if (better(carried, best[begin])) best[begin] = carried;
  }
  MatchRecords records(input.data.size(), 0);
  for (std::size_t position = 0; position < best.size(); ++position) {
    if (position != 0 && better(best[position - 1], best[position])) best[position] = best[position - 1];
    if (best[position].length > position)
      records[position] =
          pack_match(best[position].offset, best[position].length - static_cast<std::uint32_t>(position));
  }
  return records;
}

}  // namespace hemstitch
