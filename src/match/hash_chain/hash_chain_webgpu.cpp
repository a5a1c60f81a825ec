#include "match/hash_chain/hash_chain_webgpu.hpp"

#include "match/hash_chain/hash_chain_tuning.hpp"
#include "match/links/links_webgpu.hpp"
#include "match/stitch/stitch_webgpu.hpp"

namespace hemstitch::webgpu {

static_assert(kHashChainMostStitchReach <= kMostStitchReach);

void record_hash_chain(Recording& recording, const BlockBatch& batch, const HashFinderBuffers& buffers,
                       const HashChainParameters& parameters, const std::optional<LinkPieces>& pieces) {
  check_hash_chain_parameters(parameters);
  record_links(recording, batch, buffers.heads, buffers.other,
               {.hash_bits = parameters.hash_bits, .most_distance = parameters.window_bytes}, pieces);
  recording.dispatch({"match/hash_chain/hash_chain.wgsl",
                      "walk",
                      {batch.tile_count, parameters.depth, parameters.cap_bytes, parameters.window_bytes},
                      {{batch.data, Access::kRead},
                       {batch.rows, Access::kRead},
                       {batch.tiles, Access::kRead},
                       {buffers.other, Access::kRead},
                       {buffers.records, Access::kReadWrite}},
                      batch.tile_count});
  record_stitch(recording, batch, {buffers.records, buffers.other, buffers.marks}, parameters.cap_bytes,
                parameters.stitch ? parameters.stitch_reach : 0);
}

}  // namespace hemstitch::webgpu
