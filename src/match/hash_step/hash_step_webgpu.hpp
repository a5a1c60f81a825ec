// hash_step through WebGPU; hash_step.hpp defines it.
#pragma once

#include "match/hash_chain/hash_chain_webgpu.hpp"
#include "match/hash_step/hash_step.hpp"

namespace hemstitch::webgpu {

// Writes the records of find_hash_step() to `other`. Throws kInvalidOption as check_hash_step_parameters()
// does.
void record_hash_step(Recording& recording, const BlockBatch& batch, const HashFinderBuffers& buffers,
                      const HashStepParameters& parameters);

inline std::uint64_t find_heads_bytes(std::uint64_t block_count, const HashStepParameters& parameters) {
  return link_heads_bytes(block_count, parameters.hash_bits);
}
inline void record_find(Recording& recording, const BlockBatch& batch, const FinderBuffers& buffers,
                        const HashStepParameters& parameters) {
  record_hash_step(recording, batch, {buffers.heads, buffers.spare, buffers.output.records, buffers.marks},
                   parameters);
}

}  // namespace hemstitch::webgpu
