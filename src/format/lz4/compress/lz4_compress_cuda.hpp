// LZ4 blocks written on a CUDA device: the bytes of compress_lz4_block_reference(), to the last one,
// at every level and block size, with and without history.
//
// Three forms of one thing. Where the blocks go differs, their bytes do not:
//
//   compress_lz4_cuda        each block into room of its own
//   compress_lz4_span_cuda   all blocks one behind the other in one span, as frames want them; a block that does not
//                            shrink is stored
//   compress_lz4_pages_cuda  (lz4_pages_cuda.hpp) pages: compressed, raw or same-filled
//
// All are asynchronous on `stream`, allocate nothing, wait for nothing, and may be captured in a graph. Inputs, outputs and
// histories may have any alignment; arrays of the arguments are aligned as their types. Blocks of the batch stand in
// ascending order of `position`, without overlap (parse/parse_room.hpp), and no block is larger than kMaxLz4BlockBytes.
// Scratch may have any alignment, and holds nothing between calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "format/device_format.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "hemstitch/hemstitch.h"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

// The most content of an LZ4 block. With it, every size of a compressed block fits into 32 bits beside a flag.
inline constexpr std::uint32_t kMaxLz4BlockBytes = 0x7E000000;

// The most bytes that a block of `block_bytes` becomes: one sequence of literals.
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t max_lz4_block_bytes(std::uint64_t block_bytes) {
  return block_bytes + block_bytes / 255 + 16;
}

// One element a block of the batch, all on the device.
struct DeviceLz4Output {
  std::byte* const* d_outputs;
  const std::size_t* d_capacities;
  std::size_t* d_output_bytes;  // 0 where the status is not OK
  hemstitch_status*
      d_statuses;  // HEMSTITCH_OK; HEMSTITCH_OUTPUT_TOO_SMALL where the block does not fit its capacity,
                   // and then what stands in its output is unspecified
};

std::size_t compress_lz4_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level);
// Throws kInvalidOption if the scratch is too small or the level has parameters outside their limits.
void compress_lz4_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                       void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

// A block is stored where compressing would not make it smaller. Where sequences are listed before they are written (all but
// level 1 on pages), sizes are counted first and blocks go straight to their places.
std::size_t compress_lz4_span_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level);
void compress_lz4_span_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceSpan& span,
                            void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
