// Numbers of the optimal parse on a CUDA device. They decide speed alone; the definition's are in
// optimal_tuning.hpp.
#pragma once

namespace hemstitch::cuda {

// Costs of each lane that stay in shared memory; matches that reach further read device memory. 8 KB a warp.
inline constexpr unsigned kNearCosts = 64;

// Positions of each lane's segment that are staged at a time: rows of two 32-byte sectors.
inline constexpr unsigned kStagedPositions = 16;

// Positions whose code stands behind each other; more do not fit the instruction cache nearest to the scheduler.
inline constexpr unsigned kUnrolledPositions = 2;

}  // namespace hemstitch::cuda
