// coop_stitch on a CUDA device: to the byte what coop_stitch_reference finds, and the same counters.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "hemstitch/match.hpp"
#include "match/common/device_block.hpp"
#include "match/common/search_counters.hpp"

namespace hemstitch::cuda {

// Where the result goes; memory of the device.
struct CoopStitchOutput {
  MatchRecord* d_records = nullptr;
  MatchRecord* d_before_stitch = nullptr;  // what phase A alone found; may be left out
  SearchCounters* d_counters =
      nullptr;  // added to, over all blocks; may be left out. Counting compares everything
                // that the definition compares, so it takes several times as long.
};

std::size_t find_coop_stitch_cuda_scratch_bytes(const DeviceBlocks& blocks,
                                                const FinderParameters& parameters);

// Throws kInvalidOption for parameters that check_finder_parameters refuses, for too little scratch and for blocks of
// 2 GiB. Asynchronous; may be captured in a graph. The scratch is free again when the stream has passed.
void find_coop_stitch_cuda(const DeviceBlocks& blocks, const FinderParameters& parameters,
                           const CoopStitchOutput& output, void* d_scratch, std::size_t scratch_bytes,
                           cudaStream_t stream);

}  // namespace hemstitch::cuda
