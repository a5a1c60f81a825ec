#include <algorithm>
#include <limits>

#include "core/between_pieces.hpp"
#include "core/bytes.hpp"
#include "match/common/common_length.hpp"
#include "match/common/hash_word.hpp"
#include "match/common/parameter_check.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"
#include "match/hash_chain/hash_width.hpp"
#include "match/stitch/stitch.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kNoPosition = std::numeric_limits<std::uint32_t>::max();

void check(const FinderInput& input, const HashChainParameters& parameters) {
  check_hash_chain_parameters(parameters);
  check_parameter("hash_chain", "history_bytes", input.history_bytes, 0, input.data.size());
  check_parameter("hash_chain", "data bytes", input.data.size(), 0, kNoPosition);
}

// The hash of the `width` bytes at `bytes`.
std::uint32_t hash_at(const std::byte* bytes, std::uint32_t width, unsigned hash_bits) {
  const std::uint32_t word = load_le32(bytes);
  if (width == kHashedBytes) return hash_word(word, hash_bits);
  return hash_word(wide_word(word, load_le32(bytes + width - 4)), hash_bits);
}

// Steps 1 and 2: lengths are at most the cap.
MatchRecords walk_chains(const FinderInput& input, const HashChainParameters& parameters) {
  const std::byte* data = input.data.data();
  const std::size_t data_bytes = input.data.size();
  MatchRecords records(input.block_bytes(), 0);
  const std::uint32_t width = hash_width_of(input.data.subspan(input.history_bytes), parameters);
  if (data_bytes < width) return records;

  std::vector<std::uint32_t> head(std::size_t{1} << parameters.hash_bits, kNoPosition);
  std::vector<std::uint32_t> previous(data_bytes);
  PositionCount positions;
  for (std::uint32_t position = 0; position <= data_bytes - width; ++position, positions.next()) {
    const std::uint32_t word = load_le32(data + position);
    const std::uint32_t hash = hash_at(data + position, width, parameters.hash_bits);
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
  check_parameter("hash_chain", "stitch_reach", parameters.stitch_reach, 1, kMostStitchReach);
  check_parameter("hash_chain", "hash_bytes", parameters.hash_bytes, kHashedBytes, kMostHashedBytes);
  if (parameters.few_values_hash_bytes != 0)
    check_parameter("hash_chain", "few_values_hash_bytes", parameters.few_values_hash_bytes, kHashedBytes + 1,
                    kMostHashedBytes);
}

bool has_few_values(std::span<const std::byte> block) {
  if (block.size() < kLeastSampledBlockBytes) return false;
  std::vector<std::uint16_t> words_in_slot(std::size_t{1} << kSampleSlotBits);
  std::uint32_t used = 0, pairs = 0;
  for (std::uint32_t stretch = 0; stretch < kSampledStretches; ++stretch) {
    const std::byte* begin = block.data() + stretch_begin(stretch, static_cast<std::uint32_t>(block.size()));
    for (std::uint32_t i = 0; i < kStretchPositions; ++i) {
      std::uint16_t& words = words_in_slot[hash_word(load_le32(begin + i), kSampleSlotBits)];
      used += words == 0 ? 1 : 0;
      pairs += words++;
    }
  }
  return are_few_values(used, pairs);
}

std::uint32_t hash_width_of(std::span<const std::byte> block, const HashChainParameters& parameters) {
  if (parameters.few_values_hash_bytes == 0 || !has_few_values(block)) return parameters.hash_bytes;
  return few_values_width(parameters.few_values_hash_bytes, static_cast<std::uint32_t>(block.size()));
}

MatchRecords find_hash_chain(const FinderInput& input, const HashChainParameters& parameters) {
  check(input, parameters);
  MatchRecords records = walk_chains(input, parameters);
  extend_capped_matches(input, parameters.cap_bytes, records);
  if (parameters.stitch) stitch_matches(input, parameters.stitch_reach, records);
  return records;
}

}  // namespace hemstitch
