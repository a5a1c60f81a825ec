#include "match/hash_pairs/hash_pairs_webgpu.hpp"

#include "match/common/parameter_check.hpp"

namespace hemstitch::webgpu {

static_assert(kHashPairsRowBytes == 64 && kHashPairsBits == 11 && kHashPairsCoverBytes == 16 &&
                  kHashPairsReach == 4,
              "hash_pairs.wgsl has these numbers");

void record_hash_pairs(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                       const HashPairsParameters& parameters) {
  check_parameter("hash_pairs", "hash_bits", parameters.hash_bits, kHashPairsBits, kHashPairsBits);
  const auto pass = [&](std::string_view entry_point, Binding records) {
    recording.dispatch({"match/hash_pairs/hash_pairs.wgsl",
                        entry_point,
                        {batch.block_count},
                        {{batch.data, Access::kRead},
                         {batch.rows, Access::kRead},
                         {buffers.spare, Access::kReadWrite},
                         records},
                        batch.block_count});
  };
  pass("find", kNoBinding);
  pass("carry", {buffers.output.records, Access::kReadWrite});
}

}  // namespace hemstitch::webgpu
