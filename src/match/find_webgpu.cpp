#include "match/find_webgpu.hpp"

#include <fmt/format.h>

#include "core/status.hpp"
#include "match/coop_stitch/coop_stitch_webgpu.hpp"
#include "match/lazy_scan/lazy_scan_webgpu.hpp"
#include "match/window_index/window_index_webgpu.hpp"

namespace hemstitch::webgpu {

void record_search(Recording& recording, const BlockBatch& batch, const FinderOutput& output, Finder finder,
                   const FinderParameters& parameters) {
  switch (finder) {
    case Finder::kCoopStitch:
      return record_coop_stitch(recording, batch, output, parameters);
    case Finder::kLazyScan:
      return record_lazy_scan(recording, batch, output, parameters);
    case Finder::kWindowIndex:
      return record_window_index(recording, batch, output, parameters);
    case Finder::kBruteForce:
      break;
  }
  throw Error(
      Status::kInvalidOption,
      "brute_force has no WebGPU shader; window_index finds the same on the device but inside long runs");
}

SingleBlock::SingleBlock(const FinderInput& block) : input(block) {
  // Places are numbers of 32 bits.
  constexpr std::uint64_t kMostBytes = 0xFFFFFFFFu - 2 * kTilePositions;
  if (input.data.size() > kMostBytes)
    throw Error(Status::kInvalidOption,
                fmt::format("a block of {} bytes with its history; the device takes up to {}",
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

SearchResult search(Device& device, const FinderInput& input, Finder finder,
                    const FinderParameters& parameters, bool all) {
  const SingleBlock block(input);
  BufferPlan plan;
  const BlockBatch batch = block.plan(plan);
  const std::uint64_t array_bytes = input.data.size() * sizeof(MatchRecord);
  FinderOutput output{plan.add("records", array_bytes)};
  if (all) {
    output.counters = plan.add("counters", sizeof(SearchCounters));
    if (finder == Finder::kCoopStitch)
      output.before_stitch = plan.add("records before the stitch", array_bytes);
  }
  Recording recording;
  record_search(recording, batch, output, finder, parameters);
  const BufferSet buffers = device.make_buffers(plan);
  block.upload_to(device, buffers, batch);
  device.run(recording, buffers);

  SearchResult result;
  result.records = block.records_of(device, buffers[output.records.index]);
  if (output.counters)
    device.read(buffers[output.counters->index], std::as_writable_bytes(std::span(&result.counters, 1)));
  if (output.before_stitch)
    result.before_stitch = block.records_of(device, buffers[output.before_stitch->index]);
  return result;
}

}  // namespace hemstitch::webgpu
