// gather through WebGPU; gather.hpp defines it.
#pragma once

#include <cstdint>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// The place of a piece in the source buffer.
struct GatherPiece {
  std::uint32_t source = 0;  // byte
  std::uint32_t bytes = 0;
};

struct GatherBuffers {
  BufferId source;
  BufferId pieces;  // a GatherPiece for each piece
  BufferId begins;  // of scan: where each piece goes, and the total
  BufferId output;  // in vectors of 16 bytes: the bytes after the total in the last one become 0
};

// The pieces must fit the output, whose bytes are at most `most_output_bytes`.
void record_gather(Recording& recording, const GatherBuffers& buffers, std::uint32_t piece_count,
                   std::uint64_t most_output_bytes);

}  // namespace hemstitch::webgpu
