// hash_step on a CUDA device: exactly the records of find_hash_step (hash_step.hpp), for a batch of blocks.
//
// Two kernels. The first looks up and inserts groups, in order, with a warp for each segment (hash_step.cu).
// The second also tries the near offsets, extends and stitches (match/stitch/find_tiles.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "core/match.hpp"
#include "match/common/device_block.hpp"
#include "match/common/device_found.hpp"
#include "match/hash_step/hash_step.hpp"

namespace hemstitch::cuda {

// Device memory that find_hash_step_cuda needs besides the records: 2 bytes for each position and 4 bytes for
// every 64 KB.
std::size_t find_hash_step_cuda_scratch_bytes(const DeviceBlocks& batch,
                                              const HashStepParameters& parameters);

// Writes the best match of every position of every block to d_records, at DeviceBlock::position. `d_scratch`
// is aligned to 4 bytes. Asynchronous: the stream's next synchronisation shows errors of the kernels. Can be
// captured in a graph. Throws kInvalidOption for parameters outside their limits (with the field's name) and
// for too little scratch.
void find_hash_step_cuda(const DeviceBlocks& batch, const HashStepParameters& parameters,
                         MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                         cudaStream_t stream);

inline std::size_t find_scratch_bytes(const DeviceBlocks& blocks, const HashStepParameters& parameters) {
  return find_hash_step_cuda_scratch_bytes(blocks, parameters);
}
inline void find(const DeviceBlocks& blocks, const HashStepParameters& parameters, const DeviceFound& found,
                 void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  find_hash_step_cuda(blocks, parameters, found.d_records, d_scratch, scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
