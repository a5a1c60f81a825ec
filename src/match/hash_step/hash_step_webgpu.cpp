#include "match/hash_step/hash_step_webgpu.hpp"

#include "match/hash_step/hash_step_tuning.hpp"
#include "match/links/links_webgpu.hpp"
#include "match/stitch/stitch_webgpu.hpp"

namespace hemstitch::webgpu {

static_assert(kHashStepStitchReach <= kMostStitchReach);

void record_hash_step(Recording& recording, const BlockBatch& batch, const HashFinderBuffers& buffers,
                      const HashStepParameters& parameters) {
  check_hash_step_parameters(parameters);
  record_links(recording, batch, buffers.heads, buffers.other,
               {.hash_bits = parameters.hash_bits, .most_distance = kMaxRecordOffset});
  recording.dispatch({"match/hash_step/hash_step.wgsl",
                      "look_up",
                      {batch.tile_count, parameters.group_positions, parameters.cap_bytes},
                      {{batch.data, Access::kRead},
                       {batch.rows, Access::kRead},
                       {batch.tiles, Access::kRead},
                       {buffers.other, Access::kRead},
                       {buffers.records, Access::kReadWrite}},
                      batch.tile_count});
  record_stitch(recording, batch, {buffers.records, buffers.other, buffers.marks}, parameters.cap_bytes,
                parameters.stitch ? kHashStepStitchReach : 0);
}

}  // namespace hemstitch::webgpu
