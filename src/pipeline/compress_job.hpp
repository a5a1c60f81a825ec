// One frame being written: what is common to files and pushed streams.
//
// A slot holds one batch of blocks on its way. The owner of the job calls, for each slot in turn:
//   room() and filled() until the slot is full or the input ends, then seal()    one thread at a time, in order
//   work()                                                         any thread
//   emit()                                                         one thread at a time, in order
// begin() comes before the first emit, end() after the last.
//
// Where the content's last byte may have to stand apart (format/frame_layout.hpp), a slot is full with one byte more than
// its batch: that shows that the content goes on, and is held back for the next slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/large_buffer.hpp"
#include "core/options.hpp"
#include "core/workspace.hpp"
#include "engine/resilient_engine.hpp"
#include "format/formats.hpp"
#include "pipeline/large_pieces.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

// Has its memory from when it is first filled: what a device reads takes time to make, and others are worked on meanwhile.
struct CompressSlot {
  LargeBuffer input;   // history, then the blocks one after the other
  LargeBuffer output;  // for each block: what stands before it, data, what stands behind it
  LargeBuffer verify;  // what the blocks restore to, where that is compared
  std::size_t history_bytes = 0;
  std::size_t input_bytes = 0;  // without the history
  std::uint64_t number = 0;     // of the batch, from 1
  std::vector<BlockTask> tasks;
  std::optional<std::uint32_t> content_checksum;   // of its part of the content, where work() sums that up
  std::vector<std::byte> last_byte;                // its block, where it has one: behind the tasks' blocks
  std::vector<std::span<const std::byte>> pieces;  // what emit() writes, in order
  std::exception_ptr error;  // met in work(), thrown by emit(), so that the first block's error wins
};

class CompressJob {
 public:
  // Validates, chooses the backend, plans. Throws before anything is read or written. With kBeside the owner asks device_is_ready() before a slot
  // is filled.
  explicit CompressJob(const CompressOptions& options, const StreamPlaces& places = {},
                       DeviceTime time = DeviceTime::kBefore);

  const BatchPlan& plan() const { return plan_; }
  // More than there are batches would find nothing to do, and TBB's threads search for it in vain at some length; but large
  // batches are read and written by all of them.
  unsigned threads() const {
    if (plan_.batches_in_flight == 1) return 1;
    return batch_bytes_ < kLargePieceBytes ? std::min(threads_, plan_.batches_in_flight) : threads_;
  }

  // Whether a device may take over from the processor. Then, once all slots are emitted, take_device() plans anew; slots are made anew
  // as well.
  bool device_is_ready() {
    engine_.progressed(report_.input_bytes);
    return engine_.device_is_ready();
  }
  void take_device();

  // Where whoever reads for it says how long that took.
  TimeLine& time_line() { return engine_.time_line(); }

  void begin(Sink& sink);
  std::span<std::byte> room(CompressSlot& slot);
  void filled(CompressSlot& slot, std::size_t bytes);
  bool full(const CompressSlot& slot) const { return slot.input_bytes == batch_bytes_ + held_bytes_; }
  // Takes the slot out of filling: prepares its tasks, and the next slot's history. A slot that is not full is the last one.
  // False where there is nothing in it.
  bool seal(CompressSlot& slot);
  void work(CompressSlot& slot);
  // Writes the slot's blocks and makes it ready to be filled again.
  void emit(CompressSlot& slot, Sink& sink);
  void end(Sink& sink);

  // How far emit() has come.
  std::uint64_t emitted_input_bytes() const { return emitted_input_bytes_; }
  std::uint64_t emitted_output_bytes() const { return report_.output_bytes; }
  // Complete after end().
  StreamReport report() const;

 private:
  // What a slot keeps for one block of output.
  std::size_t output_bytes_per_block() const {
    return writer_->block_room_bytes(options_.block_bytes) + frame_room_.around_block_bytes();
  }
  void plan_for_engine();
  void make_memory(CompressSlot& slot) const;
  void begin_slot(CompressSlot& slot);
  bool combines_checksums() const { return content_checksum_ && checksums_combine(format_.checksum()); }
  std::vector<std::uint32_t> sum_up(CompressSlot& slot) const;

  CompressOptions options_;
  const FrameFormat& format_;
  std::vector<std::byte> dictionary_;  // at most kHistoryBytes
  std::unique_ptr<FrameWriter> writer_;
  FrameRoom frame_room_;
  ResilientEngine engine_;
  EncodeParameters parameters_;
  unsigned threads_;
  std::size_t history_bytes_;  // of the content, that a block may refer to
  std::size_t held_bytes_;     // of each slot but the last: 0 or 1
  BatchPlan plan_;
  std::size_t batch_bytes_ = 0;
  std::uint64_t batches_ = 0;              // begun
  std::optional<std::byte> held_byte_;     // of the slot before the one being filled
  std::vector<std::byte> linked_history_;  // the last history_bytes_ before the slot being filled
  // Where the frame has one: of what was filled in, or where checksums combine, of what was emitted.
  std::optional<RunningChecksum> content_checksum_;
  std::uint64_t emitted_input_bytes_ = 0;
  StreamReport report_;  // input_bytes belongs to filled(), the rest to emit()
};

}  // namespace hemstitch
