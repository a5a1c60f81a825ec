#include <algorithm>
#include <limits>

#include "core/bytes.hpp"
#include "match/common/common_length.hpp"
#include "match/common/hash_word.hpp"
#include "match/common/parameter_check.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"
#include "match/stitch/stitch.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kNoPosition = std::numeric_limits<std::uint32_t>::max();

void check(const FinderInput& input, const HashChainParameters& parameters) {
  check_hash_chain_parameters(parameters);
  check_parameter("hash_chain", "history_bytes", input.history_bytes, 0, input.data.size());
  check_parameter("hash_chain", "data bytes", input.data.size(), 0, kNoPosition);
}

// Steps 1 and 2: lengths are at most the cap.
MatchRecords walk_chains(const FinderInput& input, const HashChainParameters& parameters) {
  const std::byte* data = input.data.data();
  const std::size_t data_bytes = input.data.size();
  MatchRecords records(input.block_bytes(), 0);
  if (data_bytes < kHashedBytes) return records;

  std::vector<std::uint32_t> head(std::size_t{1} << parameters.hash_bits, kNoPosition);
  std::vector<std::uint32_t> previous(data_bytes);
  for (std::uint32_t position = 0; position <= data_bytes - kHashedBytes; ++position) {
    const std::uint32_t word = load_le32(data + position);
    const std::uint32_t hash = hash_word(word, parameters.hash_bits);
    previous[position] = head[hash];
    head[hash] = position;
    if (position < input.history_bytes) continue;

    const std::size_t limit = std::min<std::size_t>(parameters.cap_bytes, data_bytes - position);
    Match best;
    std::uint32_t candidate = previous[position];
    for (std::uint32_t step = 0; step < parameters.depth && candidate != kNoPosition; ++step) {
      const std::uint32_t offset = position - candidate;
      if (offset > parameters.window_bytes) break;
      if (load_le32(data + candidate) == word) {
        const auto length =
            static_cast<std::uint32_t>(common_length(data + position, data + candidate, limit));
        if (length > best.length) best = {offset, length};
        if (length == limit) break;
      }
      candidate = previous[candidate];
    }
    records[position - input.history_bytes] = pack_match(best.offset, best.length);
  }
  return records;
}

}  // namespace

void check_hash_chain_parameters(const HashChainParameters& parameters) {
  check_parameter("hash_chain", "hash_bits", parameters.hash_bits, kMinHashBits, kMaxHashBits);
  check_parameter("hash_chain", "depth", parameters.depth, 1, std::numeric_limits<std::uint32_t>::max());
  check_parameter("hash_chain", "cap_bytes", parameters.cap_bytes, kHashedBytes, kMaxRecordLength);
  check_parameter("hash_chain", "window_bytes", parameters.window_bytes, 1, kMaxRecordOffset);
  check_parameter("hash_chain", "stitch_reach", parameters.stitch_reach, 1, kHashChainMostStitchReach);
}

MatchRecords find_hash_chain(const FinderInput& input, const HashChainParameters& parameters) {
  check(input, parameters);
  MatchRecords records = walk_chains(input, parameters);
  extend_capped_matches(input, parameters.cap_bytes, records);
  if (parameters.stitch) stitch_matches(input, parameters.stitch_reach, records);
  return records;
}

}  // namespace hemstitch
