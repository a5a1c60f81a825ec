// near_three on a CUDA device: exactly the offsets of find_near_three (near_three.hpp), for a batch of
// blocks.
//
// Two kernels. The first builds chains of three bytes, in order, like those of hash_chain
// (match/stitch/build_chains.cuh). The second walks them (near_three.cu).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "match/common/cuda/device_block.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch::cuda {

// Limits of the device; the twin has none of them. Both are far from DEFLATE's values.
inline constexpr unsigned kLeastNearThreeHashBits = 9;
inline constexpr std::uint32_t kMostNearThreeWindowBytes = 32768;

// Device memory that find_near_three_cuda needs besides the offsets: 2 bytes for each position of the blocks
// and, above depth 1, of their histories (max_history_bytes for each block).
std::size_t find_near_three_cuda_scratch_bytes(const DeviceBlocks& batch,
                                               const NearThreeParameters& parameters);

// Writes the offset of every position of every block to d_near_offsets, at DeviceBlock::position. `d_scratch`
// is aligned to 2 bytes. Asynchronous: the stream's next synchronisation shows errors of the kernels. Can be
// captured in a graph. Throws kInvalidOption for parameters outside their limits (with the field's name) and
// for too little scratch.
void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

// Where walks read from; this only affects the speed. The function above uses the ring if the device has room
// for it.
enum class NearWords { kRing, kDeviceMemory };
void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream, NearWords near_words);

}  // namespace hemstitch::cuda
