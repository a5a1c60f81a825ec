// The stages of the DEFLATE encoder on a CUDA device around its parse: from blocks to chunks, and from
// sequences to bytes. The bytes are the twin's (deflate_compress_reference.hpp); deflate_compress_cuda.hpp
// has all stages in order.
//
//   cut      deflate_chunks.cu   blocks -> chunks, which the parse takes like blocks
//   count    deflate_tokens.cu   sequences -> how often each symbol occurs, and after the last pass the tokens
//   code     deflate_codes.cu    counts -> codes, headers, sizes and kinds of DEFLATE blocks; prices of the next pass
//   place    deflate_pack.cu     sizes -> where each chunk begins, to the bit
//   pack     deflate_pack.cu     tokens and codes -> bits
//
// All are asynchronous on their stream, allocate nothing, wait for nothing, and can be captured in a graph.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/deflate/block/deflate_codes.hpp"
#include "format/deflate/compress/deflate_device_chunks.hpp"
#include "format/deflate/compress/pack/deflate_end.hpp"
#include "format/deflate/compress/parse/deflate_device_costs.hpp"
#include "hemstitch/hemstitch.h"
#include "match/common/cuda/device_block.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// ---- Cut ----

// `blocks` is the batch of chunks for a parse; places without a chunk hold empty blocks.
struct DeviceChunks {
  DeviceBlocks blocks;
  DeflateChunkPlaces places;
  const DeflateChunkOf* d_of = nullptr;  // one for each place
};

// Writes `d_chunks` and `d_of`, the arrays of `chunks`.
void cut_deflate_chunks_cuda(const DeviceBlocks& blocks, const DeviceChunks& chunks, DeviceBlock* d_chunks,
                             DeflateChunkOf* d_of, cudaStream_t stream);

// ---- Count ----

// How often each symbol occurs in a chunk, or in a unit of it, without the end of the block.
struct alignas(16) DeflateSymbolCounts {
  std::uint32_t litlen[kDeflateFixedLitlenCount];
  std::uint32_t distance[kDeflateFixedDistanceCount];
};
inline constexpr std::uint32_t kDeflateCountedSymbols = kDeflateFixedLitlenCount + kDeflateFixedDistanceCount;
static_assert(sizeof(DeflateSymbolCounts) == kDeflateCountedSymbols * sizeof(std::uint32_t));

// Where a unit of a chunk begins.
struct DeflateUnitBegin {
  std::uint32_t token;
  std::uint32_t content;
};
// For a chunk's units, and one more for its end.
inline constexpr std::uint32_t kDeflateUnitBegins = kDeflateChunkUnits + 1;

struct DeviceTokens {
  DeflateSymbolCounts* d_counts;  // one for each chunk; kDeflateChunkUnits if chunks are split
  DeflateUnitBegin*
      d_unit_begins;  // kDeflateUnitBegins for each chunk; if not split, only the first and the last
  DeflateDeviceToken* d_tokens;  // at DeviceBlock::position of the chunk; nullptr: not wanted
};

// Counts the sequences of a parse of the chunks; with `splits`, for each unit.
void count_deflate_tokens_cuda(const DeviceChunks& chunks, const DeviceSequences& sequences, bool splits,
                               const DeviceTokens& tokens, cudaStream_t stream);

// ---- Code ----

// The most words for a DEFLATE block's first bits and its header: 316 lengths in codes of 7 bits each; all
// other ways to write them are shorter.
inline constexpr std::uint32_t kDeflateHeadWords = 80;
static_assert(3 + 14 + 3 * kDeflatePrecodeCount +
                  (kDeflateLitlenCount + kDeflateDistanceCount) * kDeflateMaxPrecodeBits <=
              32 * kDeflateHeadWords);

// A DEFLATE block to be packed.
struct alignas(16) DeflatePart {
  std::uint32_t type;  // a DeflateBlockType
  std::uint32_t bits;  // of the whole block; for a stored one, as counted for the choice
  std::uint32_t token_begin, token_end;
  std::uint32_t content_begin, content_end;
  std::uint32_t head_bits;                // 0 if it is stored
  std::uint32_t head[kDeflateHeadWords];  // the first three bits (not marking the last block) and the header
  // For both alphabets: bits 0-15 the code as it is packed, 16-23 its length, from 24 on the number of
  // extra bits.
  std::uint32_t codes[kDeflateCountedSymbols];
};

struct DeviceParts {
  DeflatePart* d_parts;     // one for each chunk, or kDeflateChunkUnits if chunks are split
  std::uint32_t* d_counts;  // one for each chunk: 0 if it is empty
};

// Writes the prices of the first pass: `costs_per_chunk` elements for each chunk.
void fill_prior_deflate_costs_cuda(const DeviceChunks& chunks, std::uint32_t costs_per_chunk,
                                   DeflateDeviceCosts* d_costs, cudaStream_t stream);

// If chunks are split: the size of each possible block of units, kDeflateChunkUnits * kDeflateChunkUnits for
// each chunk.
inline constexpr std::uint32_t kDeflateSpanTable = kDeflateChunkUnits * kDeflateChunkUnits;

// Chooses how each chunk is written. `d_span_bits` is needed if chunks are split. `d_costs`, one for each
// chunk or kDeflateChunkUnits for a split one, receives the prices for a later pass; nullptr: there is none.
void code_deflate_chunks_cuda(const DeviceChunks& chunks, bool splits, const DeviceTokens& tokens,
                              std::uint32_t* d_span_bits, const DeviceParts& parts,
                              DeflateDeviceCosts* d_costs, cudaStream_t stream);

// ---- Place and pack ----

// For a chunk that shares its first or last byte with another one: its bits in that byte.
struct DeflateSeam {
  std::uint8_t first;
  std::uint8_t last;
};

struct DevicePlaces {
  std::uint32_t* d_first_bits;  // one for each chunk: where it begins in its block's output
  DeflateSeam* d_seams;         // one for each chunk
};

// Computes where chunks begin, and in `d_sizes` how many bytes each block takes.
void place_deflate_chunks_cuda(const DeviceBlocks& blocks, const DeviceChunks& chunks, bool splits,
                               const DeviceParts& parts, DeflateEnd end, const DevicePlaces& places,
                               std::uint32_t* d_sizes, cudaStream_t stream);

// Writes the blocks to `d_targets`, one for each block, at any address; writes nothing of a block whose
// target is nullptr.
void pack_deflate_chunks_cuda(const DeviceBlocks& blocks, const DeviceChunks& chunks, bool splits,
                              const DeviceTokens& tokens, const DeviceParts& parts, DeflateEnd end,
                              const DevicePlaces& places, std::byte* const* d_targets, cudaStream_t stream);

}  // namespace hemstitch::cuda
