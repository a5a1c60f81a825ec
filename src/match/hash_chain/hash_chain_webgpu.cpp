#include "match/hash_chain/hash_chain_webgpu.hpp"

#include "core/status.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"
#include "match/hash_chain/hash_width.hpp"
#include "match/links/links_webgpu.hpp"
#include "match/stitch/stitch_webgpu.hpp"

namespace hemstitch::webgpu {

static_assert(kSampledStretches == 16 && kStretchPositions == 256 && kSampleSlotBits == 11 &&
                  kLeastSampledBlockBytes == 8192 && kLeastUsedSlots == 16 && kMostUsedSlots == 480 &&
                  kMostUsedTimesPairs == 20971520 && kShortChainsBlockBytes == 65536,
              "hash_width.wgsl has these numbers");

void record_hash_chain(Recording& recording, const BlockBatch& batch, const HashFinderBuffers& buffers,
                       const HashChainParameters& parameters, const std::optional<LinkPieces>& pieces) {
  check_hash_chain_parameters(parameters);
  const bool chooses = parameters.few_values_hash_bytes != 0;
  if (chooses && pieces)
    throw Error(Status::kInvalidOption,
                "hash_chain: few_values_hash_bytes must be 0 where links are built by pieces");
  if (chooses)
    recording.dispatch(
        {"match/hash_chain/hash_width.wgsl",
         "choose",
         {batch.block_count, first_link_width(batch.block_count, parameters.hash_bits), parameters.hash_bytes,
          parameters.few_values_hash_bytes},
         {{batch.data, Access::kRead}, {batch.rows, Access::kRead}, {buffers.heads, Access::kReadWrite}},
         batch.block_count});
  record_links(recording, batch, buffers.heads, buffers.other,
               {.hash_bits = parameters.hash_bits,
                .most_distance = parameters.window_bytes,
                .hashed_bytes = parameters.hash_bytes,
                .widths_in_heads = chooses},
               pieces);
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
