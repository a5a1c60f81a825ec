#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/options.hpp"
#include "core/parallel.hpp"
#include "format/frame_index.hpp"
#include "pipeline/gzip_points.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {
namespace {

// How many blocks a thread takes in a row, if each takes a few microseconds.
constexpr std::size_t kBlocksGrain = 16;

// A block that a range needs.
struct NeededBlock {
  IndexedBlock block;
  Place place;
  std::uint64_t content_at = 0;  // in the content of all frames together
  std::size_t content_bytes = 0;
  std::vector<std::size_t> ranges;  // the ranges that overlap it
};

struct Batch {
  LargeBuffer output;
  std::span<NeededBlock> blocks;
  std::vector<std::span<const std::byte>> contents;  // empty for blocks that are damaged, as for empty ones
  std::vector<Status> statuses;
};

Format block_format(const FrameIndex& index) {
  const auto frame = std::ranges::find(index.frames, false, &IndexedFrame::skippable);
  return frame->header.format.value_or(index.format->id());
}

// The blocks of `input`, with their places in the content. Also throws Error if blocks cannot be restored one
// by one.
std::vector<NeededBlock> placed_blocks(std::span<const std::byte> input, const FrameIndex& index) {
  if (index.trailing_garbage_at)
    throw Error(Status::kTrailingGarbage, "the bytes after the last frame are not a frame",
                {{}, {}, index.trailing_garbage_at});
  std::vector<NeededBlock> blocks;
  std::vector<std::size_t> most_bytes;
  std::uint64_t frame_number = 0;
  for (const IndexedFrame& frame : index.frames) {
    if (frame.skippable) continue;
    const std::uint64_t number = frame_number++;
    const Place place{number, std::nullopt, frame.at};
    if (frame.header.block_kind != BlockKind::kIndependent)
      throw Error(Status::kUnsupportedFeature, "the frame's blocks need earlier blocks; restore all of it",
                  place);
    if (frame.header.dictionary_id)
      throw Error(Status::kUnsupportedFeature,
                  "ranges cannot be restored of a frame that needs a dictionary; restore all of it", place);
    std::uint64_t block_number = 0;
    for (const IndexedBlock& block : index.blocks_of(frame)) {
      blocks.push_back({block, {number, block_number++, block.at}, 0, 0, {}});
      most_bytes.push_back(frame.header.block_bytes);
    }
  }
  run_in_parallel(blocks.size(), kBlocksGrain, [&](std::size_t i) {
    NeededBlock& needed = blocks[i];
    const IndexedBlock& block = needed.block;
    const auto bytes = block.stored          ? std::optional<std::uint64_t>(block.data_bytes)
                       : block.content_bytes ? std::optional<std::uint64_t>(*block.content_bytes)
                                             : index.format->restored_bytes(block.data(input));
    if (!bytes || *bytes > most_bytes[i])
      throw Error(Status::kCorruptBlock, "the size of the block's content cannot be determined",
                  needed.place);
    needed.content_bytes = static_cast<std::size_t>(*bytes);
  });
  std::uint64_t at = 0;
  for (NeededBlock& block : blocks) block.content_at = std::exchange(at, at + block.content_bytes);
  return blocks;
}

}  // namespace

std::vector<RestoredRange> restore_ranges(std::span<const std::byte> input,
                                          std::span<const ContentBytes> ranges,
                                          const RestoreOptions& options) {
  validate(options);
  for (const ContentBytes& range : ranges)
    if (range.begin > range.end)
      throw Error(Status::kInvalidOption,
                  fmt::format("range is {}-{}, its end lies before its beginning", range.begin, range.end));
  if (!options.dictionary.empty()) throw Error(Status::kInvalidOption, "dictionary: ranges cannot use one");
  if (!options.index.empty()) return restore_ranges_by_index(input, ranges, options);
  const unsigned threads = resolve_threads(options.threads);
  std::vector<RestoredRange> restored(ranges.size());
  const FrameIndex index = index_frames(input, options.verify_checksums);
  std::vector<NeededBlock> blocks;
  run_on_threads(threads, [&] { blocks = placed_blocks(input, index); });
  const std::uint64_t all_bytes = blocks.empty() ? 0 : blocks.back().content_at + blocks.back().content_bytes;

  // Finds which blocks each range overlaps; other blocks are not needed.
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin > all_bytes) {
      restored[i].status = Status::kRangeOutsideContent;
      continue;
    }
    auto block = std::ranges::partition_point(blocks, [&](const NeededBlock& one) {
      return one.content_at + one.content_bytes <= ranges[i].begin;
    });
    for (; block != blocks.end() && block->content_at < ranges[i].end; ++block) block->ranges.push_back(i);
  }
  std::erase_if(blocks, [](const NeededBlock& block) { return block.ranges.empty(); });
  if (blocks.empty()) return restored;

  // gzip's reader reads blocks of BGZF too, but for engines BGZF is a format of its own.
  const Format format = block_format(index);
  Workload work{.direction = Direction::kRestore, .format = format, .threads = options.threads};
  work.content_bytes = work.compressed_bytes = 0;
  BatchNeeds needs;
  std::uint64_t most_data_bytes = 0;
  for (const NeededBlock& block : blocks) {
    *work.content_bytes += block.content_bytes;
    *work.compressed_bytes += block.block.data_bytes;
    needs.block_bytes = std::max<std::uint64_t>(needs.block_bytes, block.content_bytes);
    most_data_bytes = std::max<std::uint64_t>(most_data_bytes, block.block.data_bytes);
  }
  needs.block_bytes = std::max<std::uint64_t>(needs.block_bytes, 1);
  ResilientEngine engine(options.backend, options.device, work);
  const BlockEngine& preferred = engine.preferred();
  needs.buffer_bytes_per_block =
      needs.block_bytes + preferred.staging_bytes(static_cast<std::size_t>(most_data_bytes),
                                                  static_cast<std::size_t>(needs.block_bytes));
  needs.content_bytes = blocks.size() * needs.block_bytes;
  needs.preferred_batch_bytes = std::max<std::uint64_t>(
      preferred.preferred_batch_bytes(), preferred.preferred_batch_blocks() * needs.block_bytes);
  needs.preferred_batches_in_flight = preferred.preferred_batches_in_flight(threads);
  needs.memory_limit_bytes = options.memory_limit_bytes;
  needs.device = preferred.device_needs(
      {.direction = Direction::kRestore, .format = format, .block_bytes = needs.block_bytes});
  needs.device_limit_bytes = options.gpu_memory_limit_bytes;
  const BatchPlan plan = plan_batches(needs);

  std::vector<Batch> batches(plan.batches_in_flight);
  std::span<NeededBlock> rest = blocks;
  const auto fill = [&](Batch& batch) {
    const std::size_t count = std::min<std::size_t>(rest.size(), plan.blocks_per_batch);
    if (count != 0 && batch.output.get() == nullptr)
      batch.output =
          preferred.make_buffer(static_cast<std::size_t>(plan.blocks_per_batch * needs.block_bytes));
    batch.blocks = rest.first(count);
    rest = rest.subspan(count);
    return count != 0;
  };
  const Checksum checksum = index.format->checksum();
  const auto restore_batch = [&](Batch& batch) {
    const std::size_t count = batch.blocks.size();
    batch.contents.assign(count, {});
    batch.statuses.assign(count, Status::kOk);
    const auto verify = [&](std::size_t i, const std::optional<std::uint32_t>& expected,
                            std::span<const std::byte> bytes) {
      if (options.verify_checksums && expected && checksum_of(checksum, bytes) != *expected)
        batch.statuses[i] = Status::kBlockChecksumMismatch;
    };
    run_in_parallel(count, kBlocksGrain, [&](std::size_t i) {
      verify(i, batch.blocks[i].block.checksum, batch.blocks[i].block.data(input));
    });
    std::vector<BlockTask> tasks;
    std::vector<std::size_t> numbers;
    std::byte* at = batch.output.get();
    for (std::size_t i = 0; i < count; ++i) {
      const NeededBlock& block = batch.blocks[i];
      if (batch.statuses[i] != Status::kOk) continue;
      if (block.block.stored) {
        batch.contents[i] = block.block.data(input);
        continue;
      }
      BlockTask& task = tasks.emplace_back();
      task.input = block.block.data(input);
      task.output = {at, block.content_bytes};
      at += block.content_bytes;
      numbers.push_back(i);
    }
    if (!tasks.empty()) engine.restore(tasks, format);
    run_in_parallel(tasks.size(), kBlocksGrain, [&](std::size_t task) {
      const std::size_t i = numbers[task];
      const std::span<const std::byte> content = tasks[task].output;
      if (tasks[task].status != Status::kOk)
        batch.statuses[i] = tasks[task].status;
      else if (tasks[task].output_bytes != content.size())
        batch.statuses[i] = Status::kContentSizeMismatch;
      else
        batch.contents[i] = content;
    });
    run_in_parallel(count, kBlocksGrain, [&](std::size_t i) {
      if (batch.statuses[i] == Status::kOk)
        verify(i, batch.blocks[i].block.content_checksum, batch.contents[i]);
    });
  };
  // Blocks come in the order of the content, and so do the pieces of each range. So the memory for a range
  // grows only with what was restored.
  const auto give = [&](Batch& batch) {
    for (std::size_t i = 0; i < batch.blocks.size(); ++i) {
      const NeededBlock& block = batch.blocks[i];
      for (const std::size_t number : block.ranges) {
        RestoredRange& range = restored[number];
        if (range.status != Status::kOk) continue;
        if (batch.statuses[i] != Status::kOk) {
          range = {batch.statuses[i], block.place, {}};
          continue;
        }
        const std::uint64_t end = block.content_at + block.content_bytes;
        const std::size_t from = static_cast<std::size_t>(
            std::clamp(ranges[number].begin, block.content_at, end) - block.content_at);
        const std::size_t to = static_cast<std::size_t>(
            std::clamp(ranges[number].end, block.content_at, end) - block.content_at);
        const std::span<const std::byte> piece = batch.contents[i].subspan(from, to - from);
        range.bytes.insert(range.bytes.end(), piece.begin(), piece.end());
      }
    }
  };
  run_ring(plan.batches_in_flight == 1 ? 1 : threads, batches, false, fill, restore_batch, give);
  return restored;
}

}  // namespace hemstitch
