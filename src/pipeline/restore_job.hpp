// Frames being read: what is common to files, ranges of files and pushed streams.
//
// A slot holds one batch of blocks on its way. The owner of the job gathers bytes into room() and tells
// received(); that answers with what the bytes were. From kFrameBegin to kFrameEnd the blocks of one frame
// fill slots, and for each slot in turn the owner calls:
//   room() and received() until the slot is full or the frame ends   one thread at a time, in order
//   work()                                                           any thread; in order where works_in_order()
//   emit()                                                           one thread at a time, in order
// then end_frame() once all of the frame's slots are emitted. A frame whose blocks cannot be told apart (BlockKind::kStream) is
// restored where its bytes are received, into slots of content; what was received behind its end is kept for what follows.
// Errors met while filling or working are kept in
// the slot and thrown by emit() after the good blocks before them are written: the first error of the stream
// is the one that is reported, whatever the threads do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/large_buffer.hpp"
#include "core/options.hpp"
#include "core/workspace.hpp"
#include "engine/resilient_engine.hpp"
#include "format/formats.hpp"
#include "format/gzip_index.hpp"
#include "pipeline/large_pieces.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

// Content bytes [begin, end) of all frames together.
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
};

struct RestoreSlot {
  struct Block {
    std::span<const std::byte> data;
    bool stored = false;
    std::optional<std::uint32_t> checksum;
    Place place;
    std::uint64_t content_at = 0;                                            // only kept for ranges
    std::optional<std::uint32_t> content_checksum = {}, content_bytes = {};  // where the frame has them
    std::span<const std::byte> content = {};  // set by work(), of a stream when it is received
    std::uint32_t found_checksum = 0;         // of the content, where that is summed up by blocks
  };

  LargeBuffer
      input;  // the blocks' data and checksums, and where they were read at once what stands between them
  LargeBuffer output;  // history of linked frames, then the content
  std::size_t input_bytes = 0;
  std::uint64_t input_position = 0;  // bytes of the stream read when the slot was sealed
  std::uint64_t under_way =
      0;  // of a stream: up to where its decoder's content is still to come (StreamDecoder::under_way())
  std::vector<Block> blocks;  // of a stream: its content, in `output`, and behind that what its decoder lent
  std::shared_ptr<const std::byte> loan;
  std::size_t good_blocks = 0;  // what emit() writes before it throws
  std::exception_ptr error;
};

class RestoreJob {
 public:
  enum class Event {
    kMore,        // go on
    kFrameBegin,  // plan() holds for this frame; make slots
    kBlock,       // a block was added to the slot; of a stream: the slot is full
    kFrameEnd,
    kSkip,  // pass over skip_bytes() bytes, then call skipped()
    kEnd,   // the stream, or the range, is complete
  };

  // `total_bytes` of the stream, where they are known: for the choice of a backend by "auto", which waits for the first frame's header.
  RestoreJob(const RestoreOptions& options, std::optional<ContentRange> range,
             const StreamPlaces& places = {}, std::optional<std::uint64_t> total_bytes = std::nullopt,
             DeviceTime time = DeviceTime::kBefore);

  // Before anything is received: adds places to `index`, which outlives the job. Frames then have to be those of gzip, but not BGZF's.
  void make_index(GzipIndex& index) { index_ = &index; }

  // Before anything is received: slots are emitted while others are filled, so that content of a stream may be lent by who restores it.
  void borrow_content() { borrows_ = true; }

  // Of the current frame.
  const FrameHeader& frame_header() const { return header_; }
  const BatchPlan& plan() const { return plan_; }
  // Content of a full slot.
  std::size_t batch_bytes() const { return plan_.blocks_per_batch * header_.block_bytes; }
  bool works_in_order() const { return frame_header().block_kind == BlockKind::kLinked; }
  // More than there are batches would find nothing to do, and TBB's threads search for it in vain at some length; but large
  // batches are read and written by all of them.
  unsigned threads() const {
    if (plan_.batches_in_flight == 1) return 1;
    // Its own threads restore a stream; here one hands over content, another writes it. From a device it comes fast enough for all of them.
    if (is_stream() && stream_has_threads_ && !stream_on_device_) return 2;
    return batch_bytes() < kLargePieceBytes ? std::min(threads_, plan_.batches_in_flight) : threads_;
  }
  // Whether a device may take over from the processor, inside a frame. Then, once all slots are emitted, take_device() plans anew;
  // slots are made anew as well.
  bool device_is_ready();
  void take_device();
  RestoreSlot make_slot();
  // Of the run, from the first frame on.
  TimeLine& time_line() { return engine_->time_line(); }
  // Whether slots that were made for the frame before serve this one: making them costs more than a small frame.
  bool keeps_slots() const { return keeps_slots_; }

  // Where the next bytes go; empty where the next step takes none, or only what was received before.
  // `slot` is only looked at between kFrameBegin and kFrameEnd.
  std::span<std::byte> room(RestoreSlot& slot);
  // `bytes` bytes came; fewer than room() gave only when more will follow, or at_end.
  Event received(RestoreSlot& slot, std::size_t bytes, bool at_end);
  // Instead of that: how many bytes, from where the stream has come to, are blocks that the slot has room for, with what stands between them
  // and behind the last one of the frame. For the frame's first slot looks at what announces the blocks, and goes back; 0 where the
  // source cannot, or where that shows nothing. Later it is a guess: as much as the blocks before had, and a little more.
  std::size_t bytes_ahead(const RestoreSlot& slot, Source& source) const;
  // So many bytes from slot.input_bytes on came from `source`, at most bytes_ahead().
  Event received_ahead(RestoreSlot& slot, std::size_t bytes, Source& source);
  std::uint64_t skip_bytes() const { return skip_bytes_; }
  void skipped(std::uint64_t count);
  bool full(const RestoreSlot& slot) const {
    return is_stream() ? slot.loan || stream_bytes(slot) == batch_bytes()
                       : slot.blocks.size() == plan_.blocks_per_batch;
  }

  // Ranges: all blocks of this frame but the last two are known to be full, and how much the last one holds; so those before
  // the range need not be read.
  void frame_has_full_blocks(std::uint64_t last_block_content_bytes) {
    last_block_content_bytes_ = last_block_content_bytes;
  }
  // What reads the frames; a copy of it looks ahead.
  const FrameStream& frame_stream() const { return stream_; }
  // Before slots go: nothing comes into them any more.
  void settle() noexcept;

  void seal(RestoreSlot& slot) const { slot.input_position = stream_.position(); }
  void work(RestoreSlot& slot);
  void emit(RestoreSlot& slot, Sink& sink);
  void end_frame();

  // How far emit() has come.
  std::uint64_t emitted_output_bytes() const { return report_.output_bytes; }
  // After kEnd. Throws kRangeOutsideContent when the range begins past the content.
  void require_range_inside_content() const;
  // Complete after kEnd and the last end_frame().
  StreamReport report() const;

 private:
  bool is_stream() const { return header_.block_kind == BlockKind::kStream; }
  // Of the frame at hand.
  Format frame_format() const { return header_.format.value_or(stream_.format().id()); }
  static std::size_t stream_bytes(const RestoreSlot& slot) {
    return slot.blocks.empty() ? 0 : slot.blocks[0].content.size();
  }
  void begin_frame();
  void choose_engine();
  void plan_for_engine();
  void plan_stream();
  void begin_stream();
  std::span<std::byte> stream_room();
  Event restore_stream(RestoreSlot& slot, bool at_end);
  StreamStep restore_piece(std::span<std::byte> room);
  void require_indexable() const;
  bool sums_up_blocks() const { return content_checksum_ && checksums_combine(stream_.format().checksum()); }
  bool takes_block_checksums() const {
    return sums_up_blocks() || (header_.block_content_checksums && options_.verify_checksums);
  }
  void sum_up(RestoreSlot& slot, std::size_t count) const;
  std::size_t slot_input_bytes() const;
  std::size_t slot_output_bytes() const;
  std::size_t take_unused(std::span<std::byte> to);
  Event take(RestoreSlot& slot, std::span<const std::byte> gathered);
  Place block_place() const;
  std::uint64_t announced_content_bytes() const;
  bool keep_block(const RestoreSlot& slot, std::size_t data_bytes);
  Event range_done_or(Event event);
  void work_in_order(RestoreSlot& slot);
  void work_independent(RestoreSlot& slot);
  std::uint32_t data_checksum(const RestoreSlot::Block& block) const;
  void verify_data(const RestoreSlot::Block& block, std::uint32_t found) const;
  void verify_content(const RestoreSlot::Block& block) const;
  void require_restored(const BlockTask& task, const Place& place) const;
  std::span<const std::byte> inside_range(const RestoreSlot::Block& block) const;

  RestoreOptions options_;
  std::vector<std::byte> dictionary_;  // at most kHistoryBytes
  std::optional<ContentRange> range_;
  StreamPlaces places_;
  std::optional<std::uint64_t> total_bytes_;
  DeviceTime time_;
  unsigned threads_;
  std::optional<ResilientEngine>
      engine_;  // from the first frame on, which tells the format and how much there is
  FrameStream stream_;
  FrameHeader header_;  // of the current frame; nothing is said before the first
  BatchPlan plan_;
  bool keeps_slots_ = false;

  // filling
  std::vector<std::byte> header_bytes_;
  std::size_t gathered_bytes_ = 0;  // of the stream's wanted_bytes()
  bool in_block_ = false;
  bool skipping_block_ = false;
  std::uint64_t skip_bytes_ = 0;
  std::uint64_t skipped_bytes_ = 0;  // besides those: of what is unused
  std::unique_ptr<StreamDecoder> decoder_;
  GzipIndex* index_ = nullptr;
  StreamMeans stream_means_;
  bool borrows_ = false;
  bool stream_has_threads_ = false, stream_on_device_ = false;
  bool stream_summed_up_ = false;  // by the decoder
  std::vector<std::byte> stream_input_;
  std::span<std::byte> stream_room_;  // where bytes are received: there, or where the decoder wants them
  std::span<const std::byte>
      unused_;  // of stream_room_: received, and not taken yet; decoder_ may have taken more
  std::optional<std::uint64_t> last_block_content_bytes_;  // where a block's place follows from its number
  std::uint64_t content_at_ = 0;        // ranges and streams: content bytes of all that was passed so far
  std::uint64_t frame_content_at_ = 0;  // ranges: where this frame's content begins

  // working, linked frames
  std::vector<std::byte> linked_history_;

  // emitting
  std::uint64_t emitted_batches_ = 0;
  std::uint64_t frame_content_bytes_ = 0;
  std::size_t batch_input_bytes_ =
      0;  // of the frame's last batch that came ahead and filled its slot; 0: none did
  std::optional<RunningChecksum> content_checksum_;  // of a frame that has one
  StreamReport report_;
};

}  // namespace hemstitch
