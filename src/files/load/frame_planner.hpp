// Finds the blocks of a compressed file, and their places in the content, while the file comes in pieces.
// With this a device restores blocks in parallel, straight to their places. Nothing is restored here, and no
// device is needed.
//
//   FramePlanner planner(file_bytes, true);
//   while (there is more) if (!planner.take(piece, blocks)) leave the file to the reader of streams;
//   if (!planner.finish(blocks)) likewise;
//
// Places. A block's size is known after it is restored, but its place must be known before. So each block
// gets a room, as large as the most that it can restore to. In the frames that people write, all blocks
// except a frame's last one fill it. The limits of a room are the frame's block size, the block's own bytes
// (LZ4 makes at most 255 bytes of one) and the content's size, if the header has it. A block that states its
// size, as in BGZF, gets exactly that. Rooms never overlap. If a block does not fill its room, the blocks
// after it are moved up later.
//
// Everything that a device does not support, and everything that is wrong, is left to the reader of streams
// (pipeline/restore_stream.cpp), which also reports what is wrong: linked blocks, dictionaries, legacy
// frames, other formats, damage, bytes after the last frame, more frames and blocks than a file of this size
// should have, and streams, such as an ordinary .gz. Only short streams that are a whole file
// (FrameFormat::short_stream()) count as a block.
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
  Format format = {};
  std::optional<std::uint32_t> checksum;  // of its data
  // If the block states it; then `room_bytes` is its size.
  std::optional<std::uint32_t> content_checksum, content_bytes;
  std::uint64_t content_at = 0;  // its room, in the content
  std::uint32_t room_bytes = 0;  // exactly its size if it is stored
  std::size_t frame = 0;         // in frames()
};

struct PlannedFrame {
  std::uint64_t content_at = 0;  // where its blocks' rooms begin
  std::optional<std::uint64_t> content_bytes = {};
  std::optional<std::uint32_t> content_checksum = {};  // known at the frame's end
  Format format = {};
};

// Whether the blocks of a format can be restored.
using RestoresFormat = bool (*)(Format);

class FramePlanner {
 public:
  // The most bytes of an incomplete block, and so the most that is carried from one piece to the next.
  static constexpr std::size_t kMostCarriedBytes = (std::size_t{4} << 20) + 16;

  // Leaves files of other formats than those that `restores` accepts; null: all.
  FramePlanner(std::uint64_t file_bytes, bool verify_header_checksums, RestoresFormat restores)
      : file_bytes_(file_bytes), stream_(verify_header_checksums), restores_(restores) {}

  // The next bytes of the file. Adds the blocks that are complete and whose places are known, in their
  // order. Returns false if the file must be left to the reader of streams; then the planner cannot be used
  // any more.
  bool take(std::span<const std::byte> piece, std::vector<PlannedBlock>& blocks);
  // Call it after the last byte. Returns false as above.
  bool finish(std::vector<PlannedBlock>& blocks);

  std::uint64_t position() const { return position_; }
  // The first byte of the file that later blocks need; position() if they need none of the bytes so far.
  std::uint64_t carried_from() const;
  // Where the last room ends.
  std::uint64_t content_end() const { return content_end_; }
  // Where the content of the frames so far will end, according to their headers; nothing if the last header
  // does not say it.
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
  RestoresFormat restores_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> gathered_;  // of the wanted bytes
  std::uint64_t passing_bytes_ = 0;  // still to skip
  bool in_block_ = false;            // its data is skipped, then the bytes after the data are gathered
  bool in_skippable_ = false;
  PlannedBlock block_;                        // the block that is being skipped
  std::optional<IndexedBlock> short_stream_;  // the whole content of the file
  std::optional<PlannedBlock> last_;          // complete; its room depends on what follows
  std::uint64_t frame_blocks_ = 0;
  std::uint64_t entries_ = 0;  // frames and blocks
  std::uint64_t content_end_ = 0;
  std::vector<PlannedFrame> frames_;
};

}  // namespace hemstitch
