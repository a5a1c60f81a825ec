// Reads frames. Files, ranges of files and pushed streams share it.
//
// A slot holds one batch of blocks in flight. The owner gathers bytes into room() and calls received(), which
// returns what the bytes were. From kFrameBegin to kFrameEnd, the blocks of one frame fill slots, and for
// each slot in turn the owner calls:
//   room() and received() until the slot is full or the frame ends   one thread at a time, in order
//   work()                                                           any thread; in order where works_in_order()
//   emit()                                                           one thread at a time, in order
// Then it calls end_frame(), once all slots of the frame are emitted. A frame whose blocks cannot be told
// apart (BlockKind::kStream) is restored as its bytes are received, into slots of content. Bytes received
// after its end are kept for the next frame.
//
// An error met while filling or working is kept in the slot. emit() first writes the good blocks before it,
// then throws it. So the first error of the stream is the one that is reported, whatever the threads do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/options.hpp"
#include "core/workspace.hpp"
#include "engine/resilient_engine.hpp"
#include "format/formats.hpp"
#include "pipeline/block_restorer.hpp"
#include "pipeline/content_place.hpp"
#include "pipeline/doubtful_blocks.hpp"
#include "pipeline/large_pieces.hpp"
#include "pipeline/restore_slot.hpp"
#include "pipeline/stream.hpp"
#include "pipeline/stream_restorer.hpp"

namespace hemstitch {

class RestoreJob {
 public:
  enum class Event {
    kMore,        // continue
    kFrameBegin,  // plan() is ready for this frame; make slots
    kBlock,       // a block was added to the slot; for a stream: the slot is full
    kFrameEnd,
    kSkip,  // skip skip_bytes() bytes, then call skipped()
    kEnd,   // the stream, or the range, is complete
  };

  // `total_bytes` is the size of the stream, if known. "auto" uses it to choose a backend, once the first
  // frame's header is read.
  RestoreJob(const RestoreOptions& options, std::optional<ContentRange> range,
             const StreamPlaces& places = {}, std::optional<std::uint64_t> total_bytes = std::nullopt,
             DeviceTime time = DeviceTime::kBefore);

  // Call it before anything is received, for a source that can seek and is read from its beginning: frames whose places
  // it tells are blocks.
  void know_source(Source& source) {
    stream_.know_file(source, place_.range() ? FrameSearch::kParts : FrameSearch::kQuickly);
  }
  // Call it before anything is received. Adds points to `index`, which must outlive the job. All frames
  // must then be gzip, and not BGZF.
  void make_index(GzipIndex& index) { streams_.make_index(index); }

  // Call it before anything is received, if slots are emitted while others are filled. Then a stream's
  // decoder may lend its content instead of copying it.
  void borrow_content() { streams_.borrow_content(); }

  // These describe the current frame.
  const FrameHeader& frame_header() const { return header_; }
  const BatchPlan& plan() const { return plan_; }
  // The content of a full slot.
  std::size_t batch_bytes() const { return plan_.blocks_per_batch * header_.block_bytes; }
  bool works_in_order() const { return frame_header().block_kind == BlockKind::kLinked; }
  // More threads than batches would have nothing to do, and oneTBB's threads would search for work for a
  // while. But all threads read and write large batches.
  unsigned threads() const {
    if (plan_.batches_in_flight == 1) return 1;
    // A stream is restored by its decoder's own threads; here one thread takes content and another writes
    // it. Content from a device comes fast enough for all threads.
    if (is_stream() && streams_.has_threads() && !streams_.is_on_device()) return 2;
    return batch_bytes() < kLargePieceBytes ? std::min(threads_, plan_.batches_in_flight) : threads_;
  }
  // Whether a device may take over from the processor within a frame. If so, emit all slots, then call
  // take_device(), which makes a new plan, and make new slots.
  bool device_is_ready();
  void take_device();
  RestoreSlot make_slot();
  // Of the run, from the first frame on.
  TimeLine& time_line() { return engine_->time_line(); }
  // What batches had so far, on average. Call it while none is emitted.
  std::size_t usual_batch_bytes() const {
    return emitted_batches_ == 0 ? batch_bytes()
                                 : static_cast<std::size_t>(report_.output_bytes / emitted_batches_);
  }
  // Whether the slots of the frame before fit this one too: making slots costs more than a small frame.
  bool keeps_slots() const { return keeps_slots_; }

  // Where the next bytes go. Empty if the next step takes no bytes, or only bytes that were received
  // before. `slot` is used only between kFrameBegin and kFrameEnd.
  std::span<std::byte> room(RestoreSlot& slot);
  // `bytes` bytes came. They may be fewer than room() has only if more will follow, or `at_end`.
  Event received(RestoreSlot& slot, std::size_t bytes, bool at_end);
  // When room() wants bytes that have not come yet: restores what those before them give, without waiting. Then
  // received() need not be called. Nothing if they give no more.
  std::optional<Event> restore_so_far(RestoreSlot& slot);
  // Before a slot is worked on that is not full, although its frame goes on: takes out of it what has come of
  // the next block. That goes into the slot that is filled next.
  void set_aside(RestoreSlot& slot);
  // An alternative to room() and received(), for reading a batch in one piece: how many of the next bytes
  // of the stream are blocks that fit into the slot, with the bytes between them and after the frame's last
  // one. For the frame's first slot it reads block headers and seeks back; 0 if the source cannot seek, or
  // if that finds nothing. For later slots it is a guess: the size of the batch before, and a little more.
  std::size_t bytes_ahead(const RestoreSlot& slot, Source& source) const;
  // `bytes` bytes, at most bytes_ahead(), came from `source` and are at slot.input_bytes.
  Event received_ahead(RestoreSlot& slot, std::size_t bytes, Source& source);
  std::uint64_t skip_bytes() const { return skip_bytes_; }
  void skipped(std::uint64_t count);
  bool full(const RestoreSlot& slot) const {
    if (is_stream()) return slot.loan || stream_bytes(slot) == batch_bytes();
    if (!works_in_order()) return slot.blocks.size() == plan_.blocks_per_batch;
    // There must be room for another block, whatever its size. Small ones are many, since each slot costs a
    // copy of the content before it.
    constexpr std::size_t kMostSmallBlocks = 1024;
    return slot.blocks.size() >= std::max<std::uint64_t>(kMostSmallBlocks, plan_.blocks_per_batch) ||
           slot.content_bytes + header_.block_bytes > batch_bytes() ||
           slot.input_bytes + slot_input_bytes() / plan_.blocks_per_batch > slot_input_bytes();
  }

  // For ranges: all blocks of this frame except the last two are known to be full, and the last one has
  // this size. So blocks before the range need not be read.
  void frame_has_full_blocks(std::uint64_t last_block_content_bytes) {
    place_.frame_has_full_blocks(last_block_content_bytes);
  }
  // The reader of the frames; a copy of it looks ahead.
  const FrameStream& frame_stream() const { return stream_; }
  // Call it before slots are destroyed. After it nothing is written into them.
  void settle() noexcept { streams_.settle_all(); }

  // Whether a block is not what its frame says, although its frame may_be_streams. Then nothing more is
  // emitted: fill no more slots, work on the filled ones and emit them, and call leave_blocks() instead of
  // end_frame(). That restores what begins there as a stream, as after kFrameBegin; or it throws what is wrong
  // with the block if no stream is there. `source` is where a stream of known size comes from.
  bool leaves_blocks() const { return doubts_.leaves_blocks(); }
  void leave_blocks(Source* source);

  void seal(RestoreSlot& slot) const { slot.input_position = stream_.position(); }
  void work(RestoreSlot& slot);
  void emit(RestoreSlot& slot, Sink& sink);
  void end_frame();

  // After kEnd, if other bytes follow the last frame: passes on those that were received, until it returns 0;
  // the rest is in the source. rest_written() takes them for content.
  std::size_t read_rest(std::span<std::byte> into);
  void rest_written(std::size_t bytes);

  // For a stream whose end nobody has told: nothing while a frame is under way, or before the first one. Otherwise
  // what was received so far is whole, and these are the bytes behind it, which begin no frame unless more follow.
  std::optional<std::vector<std::byte>> rest_if_ended() const;

  // What emit() has written so far.
  std::uint64_t emitted_output_bytes() const { return report_.output_bytes; }
  // Call it after kEnd. Throws kRangeOutsideContent if the range begins after the content.
  void require_range_inside_content() const;
  // Complete after kEnd and the last end_frame().
  StreamReport report() const;

 private:
  bool is_stream() const { return header_.block_kind == BlockKind::kStream; }
  // Of the current frame.
  std::span<const std::byte> dictionary() const {
    return header_.takes_dictionary ? stream_.format().dictionary_content(dictionary_)
                                    : std::span<const std::byte>();
  }
  Format frame_format() const { return header_.format.value_or(stream_.format().id()); }
  static std::size_t stream_bytes(const RestoreSlot& slot) {
    return slot.blocks.empty() ? 0 : slot.blocks[0].content.size();
  }
  void begin_frame();
  void choose_engine();
  // What of a header a plan depends on. Frames that are alike share one, since making it costs as much as
  // restoring a small frame.
  struct FrameShape {
    Format format;
    BlockKind block_kind;
    bool may_be_streams;
    std::size_t block_bytes, most_data_bytes, history_bytes;
    std::optional<std::uint64_t> block_count;  // if the size of the content is known

    bool operator==(const FrameShape&) const = default;
  };
  FrameShape frame_shape() const;
  void plan_for_engine();
  // Nothing if there is no more content without further input, and some may follow.
  using Input = StreamRestorer::Input;
  std::optional<Event> restore_stream(RestoreSlot& slot, Input input);
  void require_indexable() const;
  // Whether the bytes of blocks are kept until the blocks are emitted, since the source cannot go back.
  bool keeps_bytes() const { return header_.may_be_streams && (place_.range() || !total_bytes_); }
  FrameReader::Event step(std::span<const std::byte> gathered);
  DoubtfulBlock doubtful_block(const RestoreSlot::Block& block) const;
  bool doubts_block(const RestoreSlot& slot);
  void finish_emitting(RestoreSlot& slot) const;
  void verify_frame() const;
  bool sums_up_blocks() const { return content_checksum_ && checksums_combine(stream_.format().checksum()); }
  // By its decoder.
  bool stream_is_summed_up() const { return is_stream() && streams_.sums_up(); }
  BlockRestorer block_restorer();
  std::size_t slot_input_bytes() const;
  std::size_t slot_output_bytes() const;
  std::size_t take_unused(std::span<std::byte> to);
  Event take(RestoreSlot& slot, std::span<const std::byte> gathered);
  Place block_place() const;
  bool keep_block(const RestoreSlot& slot, std::size_t data_bytes);
  std::size_t most_content_bytes(std::span<const std::byte> data) const;
  Event range_done_or(Event event) const { return place_.is_at_end_of_range() ? Event::kEnd : event; }

  RestoreOptions options_;
  std::vector<std::byte> dictionary_;
  StreamPlaces places_;
  std::optional<std::uint64_t> total_bytes_;
  DeviceTime time_;
  unsigned threads_;
  std::optional<ResilientEngine>
      engine_;  // from the first frame on, whose header has the format and the size
  FrameStream stream_;
  FrameHeader header_;  // of the current frame; empty before the first one
  BatchPlan plan_;
  std::optional<FrameShape> planned_shape_;
  bool keeps_slots_ = false;
  ContentPlace place_;  // of what has been received
  StreamRestorer streams_;
  DoubtfulBlocks doubts_;

  // filling
  std::vector<std::byte> header_bytes_;
  std::size_t gathered_bytes_ = 0;  // of the wanted_bytes() of stream_
  bool in_block_ = false;
  bool skipping_block_ = false;
  std::size_t known_to_skip_ = 0;  // of the known_blocks(), where there are any
  std::uint64_t skip_bytes_ = 0;
  std::uint64_t skipped_bytes_ = 0;  // besides those: of the bytes in unused_
  std::vector<std::byte> aside_;
  std::vector<std::byte> left_;  // the kept bytes of a stream that was taken for blocks
  // What was received and is not taken yet: a part of the room of streams_, of aside_ or of left_. A decoder may
  // have read ahead besides.
  std::span<const std::byte> unused_;

  // working, linked frames
  std::vector<std::byte> linked_history_;

  // emitting
  std::uint64_t emitted_batches_ = 0;
  std::uint64_t frame_content_bytes_ = 0;
  std::size_t batch_input_bytes_ =
      0;  // of the frame's last batch that was read ahead and filled its slot; 0: none
  std::optional<RunningChecksum> content_checksum_;  // of a frame that has one
  std::uint64_t rest_read_bytes_ = 0, rest_written_bytes_ = 0;
  StreamReport report_;
};

}  // namespace hemstitch
