// The parse of DEFLATE chunks on a CUDA device: one pass of make_deflate_chunk() (deflate_chunk.hpp), with
// prices from device memory.
//
// Chunks are a batch of blocks (match/common/cuda/device_block.hpp), a DeviceBlock for each, in ascending order of
// position: `d_block` is the chunk's content, and `history_bytes` may be 0 whatever precedes it. Everything
// that matches refer to, before the chunk in its frame's block or in that block's history, must be readable.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/match.hpp"
#include "format/deflate/compress/parse/deflate_device_costs.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// 6 bytes for each position.
std::size_t parse_deflate_cuda_scratch_bytes(const DeviceBlocks& chunks);

// Writes one list of sequences for each chunk, in the order of parse_cuda.hpp with deflate_block_plan():
// equal to the result of parse_optimal_by_segments() for the chunk.
//
// `d_records` are those of hash_chain, and `d_near_offsets` those of near_three (three bytes agree there),
// for the whole blocks that the chunks are cut from, at DeviceBlock::position. Both are cut to the chunks
// here. Each chunk has `costs_per_chunk` elements of `d_costs`: 1, or kDeflateChunkUnits; then the n-th is
// used for what begins in the chunk's n-th 8 KB. No price is above kDeflateMostPriceBits.
//
// Asynchronous on `stream`; can be captured in a graph. Throws kInvalidOption for chunks above
// kDeflateChunkBytes, other values of costs_per_chunk, and too little scratch.
void parse_deflate_cuda(const DeviceBlocks& chunks, const MatchRecord* d_records,
                        const std::uint16_t* d_near_offsets, const DeflateDeviceCosts* d_costs,
                        std::uint32_t costs_per_chunk, const DeviceSequences& sequences, void* d_scratch,
                        std::size_t scratch_bytes, cudaStream_t stream);

// A later pass over the same chunks, candidates and scratch, which nobody else has written to since. Only the
// costs differ.
void parse_deflate_again_cuda(const DeviceBlocks& chunks, const MatchRecord* d_records,
                              const std::uint16_t* d_near_offsets, const DeflateDeviceCosts* d_costs,
                              std::uint32_t costs_per_chunk, const DeviceSequences& sequences,
                              void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
