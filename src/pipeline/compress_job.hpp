// Writes one frame. Files and pushed streams share it.
//
// A slot holds one batch of blocks on its way. The owner of the job calls, for each slot in turn:
//   room() and filled() until the slot is full or the input ends, then seal()    one thread at a time, in order
//   work()                                                         any thread
//   emit()                                                         one thread at a time, in order
// begin() comes before the first emit, end() after the last. Then begin_another() may begin another frame,
// with new slots.
//
// A frame that is compressed as a whole (format/stream_encoder.hpp) is compressed by emit(), which gets the slots in their order.
// The encoder has threads of its own.
//
// In some layouts the content's last byte may be a block of its own (format/frame_layout.hpp). Then a slot is
// full with one byte more than its batch. This byte shows that the content continues, and goes to the next
// slot.
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

// Its memory is made when it is first filled: memory that a device reads takes time to make, and other slots
// are processed meanwhile.
struct CompressSlot {
  LargeBuffer input;   // history, then the blocks one after the other
  LargeBuffer output;  // for each block: the bytes before it, its data, the bytes after it
  LargeBuffer verify;  // what the blocks restore to, if that is compared
  std::size_t history_bytes = 0;
  std::size_t input_bytes = 0;  // without the history
  std::uint64_t number = 0;     // of the batch, from 1
  std::vector<BlockTask> tasks;
  std::optional<std::uint32_t> content_checksum;  // of its part of the content, if work() computes it
  std::vector<std::byte> last_byte;  // the block of the last byte, if there is one: after the tasks' blocks
  std::vector<FrameWriter::BlockBytes> block_bytes;  // of the tasks' blocks, if the frame has a table of them
  std::vector<std::span<const std::byte>> pieces;    // what emit() writes, in order
  std::exception_ptr error;  // from work(), thrown by emit(), so that the first block's error wins
};

class CompressJob {
 public:
  // Validates, chooses the backend, plans. Throws before anything is read or written. With kBeside, the
  // owner must call device_is_ready() before it fills a slot.
  explicit CompressJob(const CompressOptions& options, const StreamPlaces& places = {},
                       DeviceTime time = DeviceTime::kBefore);

  const BatchPlan& plan() const { return plan_; }
  // More threads than batches would have nothing to do, and oneTBB's threads would search for work for a
  // while. But all threads read and write large batches.
  unsigned threads() const {
    if (options_.rsyncable) return threads_;  // of which the encoder makes use
    if (plan_.batches_in_flight == 1) return 1;
    return batch_bytes_ < kLargePieceBytes ? std::min(threads_, plan_.batches_in_flight) : threads_;
  }

  // Whether a device may take over from the processor. If so, emit all slots, then call take_device(),
  // which makes a new plan, and make new slots.
  bool device_is_ready() {
    engine_.progressed(report_.input_bytes);
    return engine_.device_is_ready();
  }
  void take_device();

  // For the owner, which adds its times for reading.
  TimeLine& time_line() { return engine_.time_line(); }

  void begin(Sink& sink);
  std::span<std::byte> room(CompressSlot& slot);
  void filled(CompressSlot& slot, std::size_t bytes);
  bool full(const CompressSlot& slot) const { return slot.input_bytes == batch_bytes_ + held_bytes_; }
  // Ends the filling of a slot: prepares its tasks, and the next slot's history. The blocks of a slot that is
  // not full are what they would be if the content ended here, and the content may go on or end after them.
  // Returns false if the slot holds nothing.
  bool seal(CompressSlot& slot);
  void work(CompressSlot& slot);
  // Writes the slot's blocks and clears it for the next batch.
  void emit(CompressSlot& slot, Sink& sink);
  // Throws kInputChanged if options.content_bytes is not what was filled in.
  void end(Sink& sink);

  // For a source that may have another size than options.content_bytes (stream.hpp).
  // How many bytes the frame may still take: if its header states its size, no more than that.
  std::uint64_t most_bytes_to_come() const;
  // Call it once the content has ended. If the header states another size and is written already, the sink's
  // beginning is replaced; if that is not possible, end() throws.
  void correct_content_bytes(Sink& sink);
  // Begins another frame, of unknown size, with its first byte.
  void begin_another(std::byte first, Sink& sink);

  // What emit() has written so far.
  std::uint64_t emitted_input_bytes() const { return emitted_input_bytes_; }
  std::uint64_t emitted_output_bytes() const { return report_.output_bytes; }
  // Complete after end().
  StreamReport report() const;

 private:
  // A slot's room for one block of output.
  std::size_t output_bytes_per_block() const {
    if (encoder_) return 0;
    return writer_->block_room_bytes(options_.block_bytes) + frame_room_.around_block_bytes();
  }
  void begin_history();
  void begin_encoder();
  void plan_for_engine();
  void make_memory(CompressSlot& slot) const;
  void begin_slot(CompressSlot& slot);
  void encode(CompressSlot& slot);
  std::vector<std::byte> header() const;
  // What was filled into this frame.
  std::uint64_t content_bytes() const { return report_.input_bytes - bytes_of_frames_before_; }
  bool combines_checksums() const {
    return content_checksum_ && !encoder_ && checksums_combine(format_.checksum());
  }
  std::vector<std::uint32_t> sum_up(CompressSlot& slot) const;

  CompressOptions options_;
  const FrameFormat& format_;
  std::size_t header_bytes_ = 0;       // of the frame that was begun last
  std::vector<std::byte> dictionary_;  // its content
  ResilientEngine engine_;
  std::unique_ptr<FrameWriter> writer_;
  FrameRoom frame_room_;
  EncodeParameters parameters_;
  unsigned threads_;
  std::size_t history_bytes_;               // how much content before a block it may refer to
  std::size_t held_bytes_;                  // in each slot but the last: 0 or 1
  std::unique_ptr<StreamEncoder> encoder_;  // of the frame, if it is compressed as a whole
  std::vector<std::byte> encoded_;          // what it gave for the slot that is being emitted
  BatchPlan plan_;
  std::size_t batch_bytes_ = 0;
  std::uint64_t batches_ = 0;              // begun
  std::optional<std::byte> held_byte_;     // of the slot before the one that is being filled
  std::vector<std::byte> linked_history_;  // the last history_bytes_ before the slot that is being filled
  // If the frame has one. Covers what was filled in or, if checksums combine, what was emitted.
  std::optional<RunningChecksum> content_checksum_;
  std::vector<FrameWriter::BlockBytes> block_bytes_;  // of the blocks that were emitted, for a table
  std::uint64_t emitted_input_bytes_ = 0;
  std::uint64_t bytes_of_frames_before_ = 0;
  StreamReport report_;  // input_bytes belongs to filled(), the rest to emit()
};

}  // namespace hemstitch
