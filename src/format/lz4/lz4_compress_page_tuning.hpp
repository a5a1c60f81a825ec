// Numbers of the page compressor. They decide speed, never bytes.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// Pages that a workgroup works on, each by a warp of its own.
inline constexpr unsigned kPageWarps = 4;

// Bytes of output that a warp puts together before it stores them: what 32 sequences of text fill, twice over.
inline constexpr std::uint32_t kPageStageBytes = 1024;

// Literals that the lane of a sequence copies itself; more are copied by the whole warp.
inline constexpr std::uint32_t kLaneLiteralBytes = 20;

}  // namespace hemstitch::cuda
