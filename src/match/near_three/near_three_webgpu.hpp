// near_three through WebGPU; near_three.hpp defines it.
#pragma once

#include <optional>

#include "match/common/webgpu/block_batch.hpp"
#include "match/links/links_webgpu.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch::webgpu {

struct NearThreeBuffers {
  BufferId heads;    // link_heads_bytes() of the blocks, or of the pieces
  BufferId links;    // 4 bytes for each byte of the data
  BufferId records;  // as large
};

// Writes the offsets of find_near_three() as match records, with the number of equal bytes there, from 3 to
// `most_compared`. 0 if there is none. With `pieces`, the links are built in pieces. Throws kInvalidOption as
// find_near_three() does for its parameters.
void record_near_three(Recording& recording, const BlockBatch& batch, const NearThreeBuffers& buffers,
                       const NearThreeParameters& parameters, std::uint32_t most_compared,
                       const std::optional<LinkPieces>& pieces = {});

}  // namespace hemstitch::webgpu
