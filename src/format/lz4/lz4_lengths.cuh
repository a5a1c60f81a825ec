// LZ4's lengths for the optimal parse on a CUDA device.
#pragma once

#include "format/lz4/lz4_cost.hpp"
#include "parse/optimal/optimal_kernel.cuh"

namespace hemstitch::cuda {

// A length cut below the shortest match becomes the shortest, which an earlier edge has; 18 becomes the full length where
// that is shorter.
template <>
struct LegalLengths<Lz4CostModel> {
  static __device__ std::uint32_t get(const Lz4CostModel&, std::uint32_t full_length, unsigned edge,
                                      std::uint32_t shortest) {
    if (edge <= Lz4CostModel::kShorterLengthCount)
      return static_cast<std::uint32_t>(
          max(static_cast<int>(full_length - edge), static_cast<int>(shortest)));
    return min(full_length, shortest <= kLz4LongestInToken ? kLz4LongestInToken : kMaxRecordLength);
  }
};

}  // namespace hemstitch::cuda
