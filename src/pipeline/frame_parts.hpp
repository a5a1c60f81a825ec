// What a frame is made of besides its blocks' data, for all that write frames: one from a stream (compress_job.hpp),
// or many at once (frame_batch.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/backend.hpp"
#include "format/lz4/lz4_frame.hpp"

namespace hemstitch {

// What a block may take besides its data: the size word and the checksum.
inline constexpr std::size_t kBlockFrameBytes = kBlockHeaderBytes + kBlockChecksumBytes;
// What a frame may take besides its blocks: the header, the end mark and the content checksum.
inline constexpr std::size_t kFrameEndBytes = 8;

// The header of the frame that `options` ask for; `options.dictionary` is the part that serves as history.
std::vector<std::byte> frame_header(const CompressOptions& options);

// The data of a block that an engine was done with: what it wrote, or the block itself where it did not shrink.
struct BlockData {
  std::span<const std::byte> bytes;
  std::uint32_t size_word;  // as it stands before the data
};
BlockData block_data(const BlockTask& task);

// The block of a content's last byte, where that stands apart (lz4_frame_layout.hpp).
using LastByteBlock = std::array<std::byte, kBlockHeaderBytes + 1 + kBlockChecksumBytes>;
LastByteBlock last_byte_block(std::byte last);

// The end mark and, where there is one, the content checksum; kFrameEndBytes at most.
struct FrameEnd {
  std::array<std::byte, kFrameEndBytes> room{};
  std::size_t bytes = 0;
};
FrameEnd frame_end(std::optional<std::uint32_t> content_checksum);

}  // namespace hemstitch
