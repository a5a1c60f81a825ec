// Where the frames of a file lie and what each holds, so that each can be restored by itself: as the seek table at the
// end of a seekable file says, or as the headers of frames and blocks show.
//
// The seek table ("Zstandard Seekable Format", version 0.1) is a skippable frame:
//
//   0x184D2A5E | its size, 4 bytes | for each frame: its bytes, 4 | those of its content, 4 | XXH64 of the content, its
//   lower 4 bytes, where the descriptor says so | how many frames, 4 | descriptor, 1 byte | 0x8F92EAB1
//
// Its frames lie one after the other from the beginning of the file up to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/options.hpp"
#include "core/source.hpp"
#include "format/frame_reader.hpp"
#include "format/frame_writer.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"

namespace hemstitch {

// A frame, which is a block to those who read the file. `at` is where its magic number lies.
using ZstdPlace = FrameReader::KnownBlock;
using ZstdPlaces = std::vector<ZstdPlace>;

// A frame is restored at once, so frames with more content are left to be read as streams.
inline constexpr std::uint64_t kZstdMostPlaceBytes = kMostSeekableBytes;

// The seek table of frames that were written, without checksums: frames have their own. Returns its size.
std::size_t zstd_seek_table_bytes(std::uint64_t frame_count);
std::size_t write_zstd_seek_table(std::span<const FrameWriter::BlockBytes> frames, std::byte* to);

// The frames that the seek table at the end of `source` lists. Nothing if there is none, or if what it says cannot be:
// its sizes must add up to its own place, a frame must begin at each place, and where a frame states the size of its
// content that must be the table's. So a table that lies is not used. A size that no frame states is believed; whoever
// restores the frame compares it. Also nothing for frames that need a dictionary, skippable ones among the others, and
// frames that are too large or whose window makes a difference.
//
// The headers of all frames are compared, or, for a few parts of a large file, those of a few frames: then whoever
// reads another frame compares its header (agrees()), and as to frames between, the table is believed.
//
// The source must be able to seek; its position changes. Throws kReadFailed.
enum class ZstdCompared { kAll, kFew };
std::optional<ZstdPlaces> places_of_seek_table(Source& source, ZstdCompared compared = ZstdCompared::kAll);

// The same by the headers of all frames and blocks. Every frame must state the size of its content, and skippable
// frames may lie between them.
std::optional<ZstdPlaces> places_of_headers(Source& source);

// Whether the header that was read at this place belongs to such a frame.
bool agrees(const ZstdPlace& place, const ZstdFrameHeader& header, std::size_t header_bytes);

}  // namespace hemstitch
