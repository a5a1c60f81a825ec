#include "pipeline/frame_batch.hpp"

#include <algorithm>
#include <cstring>

#include "core/options.hpp"
#include "core/parallel.hpp"
#include "format/frame_index.hpp"
#include "pipeline/history.hpp"
#include "pipeline/written_block.hpp"

namespace hemstitch {
namespace {

// Batches besides those that the engine works on: two are read, and two are written.
constexpr unsigned kBatchesAround = 4;
// How many inputs a thread processes in a row.
constexpr std::size_t kInputsGrain = 16;

}  // namespace

FrameCompressor::FrameCompressor(const CompressOptions& given, const FrameBatchLimits& limits,
                                 AllInputBytes all_input_bytes)
    : FrameBatchPlan(std::string(backend_for(given)), given.device,
                     {.format = given.format,
                      .level = checked_options(given).level,
                      .content_bytes = all_input_bytes,
                      .from = DataPlace::kFile,
                      .to = DataPlace::kFile,
                      .threads = given.threads},
                     limits, given.between_pieces),
      options_(with_defaults(given)),
      format_(FormatTable::instance().of(given.format)),
      dictionary_(copied(format_.dictionary_content(given.dictionary))),
      writer_(engine_.make_writer(format_, options_)),
      frame_room_(writer_->room()) {
  options_.dictionary = dictionary_;
  const CompressOptions& options = options_;
  if (options.verify) engine_.require_verifying(format_);
  const BlockEngine& engine = engine_.preferred();
  const std::size_t output_bytes_per_block = writer_->block_room_bytes(options.block_bytes) +
                                             frame_room_.around_block_bytes() + frame_room_.table_entry_bytes;
  // A short block may need more room for each of its bytes than a full one.
  const std::size_t short_block_bytes = writer_->block_room_bytes(1) - 1 + frame_room_.around_block_bytes();
  const std::size_t frame_bytes = frame_room_.header_bytes + frame_room_.last_byte_bytes +
                                  frame_room_.end_bytes + frame_room_.table_bytes;
  BatchNeeds needs;
  needs.block_bytes = options.block_bytes;
  needs.buffer_bytes_per_block = options.block_bytes + output_bytes_per_block +
                                 (brings_dictionary() ? options.block_bytes : 0) +
                                 (options.verify ? options.block_bytes : 0) +
                                 engine.staging_bytes(options.block_bytes, output_bytes_per_block);
  needs.buffer_bytes_per_batch = most_inputs_ * (frame_bytes + short_block_bytes);
  needs.preferred_batch_bytes = std::min(engine.preferred_batch_bytes(), limits.content_bytes);
  needs.preferred_batches_in_flight = engine.preferred_batches_in_flight(threads_);
  if (threads_ > 1) needs.preferred_batches_in_flight += kBatchesAround;
  needs.memory_limit_bytes = options.memory_limit_bytes;
  needs.device = engine.device_needs({.direction = Direction::kCompress,
                                      .format = options.format,
                                      .block_bytes = options.block_bytes,
                                      .history_bytes = std::max(writer_->history_bytes(), dictionary_.size()),
                                      .linked = writer_->history_bytes() != 0,
                                      .more_blocks = most_inputs_,
                                      .level = options.level,
                                      .verify = options.verify});
  needs.device_limit_bytes = options.gpu_memory_limit_bytes;
  const BatchPlan plan = plan_batches(needs);
  batches_in_flight_ = plan.batches_in_flight;
  device_bytes_ = plan.device_workspace.total_bytes();
  device_limit_bytes_ = plan.device_limit_bytes;
  // A frame that is compressed as a whole is left to a stream.
  input_bytes_ = compresses_as_a_whole(options) ? 0 : plan.blocks_per_batch * options.block_bytes;
  frames_bytes_ = needs.buffer_bytes_per_batch + plan.blocks_per_batch * output_bytes_per_block;
  output_bytes_ = frames_bytes_ + (options.verify ? input_bytes_ : 0);
}

// The engine gets a dictionary with each block.
std::uint64_t FrameCompressor::input_cost(std::uint64_t bytes) const {
  const std::uint64_t blocks = (bytes + options_.block_bytes - 1) / options_.block_bytes;
  return bytes + blocks * dictionary_.size();
}

std::vector<std::span<const std::byte>> FrameCompressor::compress(
    std::span<const std::span<const std::byte>> inputs, LargeBuffer& output) {
  // The room of a frame: its header, then each block with the bytes around it, then its end.
  struct Room {
    std::byte* begin;
    std::size_t header_bytes;
    std::size_t first_task;
    bool last_byte_apart;
  };
  std::vector<Room> rooms;
  std::vector<BlockTask> tasks;
  std::vector<std::vector<std::byte>> first_blocks;  // each after the dictionary
  std::byte* at = output.get();
  for (const std::span<const std::byte> input : inputs) {
    const std::size_t header_bytes =
        writer_->write_header(input.empty() ? std::nullopt : std::optional<std::uint64_t>(input.size()), at);
    const FrameLayout layout = writer_->layout(input.size());
    rooms.push_back({at, header_bytes, tasks.size(), layout.last_byte_apart});
    at += header_bytes;
    for (std::uint64_t number = 0; number < layout.body_block_count(); ++number) {
      const FrameLayout::Block block = layout.block(number);
      BlockTask task;
      task.input = input.subspan(block.at, block.bytes);
      if (format_.dictionary_is_history())
        task.history = dictionary_;
      else if (number == 0 || writer_->history_bytes() == 0)
        task.dictionary = dictionary_;
      if (writer_->history_bytes() != 0 && number != 0) {
        const std::size_t before = std::min<std::size_t>(writer_->history_bytes(), block.at);
        task.history = input.subspan(block.at - before, before);
      } else if (brings_dictionary()) {
        std::vector<std::byte>& joined = first_blocks.emplace_back(dictionary_);
        joined.insert(joined.end(), task.input.begin(), task.input.end());
        task.history = std::span(joined).first(dictionary_.size());
        task.input = std::span(joined).subspan(dictionary_.size());
      }
      task.output = {at + frame_room_.before_block_bytes, writer_->data_room_bytes(task.input.size())};
      at += writer_->block_room_bytes(task.input.size()) + frame_room_.around_block_bytes();
      tasks.push_back(task);
    }
    at += frame_room_.last_byte_bytes + frame_room_.end_bytes +
          frame_room_.table_bytes_of(layout.block_count());
  }

  if (options_.stored)
    for (BlockTask& task : tasks) format_.store(task);
  else if (!tasks.empty())
    engine_.compress(tasks,
                     {.format = options_.format,
                      .level = options_.level,
                      .acceleration = options_.acceleration,
                      .block_bytes = options_.block_bytes,
                      .window_log = options_.window_log},
                     {output.get() + frames_bytes_, output_bytes_ - frames_bytes_});

  std::vector<std::span<const std::byte>> frames(inputs.size());
  run_in_parallel(inputs.size(), kInputsGrain, [&](std::size_t i) {
    std::byte* end = rooms[i].begin + rooms[i].header_bytes;
    std::vector<FrameWriter::BlockBytes> block_bytes;
    const std::size_t beyond = i + 1 < rooms.size() ? rooms[i + 1].first_task : tasks.size();
    for (std::size_t task = rooms[i].first_task; task < beyond; ++task) {
      FrameWriter::Block block = written_block(tasks[task]);
      if (writer_->has_block_content_checksums())
        block.content_checksum = checksum_of(format_.checksum(), block.content);
      const std::span<const std::byte> bytes = block.bytes();
      std::byte* const before = end;
      end += frame_room_.before_block_bytes;
      std::memmove(end, bytes.data(), bytes.size());  // the data of the first block is there already
      if (block.data) block.data = std::span<const std::byte>(end, bytes.size());
      end += bytes.size();
      writer_->write_before(block, before);
      end += writer_->write_behind(block, end);
      block_bytes.push_back(
          {static_cast<std::uint32_t>(end - before), static_cast<std::uint32_t>(block.content.size())});
    }
    if (rooms[i].last_byte_apart) end += writer_->write_last_byte(inputs[i].back(), end);
    end += writer_->write_end(inputs[i].size(),
                              writer_->has_content_checksum()
                                  ? std::optional(checksum_of(format_.checksum(), inputs[i]))
                                  : std::nullopt,
                              end);
    if (frame_room_.has_table()) end += writer_->write_table(block_bytes, end);
    frames[i] = {rooms[i].begin, end};
  });
  return frames;
}

void FrameBatchPlan::report(StreamReport& report) const {
  engine_.report(report);
  report.planned_device_bytes = device_bytes_;
  report.device_limit_bytes = device_limit_bytes_;
}

// The frames of an input, and the size of the content of each of their blocks.
struct FrameRestorer::Frames {
  FrameIndex index;
  std::vector<std::size_t> block_content_bytes;
  std::vector<std::size_t> frame_content_bytes;
  std::uint64_t content_bytes = 0;
};

FrameRestorer::FrameRestorer(const RestoreOptions& options, const FrameBatchLimits& limits,
                             AllInputBytes all_input_bytes)
    : FrameBatchPlan((validate(options), options.backend), options.device,
                     {.direction = Direction::kRestore,
                      .compressed_bytes = all_input_bytes,
                      .from = DataPlace::kFile,
                      .to = DataPlace::kFile,
                      .threads = options.threads},
                     limits, options.between_pieces),
      options_(options),
      dictionary_(copied(options.dictionary)) {
  options_.dictionary = dictionary_;
  // Inputs are assumed to be half as long as their contents. If they are shorter, a batch takes its inputs in
  // steps.
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
  needs.device = engine.device_needs({.direction = Direction::kRestore,
                                      .block_bytes = kUnitBytes,
                                      .history_bytes = dictionary_.size(),
                                      .more_blocks = most_inputs_});
  needs.device_limit_bytes = options.gpu_memory_limit_bytes;
  const BatchPlan plan = plan_batches(needs);
  batches_in_flight_ = plan.batches_in_flight;
  device_bytes_ = plan.device_workspace.total_bytes();
  device_limit_bytes_ = plan.device_limit_bytes;
  output_bytes_ = plan.blocks_per_batch * kUnitBytes;
  input_bytes_ = output_bytes_ / 2;
}

std::optional<FrameRestorer::Frames> FrameRestorer::plan_frames(std::span<const std::byte> input) const {
  Frames frames;
  std::optional<FrameIndex> index = index_separate_blocks(input, options_.verify_checksums);
  if (!index || !engine_.supports(*index->format, Direction::kRestore)) return std::nullopt;
  if (options_.format && index->format->id() != *options_.format) return std::nullopt;
  frames.index = std::move(*index);
  const FrameFormat& format = *frames.index.format;
  // A frame need not name its dictionary, of which more than history may matter.
  if (!dictionary_.empty() && !format.dictionary_is_history()) return std::nullopt;
  frames.block_content_bytes.reserve(frames.index.blocks.size());
  for (const IndexedFrame& frame : frames.index.frames) {
    const FrameHeader& header = frame.header;
    if (header.dictionary_id &&
        (dictionary_.empty() ||
         (!options_.accept_any_dictionary_id && *header.dictionary_id != format.dictionary_id(dictionary_))))
      return std::nullopt;
    const std::span<const IndexedBlock> blocks = frames.index.blocks_of(frame);
    std::uint64_t content_bytes = 0;
    for (const IndexedBlock& block : blocks)
      if (block.stored) content_bytes += block.data_bytes;
    // If all blocks but one are stored, its size is known; else it follows from the blocks' data.
    const bool rest_known = header.content_bytes && *header.content_bytes >= content_bytes &&
                            frame.block_count == frame.stored_block_count + 1;
    const std::uint64_t rest_bytes = rest_known ? *header.content_bytes - content_bytes : 0;
    for (const IndexedBlock& block : blocks) {
      if (block.stored) {
        if (block.content_bytes.value_or(block.data_bytes) != block.data_bytes) return std::nullopt;
        frames.block_content_bytes.push_back(block.data_bytes);
        continue;
      }
      const std::optional<std::uint64_t> block_bytes = block.content_bytes ? *block.content_bytes
                                                       : rest_known
                                                           ? rest_bytes
                                                           : format.restored_bytes(block.data(input));
      if (!block_bytes || *block_bytes > header.block_bytes) return std::nullopt;
      frames.block_content_bytes.push_back(static_cast<std::size_t>(*block_bytes));
      content_bytes += *block_bytes;
    }
    if (header.content_bytes && *header.content_bytes != content_bytes) return std::nullopt;
    if (frame.content_bytes_low && *frame.content_bytes_low != static_cast<std::uint32_t>(content_bytes))
      return std::nullopt;
    frames.frame_content_bytes.push_back(static_cast<std::size_t>(content_bytes));
    frames.content_bytes += content_bytes;
  }
  return frames;
}

bool FrameRestorer::is_right(const Frames& frames, std::span<const std::byte> input,
                             std::span<const std::byte> content) const {
  if (!options_.verify_checksums) return true;
  const Checksum kind = frames.index.format->checksum();
  std::span<const std::byte> rest = content;
  for (std::size_t i = 0; i < frames.index.blocks.size(); ++i) {
    const IndexedBlock& block = frames.index.blocks[i];
    const auto part = rest.first(frames.block_content_bytes[i]);
    if (block.checksum && checksum_of(kind, block.data(input)) != *block.checksum) return false;
    if (block.content_checksum && checksum_of(kind, part) != *block.content_checksum) return false;
    rest = rest.subspan(part.size());
  }
  for (std::size_t i = 0; i < frames.index.frames.size(); ++i) {
    const auto part = content.first(frames.frame_content_bytes[i]);
    const std::optional<std::uint32_t> expected = frames.index.frames[i].content_checksum;
    if (expected && checksum_of(kind, part) != *expected) return false;
    content = content.subspan(part.size());
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
      // A stream restores this input, and reports the error.
    }
  });

  // Takes the inputs that fit. A device may place the dictionary before each block.
  struct Start {
    std::byte* begin;
    std::size_t first_task;
  };
  std::vector<Start> starts;
  std::vector<BlockTask> tasks;
  std::byte* at = output.get();
  std::size_t room = output_bytes_;
  // The engine takes one format in a call. An input in another format than the first waits for a batch of its
  // own.
  const FrameFormat* format = nullptr;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    std::optional<Frames>& frames = planned[i];
    if (frames) {
      const std::uint64_t cost =
          frames->content_bytes +
          frames->index.blocks.size() * frames->index.format->dictionary_content(dictionary_).size();
      if (cost > output_bytes_)
        frames.reset();
      else if (cost > room || (format != nullptr && format != frames->index.format))
        break;
      else
        room -= static_cast<std::size_t>(cost), format = frames->index.format;
    }
    starts.push_back({at, tasks.size()});
    if (!frames) continue;
    auto content_bytes = frames->block_content_bytes.begin();
    for (const IndexedFrame& frame : frames->index.frames)
      for (const IndexedBlock& block : frames->index.blocks_of(frame)) {
        const std::span<std::byte> content(at, *content_bytes++);
        at += content.size();
        if (block.stored) continue;
        BlockTask task;
        task.input = block.data(inputs[i]);
        if (frame.header.takes_dictionary) task.history = format->dictionary_content(dictionary_);
        task.output = content;
        tasks.push_back(task);
      }
  }

  if (format != nullptr && !tasks.empty()) engine_.restore(tasks, format->id());

  std::vector<Restored> restored(starts.size());
  run_in_parallel(starts.size(), kInputsGrain, [&](std::size_t i) {
    if (!planned[i]) return;
    const Frames& frames = *planned[i];
    std::byte* end = starts[i].begin;
    std::size_t task = starts[i].first_task;
    for (std::size_t number = 0; number < frames.index.blocks.size(); ++number) {
      const std::span<const std::byte> data = frames.index.blocks[number].data(inputs[i]);
      const std::size_t content_bytes = frames.block_content_bytes[number];
      if (frames.index.blocks[number].stored)
        std::copy(data.begin(), data.end(), end);
      else if (tasks[task].status != Status::kOk || tasks[task].output_bytes != content_bytes)
        return;
      else
        ++task;
      end += content_bytes;
    }
    const std::span<const std::byte> content(starts[i].begin, end);
    if (is_right(frames, inputs[i], content)) restored[i] = {content, frames.index.blocks.size()};
  });
  return restored;
}

}  // namespace hemstitch
