#include "format/lz4/compress/lz4_judge.hpp"

#include "format/lz4/block/lz4_token.hpp"
#include "format/lz4/compress/lz4_cost.hpp"
#include "parse/optimal/optimal_reference.hpp"

namespace hemstitch {

JudgedMatches judge_lz4_matches(std::span<const MatchRecord> records) {
  const std::vector<Sequence> sequences = parse_optimal({records, lz4_block_plan()}, Lz4CostModel{});
  JudgedMatches judged;
  for (const Sequence& sequence : sequences)
    judged.bits += 8 * lz4_sequence_bytes(sequence.literal_count, sequence.match_length);
  judged.matches = matches_of(sequences);
  return judged;
}

}  // namespace hemstitch
