// near_three through WebGPU; the definition stands in near_three.hpp.
#pragma once

#include <optional>

#include "match/common/block_batch.hpp"
#include "match/links/links_webgpu.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch::webgpu {

struct NearThreeBuffers {
  BufferId heads;    // link_heads_bytes() of the blocks, or of the pieces
  BufferId links;    // 4 bytes for each byte of the data
  BufferId records;  // as large
};

// The offsets of find_near_three(), as match records: with how many bytes agree there, 3 at least and `most_compared` at most. 0 where
// there is none. With `pieces`, the links are built by pieces. Throws kInvalidOption as find_near_three() does for its parameters.
void record_near_three(Recording& recording, const BlockBatch& batch, const NearThreeBuffers& buffers,
                       const NearThreeParameters& parameters, std::uint32_t most_compared,
                       const std::optional<LinkPieces>& pieces = {});

}  // namespace hemstitch::webgpu
