// Numbers of the one-pass compressor. They decide speed, never bytes. Figures: an H200, 2 GB in flight, harmonic means of
// seven Silesia files.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Warps of a workgroup, each with a page or a block of its own. Pages: 1 warp 76 GB/s, 2 78, 4 73. Blocks of 64 KB: 1 and 2
// warps 29.
inline constexpr unsigned kPageWarps = 2;
inline constexpr unsigned kBlockWarps = 1;

// Bytes of output that a warp puts together before it stores them: what 32 sequences of text fill, twice over.
inline constexpr std::uint32_t kOnePassStageBytes = 1024;

// Literals that the lane of a sequence copies itself; more are copied by the whole warp.
inline constexpr std::uint32_t kLaneLiteralBytes = 16;

// How far ahead a block's bytes are asked for: many times the way from device memory.
inline constexpr std::uint32_t kOnePassPrefetchBytes = 1024;

}  // namespace hemstitch::cuda
