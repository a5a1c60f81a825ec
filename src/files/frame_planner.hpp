// Where the blocks of a compressed file stand, and where they go, found while the file comes in pieces: for those who restore
// blocks on a device, side by side, straight to their places in the content. Nothing is restored here and no device is needed.
//
//   FramePlanner planner(file_bytes, true);
//   while (there is more) if (!planner.take(piece, blocks)) leave the file to the reader of streams;
//   if (!planner.finish(blocks)) likewise;
//
// Places. A block's size is known when it is restored, its place has to be known before. So each gets a room: as much as it can
// restore to, which for all but the last block of a frame is what it does restore to in the frames that people write. What a room
// is at most follows from the frame's block size, from the block's own bytes (LZ4 makes of a byte 255 at most) and from the
// content's size, where the header says that. A block that says its size, as those of BGZF do, gets just that. Rooms never overlap; where a block leaves some of its room, the blocks behind it
// are moved up afterwards.
//
// What is not for a device, or wrong, is left to the reader of streams (pipeline/restore_stream.cpp), which also finds the words for
// it: linked blocks, streams as an ordinary .gz is one, but for those that are short and a file of their own (FrameFormat::short_stream()), which are
// a block, dictionaries, legacy frames, other formats, damage, something behind the last frame, and more frames and blocks than a file of
// such a size should have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/frame_index.hpp"
#include "format/frame_reader.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

struct PlannedBlock {
  std::uint64_t at = 0;  // of its data, in the file
  std::uint32_t data_bytes = 0;
  bool stored = false;
  Format format = Format::kLz4;
  std::optional<std::uint32_t> checksum;  // of its data
  // Where the block says it; then `room_bytes` is its size.
  std::optional<std::uint32_t> content_checksum, content_bytes;
  std::uint64_t content_at = 0;  // its room, in the content
  std::uint32_t room_bytes = 0;  // exactly its size, where it is stored
  std::size_t frame = 0;         // in frames()
};

struct PlannedFrame {
  std::uint64_t content_at = 0;  // where its blocks' rooms begin
  std::optional<std::uint64_t> content_bytes;
  std::optional<std::uint32_t> content_checksum;  // known at its end
};

class FramePlanner {
 public:
  // What a block that is not complete takes at most, and so what is carried from one piece to the next.
  static constexpr std::size_t kMostCarriedBytes = (std::size_t{4} << 20) + 16;

  FramePlanner(std::uint64_t file_bytes, bool verify_header_checksums)
      : file_bytes_(file_bytes), stream_(verify_header_checksums) {}

  // The next bytes of the file. Adds the blocks that are complete, and of which the place is known, in their order. False: the file
  // is to be left to the reader of streams, and the planner is of no use any more.
  bool take(std::span<const std::byte> piece, std::vector<PlannedBlock>& blocks);
  // After the last byte. False: as above.
  bool finish(std::vector<PlannedBlock>& blocks);

  std::uint64_t position() const { return position_; }
  // From here on the file's bytes are needed for blocks to come; position(), where none of those before is.
  std::uint64_t carried_from() const;
  // Where the last room ends.
  std::uint64_t content_end() const { return content_end_; }
  // Where the content of the frames so far will end, by their own word; nothing where the last one does not say.
  std::optional<std::uint64_t> promised_end() const;
  const std::vector<PlannedFrame>& frames() const { return frames_; }

 private:
  bool react(FrameReader::Event event, std::vector<PlannedBlock>& blocks);
  bool begin_frame();
  bool begin_short_stream();
  bool end_short_stream(std::vector<PlannedBlock>& blocks);
  std::uint64_t short_stream_end() const { return short_stream_->at + short_stream_->data_bytes; }
  bool begin_block(std::vector<PlannedBlock>& blocks);
  void end_block();
  bool passed();
  bool settle(std::optional<std::uint32_t> next_stored_bytes, std::vector<PlannedBlock>& blocks);
  bool has_too_many();

  std::uint64_t file_bytes_;
  FrameStream stream_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> gathered_;  // of what is wanted next
  std::uint64_t passing_bytes_ = 0;  // still to be passed over
  bool in_block_ = false;            // its data is passed over, then gathered what stands behind that
  bool in_skippable_ = false;
  PlannedBlock block_;                        // that is passed over
  std::optional<IndexedBlock> short_stream_;  // all that the file holds
  std::optional<PlannedBlock> last_;          // complete; its room depends on what comes next
  std::uint64_t frame_blocks_ = 0;
  std::uint64_t entries_ = 0;  // frames and blocks
  std::uint64_t content_end_ = 0;
  std::vector<PlannedFrame> frames_;
};

}  // namespace hemstitch
