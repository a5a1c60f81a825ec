// Numbers of the cuda engine.
#pragma once

#include <cstddef>

namespace hemstitch::cuda {

// Calls that work at once: one uploads, one downloads, and the others compute together, since one batch does not fill a device.
inline constexpr unsigned kEngineSlots = 5;

// Input of a batch. Several such batches at once keep an H200 busy enough for what a host reads and writes. Larger batches take
// longer to start, since their memory is pinned first.
inline constexpr std::size_t kEngineBatchBytes = std::size_t{32} << 20;

// The least number of blocks of a batch, however large they are. In batches of 8, blocks of 4M were compressed at 2.2 GB/s and
// restored at 9.
inline constexpr std::size_t kEngineBatchBlocks = 16;

}  // namespace hemstitch::cuda
