// coop_stitch on a CUDA device. Finds and counts exactly what coop_stitch_reference does.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "hemstitch/match.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/common/cuda/device_found.hpp"
#include "match/coop_stitch/coop_stitch.hpp"

namespace hemstitch::cuda {

std::size_t find_coop_stitch_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                                const FinderParameters& parameters);

// Throws kInvalidOption for parameters that check_finder_parameters refuses, for too little scratch and for
// blocks of 2 GiB. Asynchronous; can be captured in a graph. The scratch is free again once the stream has
// passed this work.
void find_coop_stitch_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                           const DeviceFound& output, void* d_scratch, std::size_t scratch_bytes,
                           cudaStream_t stream);

constexpr bool counts(const CoopStitchParameters&) { return true; }
inline std::size_t find_scratch_bytes(const DeviceBlocks& blocks, const CoopStitchParameters& parameters) {
  return find_coop_stitch_cuda_scratch_bytes(blocks, parameters);
}
inline void find(const DeviceBlocks& blocks, const CoopStitchParameters& parameters, const DeviceFound& found,
                 void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  find_coop_stitch_cuda(blocks, parameters, found, d_scratch, scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
