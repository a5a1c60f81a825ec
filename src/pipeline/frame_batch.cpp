#include "pipeline/frame_batch.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "format/lz4/lz4_block_size.hpp"
#include "format/lz4/lz4_frame_layout.hpp"
#include "pipeline/frame_parts.hpp"

namespace hemstitch {
namespace {

// Batches besides those that the engine works on: two are read and two are written.
constexpr unsigned kBatchesAround = 4;
// Inputs that one thread looks at in a row.
constexpr std::size_t kInputsGrain = 16;

constexpr std::size_t kMostFrameBytes = kMaxFrameHeaderBytes + sizeof(LastByteBlock) + kFrameEndBytes;

std::vector<std::byte> copied(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

FrameCompressor::FrameCompressor(const CompressOptions& options, const FrameBatchLimits& limits)
    : FrameBatchPlan((validate(options), options.backend), options.device, options.threads, limits),
      options_(options),
      dictionary_(copied(effective_dictionary(options.dictionary))) {
  options_.dictionary = dictionary_;
  const BlockEngine& engine = engine_.preferred();
  const std::size_t output_bytes_per_block = options.block_bytes + kBlockFrameBytes;
  BatchNeeds needs;
  needs.block_bytes = options.block_bytes;
  needs.buffer_bytes_per_block = options.block_bytes + output_bytes_per_block +
                                 (brings_dictionary() ? options.block_bytes : 0) +
                                 engine.staging_bytes(options.block_bytes, output_bytes_per_block);
  needs.buffer_bytes_per_batch = most_inputs_ * (kMostFrameBytes + kBlockFrameBytes);
  needs.preferred_batch_bytes = std::min(engine.preferred_batch_bytes(), limits.content_bytes);
  needs.preferred_batches_in_flight = engine.preferred_batches_in_flight(threads_);
  if (threads_ > 1) needs.preferred_batches_in_flight += kBatchesAround;
  needs.memory_limit_bytes = options.memory_limit_bytes;
  const BatchPlan plan = plan_batches(needs);
  batches_in_flight_ = plan.batches_in_flight;
  input_bytes_ = plan.blocks_per_batch * options.block_bytes;
  output_bytes_ = needs.buffer_bytes_per_batch + plan.blocks_per_batch * output_bytes_per_block;
}

// A dictionary goes to the engine once a block.
std::uint64_t FrameCompressor::input_cost(std::uint64_t bytes) const {
  const std::uint64_t blocks = (bytes + options_.block_bytes - 1) / options_.block_bytes;
  return bytes + blocks * dictionary_.size();
}

std::vector<std::span<const std::byte>> FrameCompressor::compress(
    std::span<const std::span<const std::byte>> inputs, LargeBuffer& output) {
  // The room of a frame: its header, then for each block its size word, its data and its checksum, then its end.
  struct Room {
    std::byte* begin;
    std::size_t header_bytes;
    std::size_t first_task;
    bool last_byte_apart;
  };
  std::vector<Room> rooms;
  std::vector<BlockTask> tasks;
  std::vector<std::vector<std::byte>> first_blocks;  // each behind the dictionary
  std::byte* at = output.get();
  for (const std::span<const std::byte> input : inputs) {
    CompressOptions options = options_;
    options.content_bytes = input.empty() ? std::nullopt : std::optional<std::uint64_t>(input.size());
    const std::vector<std::byte> header = frame_header(options);
    const Lz4FrameLayout layout = lz4_frame_layout(input.size(), options_.block_bytes,
                                                   options_.block_checksums, options_.content_checksum);
    rooms.push_back({at, header.size(), tasks.size(), layout.last_byte_apart});
    at = std::copy(header.begin(), header.end(), at);
    for (std::uint64_t number = 0; number < layout.body_block_count(); ++number) {
      const Lz4FrameLayout::Block block = layout.block(number);
      BlockTask task;
      task.input = input.subspan(block.at, block.bytes);
      task.history = dictionary_;
      if (options_.linked_blocks && number != 0) {
        task.history = input.subspan(block.at - kHistoryBytes, kHistoryBytes);
      } else if (brings_dictionary()) {
        std::vector<std::byte>& joined = first_blocks.emplace_back(dictionary_);
        joined.insert(joined.end(), task.input.begin(), task.input.end());
        task.history = std::span(joined).first(dictionary_.size());
        task.input = std::span(joined).subspan(dictionary_.size());
      }
      // One byte less than the input: a block that does not shrink is stored.
      task.output = {at + kBlockHeaderBytes, task.input.size() - 1};
      at += task.input.size() + kBlockFrameBytes;
      tasks.push_back(task);
    }
    at += sizeof(LastByteBlock) + kFrameEndBytes;
  }

  if (!tasks.empty())
    engine_.compress(tasks, {options_.format, options_.level, options_.acceleration, options_.block_bytes});

  std::vector<std::span<const std::byte>> frames(inputs.size());
  run_in_parallel(inputs.size(), kInputsGrain, [&](std::size_t i) {
    std::byte* end = rooms[i].begin + rooms[i].header_bytes;
    const std::size_t beyond = i + 1 < rooms.size() ? rooms[i + 1].first_task : tasks.size();
    for (std::size_t task = rooms[i].first_task; task < beyond; ++task) {
      const auto [data, size_word] = block_data(tasks[task]);
      store_le32(end, size_word);
      end += kBlockHeaderBytes;
      std::memmove(end, data.data(), data.size());  // the first block's data is there already
      if (options_.block_checksums) store_le32(end + data.size(), lz4_checksum({end, data.size()}));
      end += data.size() + (options_.block_checksums ? kBlockChecksumBytes : 0);
    }
    if (rooms[i].last_byte_apart) {
      const LastByteBlock block = last_byte_block(inputs[i].back());
      end = std::copy(block.begin(), block.end(), end);
    }
    const FrameEnd last =
        frame_end(options_.content_checksum ? std::optional(lz4_checksum(inputs[i])) : std::nullopt);
    end = std::copy_n(last.room.begin(), last.bytes, end);
    frames[i] = {rooms[i].begin, end};
  });
  return frames;
}

void FrameCompressor::report(StreamReport& report) const { engine_.report(report); }

// The blocks of an input's frames, and what its headers and ends say of them.
struct FrameRestorer::Frames {
  struct Block {
    std::span<const std::byte> data;
    bool stored = false;
    std::size_t content_bytes = 0;
    std::optional<std::uint32_t> checksum;
  };
  struct Frame {
    std::uint64_t content_bytes = 0;
    std::optional<std::uint32_t> content_checksum;
  };
  std::vector<Block> blocks;
  std::vector<Frame> frames;
  std::uint64_t content_bytes = 0;
};

FrameRestorer::FrameRestorer(const RestoreOptions& options, const FrameBatchLimits& limits)
    : FrameBatchPlan((validate(options), options.backend), options.device, options.threads, limits),
      options_(options),
      dictionary_(copied(effective_dictionary(options.dictionary))) {
  options_.dictionary = dictionary_;
  // Inputs are taken to be half as long as their contents; where they are less, a batch goes through its inputs in steps.
  constexpr std::size_t kUnitBytes = std::size_t{64} << 10;
  const BlockEngine& engine = engine_.preferred();
  BatchNeeds needs;
  needs.block_bytes = kUnitBytes;
  needs.buffer_bytes_per_block =
      kUnitBytes / 2 + kUnitBytes + engine.staging_bytes(kUnitBytes / 2, kUnitBytes);
  needs.preferred_batch_bytes = std::min(engine.preferred_batch_bytes(), limits.content_bytes);
  needs.preferred_batches_in_flight = engine.preferred_batches_in_flight(threads_);
  if (threads_ > 1) needs.preferred_batches_in_flight += kBatchesAround;
  needs.memory_limit_bytes = options.memory_limit_bytes;
  const BatchPlan plan = plan_batches(needs);
  batches_in_flight_ = plan.batches_in_flight;
  output_bytes_ = plan.blocks_per_batch * kUnitBytes;
  input_bytes_ = output_bytes_ / 2;
}

std::optional<FrameRestorer::Frames> FrameRestorer::plan_frames(std::span<const std::byte> input) const {
  Frames frames;
  Lz4FrameParser parser(options_.verify_checksums);
  std::size_t frame_first_block = 0;
  for (;;) {
    const std::span<const std::byte> bytes = input.first(std::min(parser.wanted_bytes(), input.size()));
    input = input.subspan(bytes.size());
    switch (parser.step(bytes)) {
      case Lz4FrameParser::Event::kMore:
      case Lz4FrameParser::Event::kBlockBegin:
        break;
      case Lz4FrameParser::Event::kFrameBegin: {
        const Lz4FrameHeader& header = parser.header();
        if (header.legacy) return std::nullopt;
        if (header.dictionary_id &&
            (dictionary_.empty() ||
             (!options_.accept_any_dictionary_id && *header.dictionary_id != lz4_checksum(dictionary_))))
          return std::nullopt;
        frame_first_block = frames.blocks.size();
        break;
      }
      case Lz4FrameParser::Event::kBlockEnd: {
        const Lz4FrameParser::Block& block = parser.block();
        frames.blocks.push_back(
            {bytes.first(block.data_bytes), block.stored, block.data_bytes, block.checksum});
        break;
      }
      case Lz4FrameParser::Event::kFrameEnd: {
        const Lz4FrameHeader& header = parser.header();
        const std::span<Frames::Block> blocks = std::span(frames.blocks).subspan(frame_first_block);
        // Only a stored block needs nothing of the blocks that it is linked to.
        const auto compressed = [](const Frames::Block& block) { return !block.stored; };
        if (header.linked_blocks && !blocks.empty() && std::ranges::any_of(blocks.subspan(1), compressed))
          return std::nullopt;
        Frames::Frame frame;
        for (const Frames::Block& block : blocks)
          if (block.stored) frame.content_bytes += block.content_bytes;
        // What stored blocks leave is a single other one's size; else the tokens tell.
        const bool rest_known = header.content_bytes && *header.content_bytes >= frame.content_bytes &&
                                std::ranges::count_if(blocks, compressed) == 1;
        const std::uint64_t rest_bytes = rest_known ? *header.content_bytes - frame.content_bytes : 0;
        for (Frames::Block& block : blocks) {
          if (block.stored) continue;
          const std::optional<std::uint64_t> content_bytes =
              rest_known ? rest_bytes : lz4_block_restored_bytes(block.data);
          if (!content_bytes || *content_bytes > header.block_bytes) return std::nullopt;
          block.content_bytes = static_cast<std::size_t>(*content_bytes);
          frame.content_bytes += block.content_bytes;
        }
        if (header.content_bytes && *header.content_bytes != frame.content_bytes) return std::nullopt;
        frame.content_checksum = parser.content_checksum();
        frames.content_bytes += frame.content_bytes;
        frames.frames.push_back(frame);
        break;
      }
      case Lz4FrameParser::Event::kSkip:
      case Lz4FrameParser::Event::kGarbage:
        return std::nullopt;
      case Lz4FrameParser::Event::kEnd:
        return frames;
    }
  }
}

bool FrameRestorer::is_right(const Frames& frames, std::span<const std::byte> content) const {
  if (!options_.verify_checksums) return true;
  for (const Frames::Block& block : frames.blocks)
    if (block.checksum && lz4_checksum(block.data) != *block.checksum) return false;
  for (const Frames::Frame& frame : frames.frames) {
    const auto bytes = static_cast<std::size_t>(frame.content_bytes);
    if (frame.content_checksum && lz4_checksum(content.first(bytes)) != *frame.content_checksum) return false;
    content = content.subspan(bytes);
  }
  return true;
}

std::vector<FrameRestorer::Restored> FrameRestorer::restore(
    std::span<const std::span<const std::byte>> inputs, LargeBuffer& output) {
  std::vector<std::optional<Frames>> planned(inputs.size());
  run_in_parallel(inputs.size(), kInputsGrain, [&](std::size_t i) {
    try {
      planned[i] = plan_frames(inputs[i]);
    } catch (const Error&) {
      // Left to a stream, which will meet it again.
    }
  });

  // What fits; a dictionary takes its place before each block of a device.
  struct Start {
    std::byte* begin;
    std::size_t first_task;
  };
  std::vector<Start> starts;
  std::vector<BlockTask> tasks;
  std::byte* at = output.get();
  std::size_t room = output_bytes_;
  for (std::optional<Frames>& frames : planned) {
    if (frames) {
      const std::uint64_t cost = frames->content_bytes + frames->blocks.size() * dictionary_.size();
      if (cost > output_bytes_)
        frames.reset();
      else if (cost > room)
        break;
      else
        room -= static_cast<std::size_t>(cost);
    }
    starts.push_back({at, tasks.size()});
    if (!frames) continue;
    for (const Frames::Block& block : frames->blocks) {
      const std::span<std::byte> content(at, block.content_bytes);
      at += block.content_bytes;
      if (block.stored) continue;
      BlockTask task;
      task.input = block.data;
      task.history = dictionary_;
      task.output = content;
      tasks.push_back(task);
    }
  }

  if (!tasks.empty()) engine_.restore(tasks, Format::kLz4);

  std::vector<Restored> restored(starts.size());
  run_in_parallel(starts.size(), kInputsGrain, [&](std::size_t i) {
    if (!planned[i]) return;
    const Frames& frames = *planned[i];
    std::byte* end = starts[i].begin;
    std::size_t task = starts[i].first_task;
    for (const Frames::Block& block : frames.blocks) {
      if (block.stored)
        std::copy(block.data.begin(), block.data.end(), end);
      else if (tasks[task].status != Status::kOk || tasks[task].output_bytes != block.content_bytes)
        return;
      else
        ++task;
      end += block.content_bytes;
    }
    const std::span<const std::byte> content(starts[i].begin, end);
    if (is_right(frames, content)) restored[i] = {content, frames.blocks.size()};
  });
  return restored;
}

void FrameRestorer::report(StreamReport& report) const { engine_.report(report); }

}  // namespace hemstitch
