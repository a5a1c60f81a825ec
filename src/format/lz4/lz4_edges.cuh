// LZ4's edges for the optimal parse on a CUDA device.
#pragma once

#include "format/lz4/lz4_cost.hpp"
#include "parse/optimal/optimal_cuda_tuning.hpp"
#include "parse/optimal/optimal_kernel.cuh"

namespace hemstitch::cuda {

// A length cut below the shortest match becomes the shortest, which an earlier edge has; 18 becomes the full length where
// that is shorter.
template <>
struct Edges<Lz4CostModel> {
  static __device__ std::uint32_t legal_length(const Lz4CostModel&, std::uint32_t full_length, unsigned edge,
                                               std::uint32_t shortest) {
    if (edge <= Lz4CostModel::kShorterLengthCount)
      return static_cast<std::uint32_t>(
          max(static_cast<int>(full_length - edge), static_cast<int>(shortest)));
    return min(full_length, shortest <= kLz4LongestInToken ? kLz4LongestInToken : kMaxRecordLength);
  }
  // One extension byte reaches further than the near costs do.
  static __device__ std::uint32_t near_cost(const Lz4CostModel& model, std::uint32_t length) {
    static_assert(kNearCosts <= kLz4LongestInToken + 255);
    return model.match_cost(length > kLz4LongestInToken ? kLz4LongestInToken + 1 : kLz4LongestInToken);
  }
};

}  // namespace hemstitch::cuda
