// window_index on a CUDA device. Finds exactly what window_index_reference finds.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "hemstitch/match.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/common/cuda/device_found.hpp"
#include "match/window_index/window_index.hpp"

namespace hemstitch::cuda {

std::size_t find_window_index_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                                 const FinderParameters& parameters);

// Throws kInvalidOption for parameters that check_finder_parameters refuses, for too little scratch and for
// blocks of 2 GiB. Asynchronous; can be captured in a graph. The scratch is free again once the stream has
// passed this work.
void find_window_index_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                            MatchRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                            cudaStream_t stream);

inline std::size_t find_scratch_bytes(const DeviceBlocks& blocks, const WindowIndexParameters& parameters) {
  return find_window_index_cuda_scratch_bytes(blocks, parameters);
}
inline void find(const DeviceBlocks& blocks, const WindowIndexParameters& parameters,
                 const DeviceFound& found, void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  find_window_index_cuda(blocks, parameters, found.d_records, d_scratch, scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
