// In place of src/gpu/cuda/between_blocks.cuh, for kernels that are compiled for the processor (emulated_cuda.hpp). Thread blocks run one after the other, so
// none of them may wait for others.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

inline void add_release(std::uint32_t* number, std::uint32_t more) { *number += more; }
inline std::uint32_t load_acquire(const std::uint32_t* number) { return *number; }

}  // namespace hemstitch::cuda
