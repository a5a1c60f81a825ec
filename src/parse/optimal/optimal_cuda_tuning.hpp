// Numbers of the optimal parse on a CUDA device. They decide speed alone; the definition's are in
// optimal_tuning.hpp.
#pragma once

namespace hemstitch::cuda {

// Costs of each lane that stay in shared memory; matches that reach further read device memory. 8 KB a warp.
inline constexpr unsigned kNearCosts = 64;

// Positions of each lane's segment that are staged at a time: rows of one 32-byte sector.
inline constexpr unsigned kStagedPositions = 8;

}  // namespace hemstitch::cuda
