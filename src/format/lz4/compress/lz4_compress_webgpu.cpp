#include "format/lz4/compress/lz4_compress_webgpu.hpp"

#include <algorithm>

#include "match/hash_pairs/hash_pairs_webgpu.hpp"
#include "match/links/links_webgpu.hpp"
#include "parse/parses_webgpu.hpp"

namespace hemstitch::webgpu {

static_assert(Lz4CostModel{}.match_cost(19) == 4 * Lz4CostModel{}.literal_cost() &&
                  Lz4CostModel{}.match_cost(18) == 3 * Lz4CostModel{}.literal_cost() &&
                  Lz4CostModel::kShorterLengthCount == 3,
              "cost_model.wgsl prices matches like this");

void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const Lz4CostModel&) {
  record_optimal(recording, batch, records, decisions, plan, WholeByteCosts{});
}

unsigned hash_bits(const Lz4Level& level) {
  // The heads of this finder are in workgroup memory.
  if (std::holds_alternative<HashPairsParameters>(level.finder)) return 0;
  return std::visit([](const auto& parameters) -> unsigned { return parameters.hash_bits; }, level.finder);
}

Lz4CompressPlan plan_lz4_compress(const BlockTable& table, std::uint64_t output_bytes,
                                  const Lz4Level& level) {
  Lz4CompressPlan plan;
  BufferPlan& buffers = plan.buffers;
  const std::uint64_t blocks = table.rows.size(), tiles = table.tiles.size(),
                      data_bytes = divided_up(table.data_bytes, 4) * 4;
  const std::uint64_t array_bytes =
      std::max<std::uint64_t>(data_bytes * 4, table.sequence_count * sizeof(DeviceSequence));
  plan.batch.data = buffers.add("data", data_bytes);
  plan.batch.rows = buffers.add("blocks", blocks * sizeof(BlockRow));
  plan.batch.tiles = buffers.add("tiles", tiles * 4);
  plan.heads = buffers.add("heads", link_heads_bytes(static_cast<std::uint32_t>(blocks), hash_bits(level)));
  plan.first = buffers.add("first array", array_bytes);
  plan.second = buffers.add("second array", array_bytes);
  plan.marks = buffers.add("marks", tiles * 4);
  plan.entries = buffers.add("entries", tiles * 16);
  plan.counts = buffers.add("counts", blocks * 4);
  plan.sizes = buffers.add("sizes", blocks * 4);
  plan.padded = buffers.add("padded sizes", blocks * 4);
  plan.begins = buffers.add("begins", (blocks + 1) * 4);
  plan.output = buffers.add("output", output_bytes);
  plan.scan = plan_scan(buffers, blocks);
  return plan;
}

Recording record_lz4_compress(const Lz4CompressPlan& plan, const BlockTable& table, const Lz4Level& level,
                              std::uint64_t output_bytes) {
  const BlockBatch batch = plan.batch.of(table);
  Recording recording;
  const FinderBuffers found{
      .output = {plan.second}, .spare = plan.first, .marks = plan.marks, .heads = plan.heads};
  if (const auto* const pairs = std::get_if<HashPairsParameters>(&level.finder))
    record_hash_pairs(recording, batch, found, *pairs);
  else
    record_find(level.finder, recording, batch, found);
  record_parse(level.parse, recording, batch, plan.second, plan.first, lz4_block_plan());
  record_walk(recording, batch, {plan.first, plan.second, plan.entries, plan.counts, plan.second});
  record_lz4_encode(
      recording, batch,
      {plan.entries, plan.second, plan.first, plan.sizes, plan.padded, plan.begins, plan.output, plan.scan},
      output_bytes);
  return recording;
}

}  // namespace hemstitch::webgpu
