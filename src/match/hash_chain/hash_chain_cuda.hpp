// hash_chain on a CUDA device: the records of find_hash_chain (hash_chain.hpp), to the byte, for a batch of blocks.
//
// Two kernels. The first builds the chains, in order, one warp a segment (match/stitch/build_chains.cuh); the second walks them,
// extends and stitches (match/stitch/find_tiles.cuh). Where blocks differ in their hash width, one before them says which has which
// (choose_widths.cuh), and chains are built by a launch for each of four bytes and more.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "match/common/device_block.hpp"
#include "match/common/device_found.hpp"
#include "match/hash_chain/hash_chain.hpp"

namespace hemstitch::cuda {

// Device memory that find_hash_chain_cuda needs besides the records: 2 bytes a position of the blocks and, above depth 1,
// of their histories (as many as max_history_bytes for each block), 4 bytes for every 64 KB, and a byte for every block.
std::size_t find_hash_chain_cuda_scratch_bytes(const DeviceBlocks& batch,
                                               const HashChainParameters& parameters);

// Writes the best match of every position of every block to d_records, at DeviceBlock::position. `d_scratch` is aligned to
// 4 bytes. Asynchronous: what went wrong while the kernels ran shows at the stream's next synchronisation. May be captured
// in a graph.
// Throws kInvalidOption for parameters outside their limits (naming the field) and for too little scratch.
void find_hash_chain_cuda(const DeviceBlocks& batch, const HashChainParameters& parameters,
                          MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

// The first kernel alone, for benchmarks: leaves the chains in `d_scratch`.
void build_hash_chains_cuda(const DeviceBlocks& batch, const HashChainParameters& parameters, void* d_scratch,
                            std::size_t scratch_bytes, cudaStream_t stream);

// What build_hash_chains_cuda() left in `d_scratch`: for every position of the batch, at DeviceBlock::position, the distance
// to the one before it with the same hash; 0 for none.
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
