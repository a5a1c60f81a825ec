// How content is divided into batches that are compressed one after the other, each as a frame of its own, and of which the blocks
// make one frame in the end: as data.
//
// A frame's first block begins behind its header, and what stands behind its last block is the end. So the blocks of two frames one
// behind the other are those of one frame of both contents, if all blocks of the first one are full. Only the last byte, which
// may be a block of its own (format/lz4/frame/lz4_frame_layout.hpp), is in the way: a batch is then given one byte more than it
// is for, and that byte's block is cut off together with the end mark. The frame's own last byte, where it stands apart, is written by
// who writes the end.
#pragma once

#include <cstdint>
#include <vector>

#include "format/frame_layout.hpp"

namespace hemstitch {

struct FrameBatch {
  std::uint64_t at = 0;           // in the content
  std::uint64_t bytes = 0;        // of the content, whole blocks but in the last batch
  std::uint64_t given_bytes = 0;  // to be compressed from `at` on
  std::uint64_t cut_bytes = 0;    // from the end of the frame that these make
};

// `layout` is that of an LZ4 frame without content checksum; `batch_bytes` a multiple of its blocks.
std::vector<FrameBatch> plan_frame_batches(const FrameLayout& layout, bool block_checksums,
                                           std::uint64_t batch_bytes);

}  // namespace hemstitch
