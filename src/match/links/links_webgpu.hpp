// The chains of equal hashes that hash_chain and hash_step walk, built through WebGPU.
//
// links[p] is the distance from p to the nearest earlier position of the block or its history with the same hash
// (match/common/hash_word.hpp), 0 where there is none within `most_distance`. Positions with fewer than four bytes left have no
// hash: their link is 0, and nothing links to them. hash_chain (hash_chain.hpp, step 1) takes the links as they are;
// hash_step's table holds, when a group is looked up, the newest earlier position outside the group, which is the first
// one along the links that is: so both finders share this build.
#pragma once

#include <cstdint>

#include "match/common/block_batch.hpp"

namespace hemstitch::webgpu {

// Heads of all blocks.
constexpr std::uint64_t link_heads_bytes(std::uint64_t block_count, unsigned hash_bits) {
  return (block_count << hash_bits) * sizeof(std::uint32_t);
}

// `links`: 4 bytes for each byte of the data; `heads`: link_heads_bytes().
void record_links(Recording& recording, const BlockBatch& batch, BufferId heads, BufferId links,
                  unsigned hash_bits, std::uint32_t most_distance);

}  // namespace hemstitch::webgpu
