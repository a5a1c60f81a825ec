// Numbers of the one-pass compressor. They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Warps of a workgroup, each with a page or a block of its own.
inline constexpr unsigned kPageWarps = 4;
inline constexpr unsigned kBlockWarps = 1;

// Bytes of output that a warp puts together before it stores them: what 32 sequences of text fill, twice over.
inline constexpr std::uint32_t kOnePassStageBytes = 1024;

// Literals that the lane of a sequence copies itself; more are copied by the whole warp.
inline constexpr std::uint32_t kLaneLiteralBytes = 16;

// How far ahead a block's bytes are asked for, in rows of 32: many times the way from device memory.
inline constexpr std::uint32_t kOnePassPrefetchRows = 32;

}  // namespace hemstitch::cuda
