// Calls any finder that has kernels: includes a header for each of those in match/finder_rows.hpp.
#pragma once

#include <string>

#include "core/status.hpp"
#include "match/brute_force/brute_force_cuda.hpp"
#include "match/coop_stitch/coop_stitch_cuda.hpp"
#include "match/finder_rows.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/lazy_scan/lazy_scan_cuda.hpp"
#include "match/window_index/window_index_cuda.hpp"

namespace hemstitch::cuda {

template <typename Parameters>
concept HasKernel = requires(const DeviceBlocks& blocks, const Parameters& parameters) {
  find_scratch_bytes(blocks, parameters);
};

inline bool has_kernel(const AnyFinder& finder) {
  return std::visit([]<typename Parameters>(const Parameters&) { return HasKernel<Parameters>; }, finder);
}

// Whether the finder fills DeviceFound::d_counters.
inline bool counts_on_cuda(const AnyFinder& finder) {
  return std::visit(
      [](const auto& parameters) {
        return requires { counts(parameters); };
      },
      finder);
}

template <typename Parameters>
[[noreturn]] void throw_no_kernel() {
  throw Error(Status::kInvalidOption,
              std::string(Parameters::kName) + " has no CUDA kernel; use backend 'reference'");
}

// Throw kInvalidOption for a finder without kernels, for parameters outside their limits (with the field's
// name) and for too little scratch. Asynchronous; can be captured in a graph. The scratch is free again once
// the stream has passed this work.
inline std::size_t find_scratch_bytes(const AnyFinder& finder, const DeviceBlocks& blocks) {
  return std::visit(
      [&]<typename Parameters>(const Parameters& parameters) -> std::size_t {
        if constexpr (HasKernel<Parameters>)
          return find_scratch_bytes(blocks, parameters);
        else
          throw_no_kernel<Parameters>();
      },
      finder);
}

inline void find(const AnyFinder& finder, const DeviceBlocks& blocks, const DeviceFound& found,
                 void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  std::visit(
      [&]<typename Parameters>(const Parameters& parameters) {
        if constexpr (HasKernel<Parameters>)
          find(blocks, parameters, found, d_scratch, scratch_bytes, stream);
        else
          throw_no_kernel<Parameters>();
      },
      finder);
}

}  // namespace hemstitch::cuda
