// Numbers of the optimal parse on a CUDA device. They decide speed alone; the definition's are in
// optimal_tuning.hpp.
#pragma once

namespace hemstitch::cuda {

// Costs of each lane that stay in shared memory: 8 KB a warp. Longer matches read device memory. 32 are equally fast.
inline constexpr unsigned kNearCosts = 64;

// Warps that solve segments on a multiprocessor at once: more of them crowd its caches. On an H200, blocks of 64 KB of the nine
// Silesia files in one, kernel alone, GB/s of input:
//   flat model: 6 187, 8 218, 12 225, 16 215, 20 202; LZ4's: 6 130, 8 168, 12 181, 16 185
inline constexpr unsigned kSolvingWarps = 12;

}  // namespace hemstitch::cuda
