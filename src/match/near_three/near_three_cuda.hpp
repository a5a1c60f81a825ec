// near_three on a CUDA device: the offsets of find_near_three (near_three.hpp), to the byte, for a batch of blocks.
//
// Two kernels. The first builds chains of three bytes, in order, as hash_chain's are built (match/stitch/build_chains.cuh);
// the second walks them (near_three.cu).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "match/common/device_block.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch::cuda {

// What the device takes, of what the twin does; both are far from DEFLATE's numbers.
inline constexpr unsigned kLeastNearThreeHashBits = 9;
inline constexpr std::uint32_t kMostNearThreeWindowBytes = 32768;

// Device memory that find_near_three_cuda needs besides the offsets: 2 bytes a position of the blocks and, above depth 1,
// of their histories (as many as max_history_bytes for each block).
std::size_t find_near_three_cuda_scratch_bytes(const DeviceBlocks& batch,
                                               const NearThreeParameters& parameters);

// Writes the offset of every position of every block to d_near_offsets, at DeviceBlock::position. `d_scratch` is aligned to
// 2 bytes. Asynchronous: what went wrong while the kernels ran shows at the stream's next synchronisation. May be captured
// in a graph.
// Throws kInvalidOption for parameters outside their limits (naming the field) and for too little scratch.
void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

// Where walks read from. Speed aside the same: the one above takes the ring wherever the device has room for it.
enum class NearWords { kRing, kDeviceMemory };
void find_near_three_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                          std::uint16_t* d_near_offsets, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream, NearWords near_words);

}  // namespace hemstitch::cuda
