// Where the frames and blocks of a stream are, what they state about themselves, and how much they hold: for
// listing, for ranges, and for restoring blocks in parallel. Only frames whose ends cannot be found otherwise
// are restored here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/source.hpp"
#include "format/frame_reader.hpp"

namespace hemstitch {

struct IndexedBlock {
  std::uint64_t at = 0;          // of its data in the stream
  std::uint32_t data_bytes = 0;  // without the checksum
  bool stored = false;
  std::optional<std::uint32_t> checksum = {};
  std::optional<std::uint32_t> content_checksum = {};
  std::optional<std::uint32_t> content_bytes = {};  // if the frame has it

  std::span<const std::byte> data(std::span<const std::byte> stream) const {
    return stream.subspan(static_cast<std::size_t>(at), data_bytes);
  }
};

struct IndexedFrame {
  FrameHeader header;      // of a skippable frame, only its kind
  bool skippable = false;  // it holds no content
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;  // the whole frame, headers and checksums included
  std::size_t first_block = 0;
  std::uint64_t block_count = 0;  // 0 for a stream, whose blocks are not known
  std::uint64_t stored_block_count = 0;
  std::uint64_t content_bytes =
      0;  // as the header says; otherwise that of the blocks or the stream, if measured
  std::optional<std::uint32_t> content_checksum;
  std::optional<std::uint32_t> content_bytes_low;  // as in FrameReader
};

struct FrameIndex {
  const FrameFormat* format = nullptr;  // null if all frames are skippable
  std::vector<IndexedFrame> frames;
  std::vector<IndexedBlock> blocks;  // of all frames, if they are kept
  bool end_missing = false;          // of a frame: FrameReader::end_missing()
  std::optional<std::uint64_t>
      trailing_garbage_at;  // where bytes that are not a frame begin after the last frame

  std::span<const IndexedBlock> blocks_of(const IndexedFrame& frame) const {
    return std::span(blocks).subspan(frame.first_block, static_cast<std::size_t>(frame.block_count));
  }
  std::uint64_t content_bytes() const;
  // Whether every block can be restored by itself, or with only the dictionary before it: all frames have
  // independent blocks, or linked ones of which only the first is not stored; and there are no other bytes
  // between or after the frames, and no end mark is missing.
  bool has_separate_blocks() const;
};

// All blocks of a stream in memory; none is measured. Throws Error as FrameReader does, and
// kUnsupportedFeature for a frame whose blocks cannot be told apart.
FrameIndex index_frames(std::span<const std::byte> stream, bool verify_header_checksum);

// The index of a file in memory whose blocks can be restored one by one (FrameIndex::has_separate_blocks()).
// A file that is one short stream (FrameFormat::whole_stream()) counts too, with the stream as its block.
// Nothing for other files. Throws as above.
std::optional<FrameIndex> index_separate_blocks(std::span<const std::byte> file, bool verify_header_checksum);

// Receives a frame once all of it was passed. Frames that are passed on are not kept in the index. Null: the walk
// begins anew, since blocks of BGZF turned out to be members of gzip; what was received until then counts no more.
using VisitFrame = std::function<void(const IndexedFrame*)>;

// The frames of a stream. Blocks are measured if the header does not give the content's size, and they are
// not kept; nor are frames with `visit`, so that memory does not grow with their number. `make_decoder` makes
// what restores a frame whose blocks cannot be told apart; without it such a frame is kUnsupportedFeature. `known_format`: null if the
// first bytes identify the format. Throws Error as FrameReader does, and kCorruptBlock.
using MakeStreamDecoder =
    std::function<std::unique_ptr<StreamDecoder>(const FrameFormat&, const FrameHeader&)>;
FrameIndex index_frames(Source& source, const MakeStreamDecoder& make_decoder = {},
                        const FrameFormat* known_format = nullptr, const VisitFrame& visit = {});

// If every block of the frame that has just begun, except the last two, restores to the full block size: the
// size of the last one. Then a block's place in the content follows from its number, and blocks before a
// range need not even be read.
//
// No block restores to more than the block size. So the condition holds exactly if the full blocks and the
// last two, which are measured, add up to the content size in the header. (It is the last two, since the last
// block may be only the content's last byte: format/frame_layout.hpp.) Nothing if the source cannot be read
// twice. Leaves the source where it was.
std::optional<std::uint64_t> last_of_full_blocks(const FrameStream& begun, Source& source);

}  // namespace hemstitch
