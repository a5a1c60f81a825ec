#include <algorithm>
#include <limits>

#include "core/between_pieces.hpp"
#include "core/bytes.hpp"
#include "match/common/common_length.hpp"
#include "match/common/hash_word.hpp"
#include "match/common/parameter_check.hpp"
#include "match/hash_step/hash_step.hpp"
#include "match/hash_step/hash_step_tuning.hpp"
#include "match/stitch/stitch.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kNoPosition = std::numeric_limits<std::uint32_t>::max();

void check(const FinderInput& input, const HashStepParameters& parameters) {
  check_hash_step_parameters(parameters);
  check_parameter("hash_step", "history_bytes", input.history_bytes, 0, input.data.size());
  check_parameter("hash_step", "data bytes", input.data.size(), 0, kNoPosition);
}

// Steps 1 to 3: lengths are at most the cap.
MatchRecords look_up_in_groups(const FinderInput& input, const HashStepParameters& parameters) {
  const std::byte* data = input.data.data();
  const std::size_t data_bytes = input.data.size();
  MatchRecords records(input.block_bytes(), 0);
  if (data_bytes < kHashedBytes) return records;
  const std::size_t hashed_end = data_bytes - kHashedBytes + 1;

  std::vector<std::uint32_t> table(std::size_t{1} << parameters.hash_bits, kNoPosition);
  // Call it with rising positions, so that the last entry is the newest.
  const auto insert = [&](std::size_t begin, std::size_t end) {
    for (std::size_t position = begin; position < end; ++position)
      table[hash_word(load_le32(data + position), parameters.hash_bits)] =
          static_cast<std::uint32_t>(position);
  };

  PositionCount positions;
  insert(0, std::min(input.history_bytes, hashed_end));
  for (std::size_t group = input.history_bytes; group < hashed_end; group += parameters.group_positions) {
    const std::size_t group_end = std::min(group + parameters.group_positions, hashed_end);
    for (std::size_t position = group; position < group_end; ++position, positions.next()) {
      const std::uint32_t word = load_le32(data + position);
      const std::size_t limit = std::min<std::size_t>(parameters.cap_bytes, data_bytes - position);
      Match best;
      const auto consider = [&](std::size_t offset) {
        if (offset > position || load_le32(data + position - offset) != word) return;
        const Match match{
            static_cast<std::uint32_t>(offset),
            static_cast<std::uint32_t>(common_length(data + position, data + position - offset, limit))};
        if (better_match(match, best)) best = match;
      };
      for (const std::uint32_t offset : kNearOffsets) consider(offset);
      const std::uint32_t newest = table[hash_word(word, parameters.hash_bits)];
      if (newest != kNoPosition && position - newest <= kMaxRecordOffset) consider(position - newest);
      records[position - input.history_bytes] = pack_match(best.offset, best.length);
    }
    insert(group, group_end);
  }
  return records;
}

}  // namespace

void check_hash_step_parameters(const HashStepParameters& parameters) {
  check_parameter("hash_step", "hash_bits", parameters.hash_bits, kMinHashBits, kMaxHashBits);
  check_parameter("hash_step", "group_positions", parameters.group_positions, 1,
                  std::numeric_limits<std::uint32_t>::max());
  check_parameter("hash_step", "cap_bytes", parameters.cap_bytes, kHashedBytes, kMaxRecordLength);
}

MatchRecords find_hash_step(const FinderInput& input, const HashStepParameters& parameters) {
  check(input, parameters);
  MatchRecords records = look_up_in_groups(input, parameters);
  extend_capped_matches(input, parameters.cap_bytes, records);
  if (parameters.stitch) stitch_matches(input, kHashStepStitchReach, records);
  return records;
}

}  // namespace hemstitch
