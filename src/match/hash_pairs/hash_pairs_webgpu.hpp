// hash_pairs through WebGPU; the definition stands in hash_pairs.hpp.
#pragma once

#include "match/common/webgpu/block_batch.hpp"
#include "match/common/webgpu/finder_webgpu.hpp"
#include "match/hash_pairs/hash_pairs.hpp"

namespace hemstitch::webgpu {

// The records of find_hash_pairs(). The blocks have no history and at most 64 KB. For the compressor of pages: matchers would have
// to refuse other blocks at their door. Throws kInvalidOption for hash_bits other than kHashPairsBits, which the shader has.
void record_hash_pairs(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                       const HashPairsParameters& parameters);

}  // namespace hemstitch::webgpu
