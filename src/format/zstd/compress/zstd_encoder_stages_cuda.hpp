// The stages of the Zstandard encoder on a CUDA device behind its parse: from sequences to the format's blocks. The bytes are
// the twin's (entropy/zstd_block_writer.hpp), and so are the prices (parse/zstd_prices.hpp).
//
//   value    entropy/zstd_values.cu   sequences -> matches that touch joined, offsets' values, literals by themselves; how often
//                                     each code and each literal occurs
//   choose   entropy/zstd_choice.cu   counts -> tables and their descriptions, the form of the literals; prices of the next pass
//   state    entropy/zstd_states.cu   the states of FSE from the last sequence back, and with them the sequences' bits; sizes
//   pack     entropy/zstd_pack.cu     all of a block to its place
//
// A batch has a DeviceBlock for each block of the format: 0 to kZstdOwnBlockBytes of content, in ascending order of position, without
// overlap. Blocks know nothing of each other: each has tables of its own, and repeats only its own offsets. An empty one is no block:
// its size is 0.
//
// All are asynchronous on their stream, allocate nothing, wait for nothing, and can be captured in a graph.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/zstd/compress/zstd_block_plan.hpp"
#include "format/zstd/compress/zstd_device_prices.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_block.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// ---- In one go ----

struct ZstdBlockCounts;
struct ZstdBlockTables;

// The memory between the stages: 1 byte for each byte of content, and about 6 KB a block; and where blocks are written, 3.7 bytes for each
// byte of content more. Those are not touched before the last pass, so they may lie where what only the parses need has been.
struct ZstdEncodeRoom {
  ZstdBlockCounts* d_counts;  // one for each block, as d_tables
  ZstdBlockTables* d_tables;
  std::uint8_t* d_literals;  // at zstd_literals_at() of a block: its literals, one after the other

  std::uint64_t* d_sequences;  // ZstdDeviceValue, at first_sequence() of a block
  std::uint32_t* d_bits;       // at zstd_bits_at() of a block: the sequences' bits
};

// What passes that are followed by another one need, then what writing needs. Both carvers may be the same one.
ZstdEncodeRoom take_zstd_encode_room(const DeviceBlocks& blocks, Carver& carver, Carver& writing_carver);

// The prices of a block with the tables that these sequences would get, for a later pass: one set for each block.
void price_zstd_blocks_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences,
                            const ZstdEncodeRoom& room, ZstdDevicePrices* d_prices, cudaStream_t stream);

// All but the packing. `d_sizes`: how many bytes each block takes, with its header of three bytes; at most 3 more than its
// content. Throws kInvalidOption for blocks of more than kZstdOwnBlockBytes.
void size_zstd_blocks_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences,
                           const ZstdEncodeRoom& room, std::uint32_t* d_sizes, cudaStream_t stream);

// Writes each block, not marked as the last one, to its place in `d_targets`, at any address; where that is nullptr, nothing. Follows
// size_zstd_blocks_cuda() with the same room.
void pack_zstd_blocks_cuda(const DeviceBlocks& blocks, const ZstdEncodeRoom& room,
                           std::byte* const* d_targets, cudaStream_t stream);

}  // namespace hemstitch::cuda
