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

#include "core/host_device.hpp"
#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/compress/zstd_block_plan.hpp"
#include "format/zstd/compress/zstd_device_prices.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_block.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

struct ZstdBlockCounts;
struct ZstdBlockTables;

// ---- In one go ----

// The memory between the stages: 1 byte for each byte of content, and 7 KB a block; and where blocks are written, 3.7 bytes for each
// byte of content more. Those are not touched before the last pass, so they may lie where what only the parses need has been.
struct ZstdEncodeRoom {
  ZstdBlockCounts* d_counts;  // one for each block, as d_tables
  ZstdBlockTables* d_tables;
  std::uint8_t*
      d_literals;  // at zstd_literals_at() of a block: its literals, one after the other; then zeros up to a multiple of 16

  std::uint64_t* d_values;  // at first_sequence() of a block: its sequences, as pack_zstd_value() has them
  std::uint32_t* d_bits;    // at zstd_bits_at() of a block: the sequences' bits
};

// What passes that are followed by another one need, then what writing needs. Both carvers may be the same one.
ZstdEncodeRoom take_zstd_encode_room(const DeviceBlocks& blocks, Carver& carver, Carver& writing_carver);

// The prices of a block with the tables that these sequences would get, for a later pass: one set for each block. Leaves those of empty blocks as they are.
void price_zstd_blocks_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences,
                            const ZstdEncodeRoom& room, ZstdDevicePrices* d_prices, cudaStream_t stream);

// All but the packing. `d_sizes`: how many bytes each block takes, with its header of three bytes; at most 3 more than its
// content. Throws kInvalidOption for blocks of more than kZstdOwnBlockBytes.
void size_zstd_blocks_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences,
                           const ZstdEncodeRoom& room, std::uint32_t* d_sizes, cudaStream_t stream);

// ---- Value ----

inline constexpr std::uint32_t kZstdLiteralValues = 256;
inline constexpr unsigned kZstdCodeSlots =
    64;  // for the codes of a kind; kinds are in the order of kZstdCodeKinds
static_assert(kZstdMatchCodes.size() <= kZstdCodeSlots);

struct alignas(16) ZstdBlockCounts {
  std::uint32_t literals[kZstdLiteralValues];
  std::uint32_t codes[3][kZstdCodeSlots];
  std::uint32_t literal_count, sequence_count;
};

// A sequence as the format counts it: literals (17 bits), the match's length (17), and the offset's value.
inline constexpr unsigned kZstdValueMatchAt = 17, kZstdValueOffsetAt = 34;
inline constexpr std::uint32_t kZstdValueLengthMask = (1u << 17) - 1;
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t pack_zstd_value(std::uint32_t literals, std::uint32_t match,
                                                              std::uint32_t offset_value) {
  return literals | std::uint64_t{match} << kZstdValueMatchAt |
         std::uint64_t{offset_value} << kZstdValueOffsetAt;
}

// Where a block's literals and bits begin, so that each has the alignment that loads and stores take, and room for as many bytes
// as the block has (of bits, 12 more).
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t zstd_literals_at(std::uint64_t position, std::uint32_t index) {
  return (position / 16 + index) * 16;
}
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t zstd_bits_at(std::uint64_t position, std::uint32_t index) {
  return position / 4 + std::uint64_t{4} * index;
}

// With `writes`, also what the last two stages need.
void value_zstd_sequences_cuda(const DeviceBlocks& blocks, const DeviceSequences& sequences, bool writes,
                               const ZstdEncodeRoom& room, cudaStream_t stream);

// ---- Choose ----

// How FSE goes back to a symbol with `cells` cells from the state of value v (the state, and the number of all states 2^log): by
// bits = (v + delta) >> 16 of its lowest bits, to states[base + (v >> bits)], a value again.
struct alignas(8) ZstdStateStep {
  std::uint32_t delta, base;
};
inline constexpr unsigned kZstdStates = 512 + 256 + 512;  // of the three kinds

// The longest descriptions: each of the 53 probabilities takes 10 bits at most, and 2 more if it is 0; weights take below 128 bytes and the size.
inline constexpr unsigned kZstdMostCodeDescription = 80, kZstdMostWeightDescription = 128;
static_assert(8 * kZstdMostCodeDescription >= 4 + kZstdMatchCodes.size() * 12);

// How a block is written.
struct alignas(16) ZstdBlockTables {
  ZstdStateStep steps[3][kZstdCodeSlots];
  std::uint16_t states[kZstdStates];
  std::uint16_t literal_codes
      [kZstdLiteralValues];  // the code (its first bit the highest one), from bit 12 on its length
  std::uint8_t descriptions[3][kZstdMostCodeDescription];
  std::uint8_t weights[kZstdMostWeightDescription];
  std::uint32_t logs[3], modes[3], description_bytes[3];  // modes are ZstdTableMode
  std::uint32_t literals_type;                            // a ZstdLiteralsType, never kTreeless
  std::uint32_t literal_header_bytes;
  std::uint32_t literal_data_bytes;  // behind the header
  std::uint32_t weights_bytes;       // of `weights`
  std::uint32_t stream_bytes[4];     // only the first if there is one stream
  // Set by the next stage.
  std::uint32_t is_raw, bits_bytes;
};

// With `writes`, all of `room.d_tables` but what the next stage sets. Prices where `d_prices` is not nullptr.
void choose_zstd_tables_cuda(const DeviceBlocks& blocks, bool writes, const ZstdEncodeRoom& room,
                             ZstdDevicePrices* d_prices, cudaStream_t stream);

// How many bytes say how many sequences there are (3.1.1.3.2.1); not of the modes that follow unless there are none.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t zstd_count_bytes(std::uint32_t count) {
  return count < 128 ? 1 : count < 0x7F00 ? 2 : 3;
}

// ---- State ----

// The bits of all sequences, and the size of each block.
void state_zstd_sequences_cuda(const DeviceBlocks& blocks, const ZstdEncodeRoom& room, std::uint32_t* d_sizes,
                               cudaStream_t stream);

// ---- Pack ----

// Writes each block, not marked as the last one, to its place in `d_targets`, at any address; where that is nullptr, nothing.
void pack_zstd_blocks_cuda(const DeviceBlocks& blocks, const ZstdEncodeRoom& room,
                           std::byte* const* d_targets, cudaStream_t stream);

}  // namespace hemstitch::cuda
