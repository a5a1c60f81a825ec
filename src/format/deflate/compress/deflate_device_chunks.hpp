// Chunks on a device: the places of those of a batch of blocks, what is known of each, and where it begins in its block's output. Rules for
// host and device; the twin is deflate_compress_reference.cpp.
//
// Places. Sizes of blocks are in device memory, so the number of chunks is not known when kernels are launched. Every block has a run of
// places, each of which holds a chunk or none: either as many for each block as the largest one may need, or
//   position / kDeflateChunkBytes + index of the block
// where that makes fewer. Both leave room for a block's chunks, and for one where it is empty: that one writes the block's end.
#pragma once

#include <cstdint>
#include <optional>

#include "core/host_device.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/compress/deflate_tuning.hpp"
#include "format/deflate/compress/pack/deflate_end.hpp"
#include "format/deflate/compress/parse/deflate_device_costs.hpp"

namespace hemstitch {

struct DeflateChunkPlaces {
  std::uint32_t count = 0;      // of the batch
  std::uint32_t per_block = 0;  // 0: by position

  // A block's first one. Blocks stand in ascending order of their positions, without overlap.
  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t first(std::uint64_t position,
                                                      std::uint32_t block_index) const {
    if (per_block != 0) return block_index * per_block;
    return static_cast<std::uint32_t>(position / kDeflateChunkBytes) + block_index;
  }
};

// Of `content_bytes`; an empty block has one.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_chunk_count(std::uint32_t content_bytes) {
  return content_bytes == 0
             ? 1
             : static_cast<std::uint32_t>((content_bytes + kDeflateChunkBytes - 1) / kDeflateChunkBytes);
}

// The most places: kernels are not launched for more.
inline constexpr std::uint32_t kDeflateMostPlaces = 1u << 25;

// No value if there would be more than kDeflateMostPlaces.
constexpr std::optional<DeflateChunkPlaces> deflate_chunk_places(std::uint32_t block_count,
                                                                 std::uint32_t max_block_bytes,
                                                                 std::uint64_t total_block_bytes) {
  const std::uint64_t per_block = deflate_chunk_count(max_block_bytes);
  const std::uint64_t equal = per_block * block_count;
  const std::uint64_t by_position = total_block_bytes / kDeflateChunkBytes + block_count;
  const std::uint64_t count = equal <= by_position ? equal : by_position;
  if (count > kDeflateMostPlaces) return std::nullopt;
  return DeflateChunkPlaces{static_cast<std::uint32_t>(count),
                            equal <= by_position ? static_cast<std::uint32_t>(per_block) : 0};
}

// What stands at a place.
struct DeflateChunkOf {
  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
  std::uint32_t block;  // kNoBlock: no chunk
  std::uint32_t begin;  // in the block
};

// ---- Units: where a chunk may be split ----

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_unit_count(std::uint32_t chunk_bytes) {
  const std::uint32_t full = chunk_bytes / static_cast<std::uint32_t>(kDeflateSplitUnitBytes);
  return full == 0 ? 1 : full;
}
// The unit of a token that begins at `position` of the chunk.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_unit_of(std::uint32_t position,
                                                              std::uint32_t unit_count) {
  const std::uint32_t unit = position / static_cast<std::uint32_t>(kDeflateSplitUnitBytes);
  return unit < unit_count ? unit : unit_count - 1;
}

// The index, in a table of sizes, of the block of units begin .. end - 1.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_span_index(std::uint32_t begin, std::uint32_t end) {
  return begin * kDeflateChunkUnits + end - 1;
}

// How units are cut into blocks.
struct DeflateCuts {
  std::uint32_t begins[kDeflateChunkUnits];  // the first unit of each block
  std::uint32_t count;                       // of blocks
  // For each unit: the least bits of the units before it, and the beginning of the block that ends there.
  std::uint32_t bits[kDeflateChunkUnits + 1];
  std::uint32_t begin_of_last[kDeflateChunkUnits + 1];
};

// Finds the cuts with the smallest sum of bits. Of equal sums, the last block begins earliest; likewise for the blocks before it.
HEMSTITCH_HOST_DEVICE constexpr void deflate_find_cuts(const std::uint32_t* span_bits,
                                                       std::uint32_t unit_count, DeflateCuts& cuts) {
  cuts.bits[0] = 0;
  for (std::uint32_t end = 1; end <= unit_count; ++end) {
    std::uint32_t least = ~std::uint32_t{0};
    for (std::uint32_t begin = 0; begin < end; ++begin) {
      const std::uint32_t sum = cuts.bits[begin] + span_bits[deflate_span_index(begin, end)];
      if (sum >= least) continue;
      least = sum;
      cuts.begin_of_last[end] = begin;
    }
    cuts.bits[end] = least;
  }
  cuts.count = 0;
  for (std::uint32_t end = unit_count; end > 0; end = cuts.begin_of_last[end]) ++cuts.count;
  std::uint32_t part = cuts.count;
  for (std::uint32_t end = unit_count; end > 0; end = cuts.begin_of_last[end])
    cuts.begins[--part] = cuts.begin_of_last[end];
}

// ---- Bits of a block's output ----

// The bit after the stored blocks that hold this much content and begin at `bit`. There is at least one.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_stored_end(std::uint32_t bit,
                                                                 std::uint32_t content_bytes) {
  // The header up to the next byte, both sizes, the content; each further one begins on a byte.
  const std::uint32_t more_blocks = content_bytes == 0 ? 0 : (content_bytes - 1) / kDeflateMostStoredBytes;
  return ((bit + 3 + 7) & ~7u) + 32 + 8 * content_bytes + 40 * more_blocks;
}

// The bytes of a block's output, with the end that follows the content's blocks.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_output_bytes(std::uint32_t bit, DeflateEnd end,
                                                                   std::uint32_t content_bytes) {
  if (end == DeflateEnd::kFlush) return deflate_stored_end(bit, 0) / 8;
  return content_bytes == 0 ? 2 : (bit + 7) / 8;
}

// ---- Tokens ----

// A token as it is packed: symbols and the values of their extra bits. A literal has its symbol alone.
//   bits 0-8     literal or length symbol
//   bits 9-13    extra bits of the length
//   bits 14-18   distance symbol
//   bits 19-31   extra bits of the distance
using DeflateDeviceToken = std::uint32_t;

HEMSTITCH_HOST_DEVICE constexpr DeflateDeviceToken deflate_match_token(std::uint32_t length_symbol,
                                                                       std::uint32_t length,
                                                                       std::uint32_t distance_symbol,
                                                                       std::uint32_t distance) {
  return length_symbol | (length - deflate_length_base(length_symbol)) << 9 | distance_symbol << 14 |
         (distance - deflate_distance_base(distance_symbol)) << 19;
}
static_assert(kDeflateFixedLitlenCount <= 1u << 9 && kDeflateDistanceCount <= 1u << 5);

}  // namespace hemstitch
