#include "pipeline/compress_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bytes.hpp"
#include "format/lz4/lz4_frame_layout.hpp"
#include "pipeline/history.hpp"

namespace hemstitch {
namespace {

CompressOptions validated(const CompressOptions& options) {
  validate(options);
  return options;
}

// Of so much content; the most there can be, where that is not known.
bool last_byte_apart(const CompressOptions& options, std::uint64_t content_bytes = UINT64_MAX) {
  return lz4_frame_layout(content_bytes, options.block_bytes, options.block_checksums,
                          options.content_checksum)
      .last_byte_apart;
}

}  // namespace

CompressJob::CompressJob(const CompressOptions& options)
    : options_(validated(options)),
      engine_(options.backend, options.device),
      threads_(resolve_threads(options.threads)),
      held_bytes_(last_byte_apart(options) ? 1 : 0) {
  const auto dictionary = effective_dictionary(options.dictionary);
  dictionary_.assign(dictionary.begin(), dictionary.end());
  options_.dictionary = dictionary_;
  parameters_ = {options.format, options.level, options.acceleration, options.block_bytes};

  BatchNeeds needs;
  needs.block_bytes = options.block_bytes;
  needs.buffer_bytes_per_block =
      options.block_bytes + output_bytes_per_block() +
      engine_.preferred().staging_bytes(options.block_bytes, output_bytes_per_block());
  needs.buffer_bytes_per_batch = (options.linked_blocks ? kHistoryBytes : 0) + held_bytes_;
  needs.content_bytes = options.content_bytes;
  needs.preferred_batch_bytes = engine_.preferred().preferred_batch_bytes();
  needs.preferred_batches_in_flight = engine_.preferred().preferred_batches_in_flight(threads_);
  needs.memory_limit_bytes = options.memory_limit_bytes;
  plan_ = plan_batches(needs);
  batch_bytes_ = plan_.blocks_per_batch * options.block_bytes;

  if (options.linked_blocks) linked_history_ = dictionary_;
  if (options.content_checksum) content_hash_.emplace();
  report_.threads = threads_;
  report_.planned_bytes = plan_.workspace.total_bytes();
}

std::size_t CompressJob::output_bytes_per_block() const { return options_.block_bytes + kBlockFrameBytes; }

CompressSlot CompressJob::make_slot() const {
  CompressSlot slot;
  slot.input = LargeBuffer((options_.linked_blocks ? kHistoryBytes : 0) + batch_bytes_ + held_bytes_);
  slot.output = LargeBuffer(plan_.blocks_per_batch * output_bytes_per_block());
  return slot;
}

void CompressJob::begin(Sink& sink) {
  const auto bytes = frame_header(options_);
  sink.write(bytes);
  report_.output_bytes += bytes.size();
  report_.frame_count = 1;
}

// What the slots before leave for this one.
void CompressJob::begin_slot(CompressSlot& slot) {
  if (options_.linked_blocks) {
    slot.history_bytes = linked_history_.size();
    std::copy(linked_history_.begin(), linked_history_.end(), slot.input.get());
  }
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
  if (content_hash_) content_hash_->update({slot.input.get() + slot.history_bytes + slot.input_bytes, bytes});
  slot.input_bytes += bytes;
  report_.input_bytes += bytes;
}

bool CompressJob::seal(CompressSlot& slot) {
  if (slot.input_bytes == 0) begin_slot(slot);
  if (slot.input_bytes == 0) return false;
  const std::byte* const begin = slot.input.get() + slot.history_bytes;
  // The layout of the slot's part of the content, which begins where a block does.
  Lz4FrameLayout layout{slot.input_bytes, options_.block_bytes, false};
  if (full(slot) && held_bytes_ != 0) {
    slot.input_bytes = layout.content_bytes = batch_bytes_;
    held_byte_ = begin[batch_bytes_];
  } else if (last_byte_apart(options_, report_.input_bytes)) {
    layout.last_byte_apart = true;
    slot.last_byte = last_byte_block(begin[slot.input_bytes - 1]);
  }
  const std::span<const std::byte> raw(begin, layout.body_bytes());
  for (std::uint64_t number = 0; number < layout.body_block_count(); number++) {
    const Lz4FrameLayout::Block block = layout.block(number);
    BlockTask task;
    task.input = raw.subspan(block.at, block.bytes);
    if (options_.linked_blocks) {
      const std::size_t before = std::min<std::size_t>(kHistoryBytes, slot.history_bytes + block.at);
      task.history = {task.input.data() - before, before};
    } else {
      task.history = dictionary_;
    }
    // One byte less than the input: a block that does not shrink is stored.
    task.output = {slot.output.get() + slot.tasks.size() * output_bytes_per_block() + kBlockHeaderBytes,
                   task.input.size() - 1};
    slot.tasks.push_back(task);
  }
  if (options_.linked_blocks) append_history(linked_history_, raw);
  return true;
}

void CompressJob::work(CompressSlot& slot) try {
  if (!slot.tasks.empty()) engine_.compress(slot.tasks, parameters_);
  for (BlockTask& task : slot.tasks) {
    std::byte* const header = task.output.data() - kBlockHeaderBytes;
    const auto [data, size_word] = block_data(task);
    const bool stored = (size_word & kStoredBlockBit) != 0;
    store_le32(header, size_word);
    // A stored block's checksum has room behind the data that it does not have here; it follows the header
    // instead.
    std::byte* const checksum =
        stored ? header + kBlockHeaderBytes : header + kBlockHeaderBytes + data.size();
    const std::size_t checksum_bytes = options_.block_checksums ? kBlockChecksumBytes : 0;
    if (options_.block_checksums) store_le32(checksum, lz4_checksum(data));
    if (stored) {
      slot.pieces.insert(slot.pieces.end(), {{header, kBlockHeaderBytes}, data, {checksum, checksum_bytes}});
    } else {
      slot.pieces.push_back({header, kBlockHeaderBytes + data.size() + checksum_bytes});
    }
  }
  if (slot.last_byte) slot.pieces.push_back(*slot.last_byte);
} catch (...) {
  slot.error = std::current_exception();
}

void CompressJob::emit(CompressSlot& slot, Sink& sink) {
  if (slot.error) std::rethrow_exception(slot.error);
  for (const auto& piece : slot.pieces) {
    sink.write(piece);
    report_.output_bytes += piece.size();
  }
  report_.block_count += slot.tasks.size() + (slot.last_byte ? 1 : 0);
  emitted_input_bytes_ += slot.input_bytes;
  slot.tasks.clear();
  slot.last_byte.reset();
  slot.pieces.clear();
  slot.input_bytes = 0;
}

void CompressJob::end(Sink& sink) {
  if (options_.content_bytes && *options_.content_bytes != report_.input_bytes)
    throw Error(Status::kInputChanged, fmt::format("{} bytes were announced, {} came",
                                                   *options_.content_bytes, report_.input_bytes));
  const FrameEnd last = frame_end(content_hash_ ? std::optional(content_hash_->digest()) : std::nullopt);
  sink.write(std::span(last.room).first(last.bytes));
  report_.output_bytes += last.bytes;
}

StreamReport CompressJob::report() const {
  StreamReport report = report_;
  engine_.report(report);
  return report;
}

}  // namespace hemstitch
