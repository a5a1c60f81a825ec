#include "match/find_webgpu.hpp"

#include <fmt/format.h>

#include "core/status.hpp"
#include "match/finders.hpp"

namespace hemstitch::webgpu {

SingleBlock::SingleBlock(const FinderInput& block) : input(block) {
  // Positions are 32-bit numbers.
  constexpr std::uint64_t kMostBytes = 0xFFFFFFFFu - 2 * kTilePositions;
  if (input.data.size() > kMostBytes)
    throw Error(Status::kInvalidOption,
                fmt::format("a block has {} bytes with its history; the device takes at most {}",
                            input.data.size(), kMostBytes));
  table.add(0, static_cast<std::uint32_t>(input.history_bytes),
            static_cast<std::uint32_t>(input.block_bytes()), 0, 1);
}

BlockBatch SingleBlock::plan(BufferPlan& plan) const {
  BlockBatch batch;
  batch.data = plan.add("data", input.data.size());
  batch.rows = plan.add("blocks", sizeof(BlockRow));
  batch.tiles = plan.add("tiles", table.tiles.size() * sizeof(std::uint32_t));
  return batch.of(table);
}

void SingleBlock::upload_to(Device& device, const BufferSet& buffers, const BlockBatch& batch) const {
  device.write(buffers[batch.data.index], input.data);
  device.write(buffers[batch.rows.index], std::as_bytes(std::span(table.rows)));
  device.write(buffers[batch.tiles.index], std::as_bytes(std::span(table.tiles)));
}

MatchRecords SingleBlock::records_of(Device& device, const Buffer& array) const {
  MatchRecords all(input.data.size());
  device.read(array, std::as_writable_bytes(std::span(all)));
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(input.history_bytes));
  return all;
}

FoundMatches find(Device& device, const FinderInput& input, const AnyFinder& finder, bool all) {
  const SingleBlock block(input);
  BufferPlan plan;
  const BlockBatch batch = block.plan(plan);
  const std::uint64_t array_bytes = input.data.size() * sizeof(MatchRecord);
  FinderBuffers buffers{.output = {plan.add("records", array_bytes)}};
  if (const std::uint64_t heads_bytes = find_heads_bytes(finder, 1); heads_bytes != 0) {
    buffers.spare = plan.add("spare", array_bytes);
    buffers.marks = plan.add("marks", batch.tile_count * sizeof(std::uint32_t));
    buffers.heads = plan.add("heads", heads_bytes);
  }
  FinderOutput& output = buffers.output;
  const FinderRow& row = row_of(finder);
  if (all && row.counts) output.counters = plan.add("counters", sizeof(FindCounters));
  if (all && row.keeps_before_stitch)
    output.before_stitch = plan.add("records before the stitch", array_bytes);
  Recording recording;
  record_find(finder, recording, batch, buffers);
  const BufferSet made = device.make_buffers(plan);
  block.upload_to(device, made, batch);
  device.run(recording, made);

  FoundMatches found{block.records_of(device, made[output.records.index])};
  if (output.counters)
    device.read(made[output.counters->index],
                std::as_writable_bytes(std::span(&found.counters.emplace(), 1)));
  if (output.before_stitch) found.before_stitch = block.records_of(device, made[output.before_stitch->index]);
  return found;
}

}  // namespace hemstitch::webgpu
