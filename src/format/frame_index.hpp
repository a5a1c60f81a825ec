// Where the frames of a stream and their blocks stand, what they say of themselves, and how much they hold: for listing,
// for ranges, and for all that restores blocks side by side. Nothing is restored here but frames whose ends nothing else tells.
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
  std::optional<std::uint32_t> content_bytes = {};  // as the frame has it

  std::span<const std::byte> data(std::span<const std::byte> stream) const {
    return stream.subspan(static_cast<std::size_t>(at), data_bytes);
  }
};

struct IndexedFrame {
  FrameHeader header;      // of a skippable frame its kind alone
  bool skippable = false;  // it holds no content
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;  // the whole frame, headers and checksums included
  std::size_t first_block = 0;
  std::uint64_t block_count = 0;  // of a stream, which has none that are known: 0
  std::uint64_t stored_block_count = 0;
  std::uint64_t content_bytes =
      0;  // what the header says; without that, what the blocks or the stream add up to, where they are measured
  std::optional<std::uint32_t> content_checksum;
  std::optional<std::uint32_t> content_bytes_low;  // as FrameReader has it
};

struct FrameIndex {
  const FrameFormat* format = nullptr;
  std::vector<IndexedFrame> frames;
  std::vector<IndexedBlock> blocks;                  // of all frames, where they are kept
  bool end_missing = false;                          // of a frame: FrameReader::end_missing()
  std::optional<std::uint64_t> trailing_garbage_at;  // where bytes that are no frame begin after the last one

  std::span<const IndexedBlock> blocks_of(const IndexedFrame& frame) const {
    return std::span(blocks).subspan(frame.first_block, static_cast<std::size_t>(frame.block_count));
  }
  std::uint64_t content_bytes() const;
  // Whether every block can be restored by itself, or behind the dictionary: the frames are independent ones, or linked ones
  // in which only the first block is not stored; and nothing else stands among or behind them, or is missing there.
  bool has_separate_blocks() const;
};

// All blocks of a stream in memory; none is measured. Throws Error as FrameReader does, and kUnsupportedFeature at a frame whose
// blocks cannot be told apart.
FrameIndex index_frames(std::span<const std::byte> stream, bool verify_header_checksum);

// A file in memory whose blocks can be restored one by one (FrameIndex::has_separate_blocks()); so may be a file that is one stream
// (FrameFormat::whole_stream()), which has that as its block. Nothing for others. Throws as above.
std::optional<FrameIndex> index_separate_blocks(std::span<const std::byte> file, bool verify_header_checksum);

// The frames of a stream; blocks are measured where a header does not say what they add up to, and are not kept, so that
// the index is small whatever the stream is. A frame whose blocks cannot be told apart is restored by what `make_decoder` gives,
// and is kUnsupportedFeature without. `known_format`: null where the first bytes tell it. Throws Error as FrameReader does, and kCorruptBlock.
using MakeStreamDecoder = std::function<std::unique_ptr<StreamDecoder>(const FrameFormat&)>;
FrameIndex index_frames(Source& source, const MakeStreamDecoder& make_decoder = {},
                        const FrameFormat* known_format = nullptr);

// If every block of the frame that has just begun, but the last two, restores to the full block size: the last one's
// size. Then a block's place in the content follows from its number, and blocks before a range need not even be read.
//
// Each block restores to at most the block size, so this holds exactly if the full blocks and the last two, measured, add
// up to the content size that the header announces. (The last two, since the last may be the content's last byte alone:
// format/frame_layout.hpp.) Nothing where the source cannot be read twice; leaves it where it was.
std::optional<std::uint64_t> last_of_full_blocks(const FrameStream& begun, Source& source);

}  // namespace hemstitch
