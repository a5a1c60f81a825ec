// Numbers of the cuda engine.
#pragma once

#include <cstddef>

namespace hemstitch::cuda {

// Calls that work at once: one uploads, one computes, one downloads. More would only hold more memory.
inline constexpr unsigned kEngineSlots = 3;

// Input of a batch. Three at once keep an H200 busy enough for what a host reads and writes (4 to 7 GB/s). Larger ones
// gain nothing there and take longer to begin with: pinning 64 MB costs 20 ms, touching it the first time 24. File to
// file, 4 GB at level 1: 1.26 s in batches of 64 MB, 0.98 s in batches of 16 MB; restoring gains by larger ones.
inline constexpr std::size_t kEngineBatchBytes = std::size_t{32} << 20;

}  // namespace hemstitch::cuda
