#include "api/matching_plan_webgpu.hpp"

#include <algorithm>

#include "match/finders_webgpu.hpp"
#include "parse/parses_webgpu.hpp"

namespace hemstitch::webgpu {

MatchingCapacity matching_capacity(std::uint32_t block_count, std::uint32_t block_bytes,
                                   std::uint32_t min_match_len, const AnyFinder& finder) {
  const auto tiles =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, divided_up(block_bytes, kTilePositions)));
  return {std::uint64_t{block_count} * (divided_up(block_bytes, 4) * 4), block_count, block_count * tiles,
          block_count * (block_bytes / min_match_len + 1), find_heads_bytes(finder, block_count)};
}

MatchingPlan plan_matching(const MatchingCapacity& capacity) {
  MatchingPlan plan;
  plan.batch.data = plan.buffers.add("data", capacity.data_bytes);
  plan.batch.rows = plan.buffers.add("blocks", capacity.block_count * sizeof(BlockRow));
  plan.batch.tiles = plan.buffers.add("tiles", capacity.tile_count * sizeof(std::uint32_t));
  // The parse is the last to read the records; then their memory holds the exits, then the sequences. The
  // decisions are read for the last time when the sequences are written; then their memory holds the matches.
  const std::uint64_t array_bytes = std::max<std::uint64_t>(capacity.data_bytes * sizeof(MatchRecord),
                                                            capacity.sequence_count * sizeof(DeviceMatch));
  const BufferId records = plan.buffers.add("records, exits, sequences", array_bytes);
  plan.walk.decisions = plan.buffers.add("decisions, matches", array_bytes);
  plan.walk.exits = plan.walk.sequences = records;
  plan.walk.entries = plan.buffers.add("entries", std::uint64_t{capacity.tile_count} * 16);
  plan.finder = {.output = {records}, .spare = plan.walk.decisions, .marks = plan.walk.entries};
  if (capacity.heads_bytes != 0) plan.finder.heads = plan.buffers.add("heads", capacity.heads_bytes);
  plan.walk.counts = plan.buffers.add("counts", capacity.block_count * sizeof(std::uint32_t));
  plan.matches.sizes = plan.buffers.add("sizes", capacity.block_count * sizeof(std::uint32_t));
  plan.matches.begins = plan.buffers.add("begins", (capacity.block_count + 1) * sizeof(std::uint32_t));
  plan.matches.matches = plan.walk.decisions;
  plan.scan = plan_scan(plan.buffers, capacity.block_count);
  return plan;
}

Recording record_matching(const MatchingPlan& plan, const BlockTable& table, const MatchingStages& stages) {
  const BlockBatch batch = plan.batch.of(table);
  Recording recording;
  record_find_and_parse(stages.finder, stages.parse, recording, batch, plan.finder, plan.walk, stages.plan);
  record_matches(recording, batch, plan.walk, plan.matches, plan.scan, table.sequence_count);
  return recording;
}

}  // namespace hemstitch::webgpu
