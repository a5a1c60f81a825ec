// Numbers of the cuda engine.
#pragma once

#include <cstddef>

namespace hemstitch::cuda {

// Calls that work at once: one uploads, one computes, one downloads. More would only hold more memory.
inline constexpr unsigned kEngineSlots = 3;

// Input of a batch. 900 blocks of 64 KB are what fills an H200 (132 multiprocessors, about 7 warps' blocks each); in
// blocks of 4 MB a batch of this size is 16 blocks, which are worked on in parallel inside.
inline constexpr std::size_t kEngineBatchBytes = std::size_t{64} << 20;

}  // namespace hemstitch::cuda
