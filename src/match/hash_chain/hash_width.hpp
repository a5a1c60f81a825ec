// How many bytes hash_chain hashes in a block: four, unless the block has few values.
//
// Four bytes are what a match of LZ4 must have, and in most data they tell places apart: a chain of equal hashes is short, and its
// nearest members are good. This fails where there are few letters. In a genome, four bytes have 256 values, so a chain holds every
// 256th position, and its nearest members are there by chance. Seven bytes have 16,384 values: chains are short again, each member
// is a match of seven bytes or more, and fewer of them are tried. Elsewhere a wider hash loses the short matches, 5 to 15 % of the
// output (docs/decisions/hash-width.md).
//
// So the number of values of a block's words of four bytes is estimated. The sample: 16 stretches of 256 positions, spread evenly over
// the block; with step = block_bytes / 16, stretch k begins at k * step + step / 2 - 128. Each of these words falls into one of
// 2048 slots, hash_word(word, 11).
//
//   used   the number of slots that have a word
//   pairs  the number of pairs of words that share a slot
//
// The block has few values if `used` is 16 to 480 and used * pairs at most 1.25 * 4096^2. The second condition means that the words
// are spread over the slots that they use: of words spread evenly over N values there are 4096^2 / 2N pairs, and N must be 0.4 of
// `used` or more. So text with long runs of spaces, pictures with empty margins and tables of numbers, which have few values as
// well, keep four bytes: there most words have one value, or a few, and the others are worth finding by four bytes. Blocks of fewer
// than 8192 bytes keep them too: their chains are short. The history of a block does not matter.
//
// Why a sample of the whole block and not its beginning: pictures and programs begin with zeros. Why counts: sums are the same
// whatever the order in which threads add to them. And `used` only grows, so a device may stop early once it is above 480.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "match/common/hash_word.hpp"

namespace hemstitch {

// Part of the definition: changing one changes bytes. hash_width.wgsl has them too.
inline constexpr std::uint32_t kSampledStretches = 16;
inline constexpr std::uint32_t kStretchPositions = 256;
inline constexpr std::uint32_t kSampledPositions = kSampledStretches * kStretchPositions;
inline constexpr unsigned kSampleSlotBits = 11;
inline constexpr std::uint32_t kLeastSampledBlockBytes = 8192;
inline constexpr std::uint32_t kLeastUsedSlots = 16, kMostUsedSlots = 480;
inline constexpr std::uint32_t kMostUsedTimesPairs = kSampledPositions / 4 * 5 * kSampledPositions;

static_assert(std::uint64_t{kMostUsedSlots} * kSampledPositions * (kSampledPositions - 1) / 2 <= UINT32_MAX,
              "32 bits are enough");
static_assert(kLeastSampledBlockBytes / kSampledStretches / 2 >= kStretchPositions / 2 + 8,
              "whole words around all words of the sample are inside of the block");

// Where a stretch begins in its block.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t stretch_begin(std::uint32_t stretch,
                                                            std::uint32_t block_bytes) {
  const std::uint32_t step = block_bytes / kSampledStretches;
  return stretch * step + step / 2 - kStretchPositions / 2;
}

HEMSTITCH_HOST_DEVICE constexpr bool are_few_values(std::uint32_t used, std::uint32_t pairs) {
  return used >= kLeastUsedSlots && used <= kMostUsedSlots && used * pairs <= kMostUsedTimesPairs;
}

// Blocks of up to 64 KB take a byte less than longer ones: their chains are half as long.
inline constexpr std::uint32_t kShortChainsBlockBytes = 65536;

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t few_values_width(std::uint32_t few_values_hash_bytes,
                                                               std::uint32_t block_bytes) {
  return block_bytes <= kShortChainsBlockBytes ? few_values_hash_bytes - 1 : few_values_hash_bytes;
}

}  // namespace hemstitch
