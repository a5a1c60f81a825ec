// The parse of DEFLATE chunks on a CUDA device: what make_deflate_chunk() (deflate_chunk.hpp) does in one of its passes, with prices
// that the caller has in device memory.
//
// Chunks are a batch of blocks (match/common/device_block.hpp), one DeviceBlock each, in ascending order of position: `d_block` is
// the chunk's content, `history_bytes` may be 0 whatever stands before it. Everything that matches point to, before the chunk in its
// frame's block or in that block's history, is readable.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "format/deflate/compress/deflate_device_costs.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// 6 bytes a position.
std::size_t parse_deflate_cuda_scratch_bytes(const DeviceBlocks& chunks);

// Writes one list of sequences a chunk, in the order of parse_cuda.hpp with deflate_block_plan(): equal to what
// parse_optimal_by_segments() gives for the chunk.
//
// `d_records` are hash_chain's, and `d_near_offsets` near_three's (three bytes agree there), for the whole blocks that the chunks are
// cut from, at DeviceBlock::position. Both are cut to the chunks here. `costs_per_chunk` elements of `d_costs` belong to each chunk:
// 1, or kDeflateChunkUnits; then what begins in the chunk's n-th 8 KB is solved with the n-th. No price is above
// kDeflateMostPriceBits.
//
// Asynchronous on `stream`; may be captured in a graph. Throws kInvalidOption for chunks above kDeflateChunkBytes, other
// costs_per_chunk, and too little scratch.
void parse_deflate_cuda(const DeviceBlocks& chunks, const MatchRecord* d_records,
                        const std::uint16_t* d_near_offsets, const DeflateDeviceCosts* d_costs,
                        std::uint32_t costs_per_chunk, const DeviceSequences& sequences, void* d_scratch,
                        std::size_t scratch_bytes, cudaStream_t stream);

// A further pass over the same chunks, candidates and scratch, which nobody else has written to since: only the costs are others.
void parse_deflate_again_cuda(const DeviceBlocks& chunks, const MatchRecord* d_records,
                              const std::uint16_t* d_near_offsets, const DeflateDeviceCosts* d_costs,
                              std::uint32_t costs_per_chunk, const DeviceSequences& sequences,
                              void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
