// Numbers of the optimal parse on a CUDA device. They decide speed alone; the definition's are in
// optimal_tuning.hpp.
#pragma once

namespace hemstitch::cuda {

// On an H200, blocks of 64 KB of the nine Silesia files in one, kernel alone, GB/s of input:
//   flat model: near 64, staged 32: 126; near 32, staged 16: 101
//   LZ4's:      near 64, staged 32: 80; near 32, staged 32: 81; near 64, staged 16: 88; near 32, staged 16: 71

// Costs of each lane that stay in shared memory; matches that reach further read device memory. 8 KB a warp.
inline constexpr unsigned kNearCosts = 64;

// Positions of each lane's segment that are staged at a time: rows of 128 bytes.
inline constexpr unsigned kStagedPositions = 32;

}  // namespace hemstitch::cuda
