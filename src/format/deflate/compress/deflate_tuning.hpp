// Numbers of the DEFLATE encoder. Part of the definition of the levels: changing one changes bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/deflate/block/deflate_symbols.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"

namespace hemstitch {

// The most content of a block of a frame.
inline constexpr std::size_t kDeflateMostBlockBytes = 1 << 20;

// Content that is parsed on its own and gets codes of its own.
inline constexpr std::size_t kDeflateChunkBytes = 65536;

// Where a chunk may be split: before every so many bytes. What is left at its end belongs to the last of these units.
inline constexpr std::size_t kDeflateSplitUnitBytes = 8192;

inline constexpr unsigned kDeflateChainHashBits = 14;
inline constexpr std::uint32_t kDeflateStitchReach = kHashChainDeepStitchReach;
inline constexpr std::uint32_t kDeflateCapBytes = kHashChainCapBytes;
inline constexpr std::uint32_t kDeflateDeepCapBytes = kDeflateMaxMatchBytes;

// How many bytes are compared at the place that near_three gives.
inline constexpr std::uint32_t kDeflateNearMatchBytes = 6;

}  // namespace hemstitch
