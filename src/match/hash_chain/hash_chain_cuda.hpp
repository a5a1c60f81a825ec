// hash_chain on a CUDA device: exactly the records of find_hash_chain (hash_chain.hpp), for a batch of
// blocks.
//
// Two kernels. The first builds the chains, in order, with a warp for each segment
// (match/stitch/build_chains.cuh). The second walks them, extends and stitches (match/stitch/find_tiles.cuh).
// If blocks may differ in their hash width, a kernel before them decides it for each block
// (choose_widths.cuh), and chains are built by two launches, one for four bytes and one for more.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/common/cuda/device_found.hpp"
#include "match/hash_chain/hash_chain.hpp"

namespace hemstitch::cuda {

// Device memory that find_hash_chain_cuda needs besides the records: 2 bytes for each position of the blocks
// and, above depth 1, of their histories (max_history_bytes for each block), 4 bytes for every 64 KB, and a
// byte for every block.
std::size_t find_hash_chain_cuda_scratch_bytes(const DeviceBlocks& batch,
                                               const HashChainParameters& parameters);

// Writes the best match of every position of every block to d_records, at DeviceBlock::position. `d_scratch`
// is aligned to 4 bytes. Asynchronous: the stream's next synchronisation shows errors of the kernels. Can be
// captured in a graph. Throws kInvalidOption for parameters outside their limits (with the field's name) and
// for too little scratch.
void find_hash_chain_cuda(const DeviceBlocks& batch, const HashChainParameters& parameters,
                          MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

// Only the first kernel, for benchmarks: leaves the chains in `d_scratch`.
void build_hash_chains_cuda(const DeviceBlocks& batch, const HashChainParameters& parameters, void* d_scratch,
                            std::size_t scratch_bytes, cudaStream_t stream);

// The result of build_hash_chains_cuda() in `d_scratch`: for every position of the batch, at
// DeviceBlock::position, the distance to the nearest earlier position with the same hash; 0 for none.
const std::uint16_t* hash_chain_links(const DeviceBlocks& batch, const HashChainParameters& parameters,
                                      void* d_scratch);

inline std::size_t find_scratch_bytes(const DeviceBlocks& blocks, const HashChainParameters& parameters) {
  return find_hash_chain_cuda_scratch_bytes(blocks, parameters);
}
inline void find(const DeviceBlocks& blocks, const HashChainParameters& parameters, const DeviceFound& found,
                 void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  find_hash_chain_cuda(blocks, parameters, found.d_records, d_scratch, scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
