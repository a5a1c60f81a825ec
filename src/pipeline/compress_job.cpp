#include "pipeline/compress_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pipeline/block_checksums.hpp"
#include "pipeline/history.hpp"
#include "pipeline/kept_memory.hpp"
#include "pipeline/written_block.hpp"

namespace hemstitch {
namespace {

// With an encoder of the whole frame: one is filled, one is encoded, and one is between them.
constexpr unsigned kBatchesOfEncoder = 3;

// Joins pieces that are adjacent in memory, so that they are written at once.
void add_piece(std::vector<std::span<const std::byte>>& pieces, std::span<const std::byte> piece) {
  if (!pieces.empty() && pieces.back().data() + pieces.back().size() == piece.data())
    pieces.back() = {pieces.back().data(), pieces.back().size() + piece.size()};
  else if (!piece.empty())
    pieces.push_back(piece);
}

}  // namespace

CompressJob::CompressJob(const CompressOptions& given, const StreamPlaces& places, DeviceTime time)
    : options_(checked_options(given)),
      format_(FormatTable::instance().of(given.format)),
      dictionary_(copied(format_.dictionary_content(given.dictionary))),
      engine_(backend_for(given), given.device,
              {.format = given.format,
               .level = options_.level,
               .content_bytes = given.content_bytes,
               .from = places.from,
               .to = places.to,
               .threads = given.threads},
              time, given.between_pieces),
      writer_(engine_.make_writer(format_, options_)),
      frame_room_(writer_->room()),
      threads_(resolve_threads(given.threads)),
      history_bytes_(writer_->history_bytes()),
      held_bytes_(writer_->layout(UINT64_MAX).last_byte_apart ? 1 : 0) {
  options_.dictionary = dictionary_;
  const CompressOptions& options = options_;
  parameters_ = {.format = options.format,
                 .level = options.level,
                 .acceleration = options.acceleration,
                 .block_bytes = options.block_bytes,
                 .before_block_bytes = frame_room_.before_block_bytes,
                 .behind_block_bytes = frame_room_.behind_block_bytes,
                 .movable_outputs = true,
                 .window_log = options.window_log};

  begin_history();
  begin_encoder();
  if (writer_->has_content_checksum()) content_checksum_.emplace(format_.checksum());
  report_.threads = threads_;
  plan_for_engine();
}

// What comes before a frame's first block.
void CompressJob::begin_history() {
  linked_history_.clear();
  if (format_.dictionary_is_history()) append_history(linked_history_, dictionary_, history_bytes_);
}

void CompressJob::begin_encoder() {
  if (!compresses_as_a_whole(options_)) return;
  encoder_ = engine_.make_stream_encoder(format_, {.level = options_.level,
                                                   .window_log = options_.window_log,
                                                   .rsyncable = options_.rsyncable,
                                                   .dictionary = dictionary_,
                                                   .threads = threads_});
}

// Plans the content that is still to come.
void CompressJob::plan_for_engine() {
  const CompressOptions& options = options_;
  if (options.verify) engine_.require_verifying(format_);
  BatchNeeds needs;
  needs.block_bytes = options.block_bytes;
  needs.buffer_bytes_per_block =
      options.block_bytes + output_bytes_per_block() + (options.verify ? options.block_bytes : 0) +
      engine_.preferred().staging_bytes(options.block_bytes, output_bytes_per_block());
  needs.buffer_bytes_per_batch = history_bytes_ + held_bytes_;
  if (options.content_bytes)
    needs.content_bytes = *options.content_bytes - std::min(*options.content_bytes, content_bytes());
  needs.preferred_batch_bytes = std::max(engine_.preferred().preferred_batch_bytes(),
                                         engine_.preferred().preferred_batch_blocks() * options.block_bytes);
  needs.preferred_batches_in_flight =
      encoder_ ? kBatchesOfEncoder : engine_.preferred().preferred_batches_in_flight(threads_);
  needs.memory_limit_bytes = options.memory_limit_bytes;
  needs.device =
      engine_.preferred().device_needs({.direction = Direction::kCompress,
                                        .format = options.format,
                                        .block_bytes = options.block_bytes,
                                        .history_bytes = std::max(history_bytes_, dictionary_.size()),
                                        .linked = history_bytes_ != 0,
                                        .level = options.level,
                                        .verify = options.verify});
  needs.device_limit_bytes = options.gpu_memory_limit_bytes;
  const std::array<WorkspacePlan::Part, 2> kept{
      {{"window", encoder_ ? encoder_->window_bytes() : 0, 1, "the frame"},
       {"dictionary", dictionary_.size(), 1, "the run"}}};
  plan_ = plan_batches_beside(kept, needs);
  batch_bytes_ = plan_.blocks_per_batch * options.block_bytes;

  report_.planned_bytes = std::max(report_.planned_bytes, plan_.workspace.total_bytes());
  report_.planned_device_bytes = plan_.device_workspace.total_bytes();
  report_.device_limit_bytes = plan_.device_limit_bytes;
}

void CompressJob::take_device() {
  engine_.take_device();
  try {
    plan_for_engine();
  } catch (const Error& error) {
    engine_.refuse_device(error.what());
    plan_for_engine();
  }
}

void CompressJob::make_memory(CompressSlot& slot) const {
  const BlockEngine& engine = engine_.preferred();
  slot.input = engine.make_buffer(history_bytes_ + batch_bytes_ + held_bytes_);
  slot.output = engine.make_buffer(plan_.blocks_per_batch * output_bytes_per_block());
  if (options_.verify) slot.verify = engine.make_buffer(batch_bytes_);
}

std::vector<std::byte> CompressJob::header() const {
  std::vector<std::byte> bytes(frame_room_.header_bytes);
  bytes.resize(writer_->write_header(options_.content_bytes, bytes.data()));
  return bytes;
}

void CompressJob::begin(Sink& sink) {
  const std::vector<std::byte> bytes = header();
  sink.write(bytes);
  header_bytes_ = bytes.size();
  report_.output_bytes += bytes.size();
  ++report_.frame_count;
}

// Prepares a slot with what the slots before it leave.
void CompressJob::begin_slot(CompressSlot& slot) {
  slot.number = ++batches_;
  if (slot.input.get() == nullptr) {
    const StageTimer timer(time_line(), Stage::kStart, 0);
    make_memory(slot);
  }
  slot.history_bytes = linked_history_.size();
  std::copy(linked_history_.begin(), linked_history_.end(), slot.input.get());
  if (held_byte_) {
    slot.input.get()[slot.history_bytes] = *held_byte_;
    slot.input_bytes = 1;
    held_byte_.reset();
  }
}

std::span<std::byte> CompressJob::room(CompressSlot& slot) {
  if (slot.input_bytes == 0) begin_slot(slot);
  return {slot.input.get() + slot.history_bytes + slot.input_bytes,
          batch_bytes_ + held_bytes_ - slot.input_bytes};
}

void CompressJob::filled(CompressSlot& slot, std::size_t bytes) {
  slot.input_bytes += bytes;
  report_.input_bytes += bytes;
}

bool CompressJob::seal(CompressSlot& slot) {
  if (slot.input_bytes == 0 && !held_byte_) return false;
  if (slot.input_bytes == 0) begin_slot(slot);
  const std::byte* const begin = slot.input.get() + slot.history_bytes;
  // The layout of the slot's part of the content, which begins at the beginning of a block.
  FrameLayout layout{slot.input_bytes, options_.block_bytes, false};
  if (full(slot) && held_bytes_ != 0) {
    slot.input_bytes = layout.content_bytes = batch_bytes_;
    held_byte_ = begin[batch_bytes_];
  } else if (writer_->layout(content_bytes()).last_byte_apart) {
    layout.last_byte_apart = true;
    slot.last_byte.resize(frame_room_.last_byte_bytes);
    slot.last_byte.resize(writer_->write_last_byte(begin[slot.input_bytes - 1], slot.last_byte.data()));
  }
  const std::span<const std::byte> raw(begin, layout.body_bytes());
  for (std::uint64_t number = 0; number < layout.body_block_count(); number++) {
    const FrameLayout::Block block = layout.block(number);
    BlockTask task;
    task.input = raw.subspan(block.at, block.bytes);
    if (history_bytes_ != 0) {
      const std::size_t before = std::min<std::size_t>(history_bytes_, slot.history_bytes + block.at);
      task.history = {task.input.data() - before, before};
      if (before == 0) task.dictionary = dictionary_;
    } else if (format_.dictionary_is_history()) {
      task.history = dictionary_;
    } else {
      task.dictionary = dictionary_;
    }
    if (!encoder_)
      task.output = {
          slot.output.get() + slot.tasks.size() * output_bytes_per_block() + frame_room_.before_block_bytes,
          writer_->data_room_bytes(task.input.size())};
    slot.tasks.push_back(task);
  }
  append_history(linked_history_, {begin, static_cast<std::size_t>(layout.content_bytes)}, history_bytes_);
  return true;
}

// The checksums of the tasks' content, if the frame needs them; the checksum of the slot is computed from
// them.
std::vector<std::uint32_t> CompressJob::sum_up(CompressSlot& slot) const {
  if (!combines_checksums() && !writer_->has_block_content_checksums()) return {};
  const Checksum kind = format_.checksum();
  std::vector<std::uint32_t> checksums =
      block_checksums(kind, slot.tasks.size(), options_.block_bytes, threads(),
                      [&](std::size_t i) { return slot.tasks[i].input; });
  if (!combines_checksums()) return checksums;
  RunningChecksum whole(kind);
  for (std::size_t i = 0; i < checksums.size(); ++i) whole.append(checksums[i], slot.tasks[i].input.size());
  if (!slot.last_byte.empty())
    whole.update({slot.input.get() + slot.history_bytes + slot.input_bytes - 1, 1});
  slot.content_checksum = whole.digest();
  return checksums;
}

void CompressJob::work(CompressSlot& slot) try {
  if (encoder_) return;  // its content is compressed in its order, by emit()
  if (options_.stored)
    for (BlockTask& task : slot.tasks) format_.store(task);
  else if (!slot.tasks.empty())
    engine_.compress(slot.tasks, parameters_, {slot.verify.get(), options_.verify ? batch_bytes_ : 0});
  const std::vector<std::uint32_t> checksums = sum_up(slot);
  // The bytes around a block contain the checksum of its data. One thread computes it for 12 MB in the time
  // that an H200 compresses a batch of that size twice.
  std::vector<FrameWriter::Block> blocks(slot.tasks.size());
  std::vector<std::span<const std::byte>> ends(slot.tasks.size());
  for_each_block(slot.tasks.size(), options_.block_bytes, threads(), [&](std::size_t i) {
    const BlockTask& task = slot.tasks[i];
    FrameWriter::Block& block = blocks[i] = written_block(task);
    if (writer_->has_block_content_checksums()) block.content_checksum = checksums[i];
    std::byte* const before = task.output.data() - frame_room_.before_block_bytes;
    // The bytes after a block have room after its data. A stored block has no data here, so they follow the
    // bytes before it instead.
    std::byte* const behind = task.output.data() + (block.data ? block.data->size() : 0);
    writer_->write_before(block, before);
    ends[i] = {behind, writer_->write_behind(block, behind)};
  });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (frame_room_.has_table())
      slot.block_bytes.push_back({static_cast<std::uint32_t>(frame_room_.before_block_bytes +
                                                             blocks[i].bytes().size() + ends[i].size()),
                                  static_cast<std::uint32_t>(blocks[i].content.size())});
    std::byte* const before = slot.tasks[i].output.data() - frame_room_.before_block_bytes;
    if (blocks[i].data) {
      add_piece(slot.pieces, {before, ends[i].data() + ends[i].size()});
    } else {
      add_piece(slot.pieces, {before, frame_room_.before_block_bytes});
      add_piece(slot.pieces, blocks[i].content);
      add_piece(slot.pieces, ends[i]);
    }
  }
  if (!slot.last_byte.empty()) slot.pieces.push_back(slot.last_byte);
} catch (...) {
  slot.error = std::current_exception();
}

// Only the last slot is not full, unless a caller flushes.
void CompressJob::encode(CompressSlot& slot) {
  const StageTimer timer(time_line(), Stage::kKernel, slot.number);
  encoded_.clear();
  for (const BlockTask& task : slot.tasks) {
    if (options_.between_pieces) options_.between_pieces();
    encoder_->compress(task.input, encoded_);
  }
  if (!full(slot)) encoder_->flush(encoded_);
  add_piece(slot.pieces, encoded_);
}

void CompressJob::emit(CompressSlot& slot, Sink& sink) {
  if (slot.error) std::rethrow_exception(slot.error);
  if (encoder_) encode(slot);
  const StageTimer timer(time_line(), Stage::kWrite, slot.number);
  for (const auto& piece : slot.pieces) {
    write_piece(sink, piece, threads());
    report_.output_bytes += piece.size();
  }
  report_.block_count += slot.tasks.size() + (slot.last_byte.empty() ? 0 : 1);
  // One thread sums up a checksum that does not combine, here and not where the content is read: that takes longer than writing what the content becomes.
  if (slot.content_checksum)
    content_checksum_->append(*slot.content_checksum, slot.input_bytes);
  else if (content_checksum_)
    content_checksum_->update({slot.input.get() + slot.history_bytes, slot.input_bytes});
  slot.content_checksum.reset();
  block_bytes_.insert(block_bytes_.end(), slot.block_bytes.begin(), slot.block_bytes.end());
  slot.block_bytes.clear();
  emitted_input_bytes_ += slot.input_bytes;
  slot.tasks.clear();
  slot.last_byte.clear();
  slot.pieces.clear();
  slot.input_bytes = 0;
}

void CompressJob::end(Sink& sink) {
  if (options_.content_bytes && *options_.content_bytes != content_bytes())
    throw Error(Status::kInputChanged,
                fmt::format("{} bytes were expected, {} came", *options_.content_bytes, content_bytes()));
  if (encoder_) {
    encoded_.clear();
    encoder_->flush(encoded_);
    sink.write(encoded_);
    report_.output_bytes += encoded_.size();
  }
  std::vector<std::byte> bytes(frame_room_.end_bytes + frame_room_.table_bytes_of(block_bytes_.size()));
  std::size_t written = writer_->write_end(
      content_bytes(), content_checksum_ ? std::optional(content_checksum_->digest()) : std::nullopt,
      bytes.data());
  if (frame_room_.has_table()) written += writer_->write_table(block_bytes_, bytes.data() + written);
  bytes.resize(written);
  sink.write(bytes);
  report_.output_bytes += bytes.size();
}

std::uint64_t CompressJob::most_bytes_to_come() const {
  return options_.content_bytes && writer_->states_content_bytes() ? *options_.content_bytes - content_bytes()
                                                                   : UINT64_MAX;
}

void CompressJob::correct_content_bytes(Sink& sink) {
  if (!options_.content_bytes || *options_.content_bytes == content_bytes()) return;
  report_.expected_input_bytes = options_.content_bytes;
  options_.content_bytes = content_bytes();
  const bool is_written = report_.frame_count != 0 && writer_->states_content_bytes();
  const std::vector<std::byte> corrected = header();
  if (is_written && (corrected.size() != header_bytes_ || !sink.replace_beginning(corrected)))
    options_.content_bytes = report_.expected_input_bytes;  // end() will report it
}

void CompressJob::begin_another(std::byte first, Sink& sink) {
  report_.expected_input_bytes = options_.content_bytes;
  options_.content_bytes.reset();
  bytes_of_frames_before_ = report_.input_bytes;
  begin_history();
  begin_encoder();
  if (content_checksum_) content_checksum_.emplace(format_.checksum());
  plan_for_engine();
  begin(sink);
  held_byte_ = first;
  ++report_.input_bytes;
}

StreamReport CompressJob::report() const {
  StreamReport report = report_;
  engine_.report(report);
  return report;
}

}  // namespace hemstitch
