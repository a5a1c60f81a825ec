// How content is divided into batches, as data. Each batch is compressed as a frame, one after the other, and
// their blocks together make one frame.
//
// A frame's first block begins after its header, and its end mark follows its last block. So the blocks of
// two frames, one after the other, are the blocks of one frame with both contents, if all blocks of the first
// frame are full. The only obstacle is the last byte, which may be a block of its own
// (format/frame_layout.hpp). Therefore a batch gets one byte more than it covers, and the block of this byte
// is cut off together with the end mark. If the whole frame's last byte is a separate block, whoever writes
// the end writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/frame_writer.hpp"

namespace hemstitch {

struct FrameBatch {
  std::uint64_t at = 0;           // in the content
  std::uint64_t bytes = 0;        // of the content; whole blocks except in the last batch
  std::uint64_t given_bytes = 0;  // to compress, from `at` on
  std::uint64_t cut_bytes = 0;    // to remove from the end of the resulting frame
};

// `writer` writes LZ4 frames without a content checksum; `batch_bytes` is a multiple of their block size.
std::vector<FrameBatch> plan_frame_batches(const FrameWriter& writer, std::uint64_t content_bytes,
                                           std::uint64_t batch_bytes);

// The bytes after the blocks of the frame's body: the block of the last byte, if that is separate and given,
// and the end mark.
std::vector<std::byte> write_frame_end(const FrameWriter& writer, std::uint64_t content_bytes,
                                       std::optional<std::byte> last_byte);

}  // namespace hemstitch
