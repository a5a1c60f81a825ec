#include "match/near_three/near_three_webgpu.hpp"

namespace hemstitch::webgpu {

void record_near_three(Recording& recording, const BlockBatch& batch, const NearThreeBuffers& buffers,
                       const NearThreeParameters& parameters, std::uint32_t most_compared,
                       const std::optional<LinkPieces>& pieces) {
  check_near_three_parameters(parameters);
  record_links(recording, batch, buffers.heads, buffers.links,
               {.hash_bits = parameters.hash_bits,
                .most_distance = parameters.window_bytes,
                .hashed_bytes = kNearThreeBytes},
               pieces);
  recording.dispatch({"match/near_three/near_three.wgsl",
                      "walk",
                      {batch.tile_count, parameters.depth, parameters.window_bytes, most_compared},
                      {{batch.data, Access::kRead},
                       {batch.rows, Access::kRead},
                       {batch.tiles, Access::kRead},
                       {buffers.links, Access::kRead},
                       {buffers.records, Access::kReadWrite}},
                      batch.tile_count});
}

}  // namespace hemstitch::webgpu
