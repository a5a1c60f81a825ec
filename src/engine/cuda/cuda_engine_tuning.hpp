// Numbers of the cuda engine.
#pragma once

#include <cstddef>

namespace hemstitch::cuda {

// Calls that work at once: one uploads, one computes, one downloads. More would only hold more memory.
inline constexpr unsigned kEngineSlots = 3;

// Input of a batch. Three at once keep an H200 busy enough for what a host reads and writes: 9.3 GB/s compressed and 4.8
// restored in batches of 32 MB (lz4-engine run of 2026-11-21), where files give 4. Larger ones gain in restoring and take
// longer to begin with: pinning 64 MB costs 20 ms, touching it the first time 24. Files of 4 GB at level 1, start-up
// included: 1.26 s in batches of 64 MB, 0.98 s in batches of 16.
inline constexpr std::size_t kEngineBatchBytes = std::size_t{32} << 20;

}  // namespace hemstitch::cuda
