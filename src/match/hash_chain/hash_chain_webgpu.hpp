// hash_chain through WebGPU; hash_chain.hpp defines it.
#pragma once

#include "match/common/webgpu/block_batch.hpp"
#include "match/common/webgpu/finder_webgpu.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/links/links_webgpu.hpp"

namespace hemstitch::webgpu {

struct HashFinderBuffers {
  BufferId heads;    // link_heads_bytes() of the blocks, or of the pieces
  BufferId records;  // 4 bytes for each byte of the data
  BufferId other;    // as large; holds the final records at the end
  BufferId marks;    // 4 bytes for each tile
};

// Writes the records of find_hash_chain() to `other`. With `pieces`, its links are built in pieces;
// few_values_hash_bytes must then be 0. Throws kInvalidOption as check_hash_chain_parameters() does.
void record_hash_chain(Recording& recording, const BlockBatch& batch, const HashFinderBuffers& buffers,
                       const HashChainParameters& parameters, const std::optional<LinkPieces>& pieces = {});

inline std::uint64_t find_heads_bytes(std::uint64_t block_count, const HashChainParameters& parameters) {
  return link_heads_bytes(block_count, parameters.hash_bits);
}
inline void record_find(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                        const HashChainParameters& parameters) {
  record_hash_chain(recording, batch, {buffers.heads, buffers.spare, buffers.output.records, buffers.marks},
                    parameters);
}

}  // namespace hemstitch::webgpu
