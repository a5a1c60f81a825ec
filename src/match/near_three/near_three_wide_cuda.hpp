// near_three on a CUDA device for windows of up to 65,535 bytes: exactly the offsets of find_near_three (near_three.hpp), for a batch of
// blocks. For windows of up to 32 KB, find_near_three_cuda() takes less time: what it walks is in shared memory, and its links are exact.
//
// Two kernels, as there. Here the second one walks in device memory, which a multiprocessor keeps the window of.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "match/common/cuda/device_block.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch::cuda {

// Device memory that find_near_three_wide_cuda needs besides the offsets: 2 bytes for each position of the blocks
// and, above depth 1, of their histories (max_history_bytes for each block).
std::size_t find_near_three_wide_cuda_scratch_bytes(const DeviceBlocks& batch,
                                                    const NearThreeParameters& parameters);

// Writes the offset of every position of every block to d_near_offsets, at DeviceBlock::position. `d_scratch`
// is aligned to 2 bytes. Asynchronous: the stream's next synchronisation shows errors of the kernels. Can be
// captured in a graph. Throws kInvalidOption for parameters outside their limits (with the field's name) and
// for too little scratch.
void find_near_three_wide_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                               std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                               cudaStream_t stream);

}  // namespace hemstitch::cuda
