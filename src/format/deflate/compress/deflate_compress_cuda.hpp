// Writes DEFLATE on a CUDA device: exactly the bytes of compress_deflate_block_reference(), at every level,
// with and without history.
//
// Two forms of one thing. Where the blocks go differs, their bytes do not:
//
//   compress_deflate_cuda        each block into room of its own
//   compress_deflate_span_cuda   all blocks one after the other in one span, as in frames; the frame stores none, since DEFLATE itself
//                                stores what does not shrink
//
// Both are asynchronous on `stream`, allocate nothing, wait for nothing, and can be captured in a graph.
// Inputs, outputs and histories may have any alignment; arrays of the arguments are aligned as their types.
// Blocks of the batch are in ascending order of `position`, without overlap (parse/parse_room.hpp); none is
// larger than kDeflateMostBlockBytes. Scratch may have any alignment, and holds nothing between calls. It
// takes about 11 bytes for each byte of content, plus the larger of what the finders and the parse take.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/deflate/compress/pack/deflate_end.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/device_format.hpp"
#include "hemstitch/hemstitch.h"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

// Arrays with one element for each block of the batch, all on the device.
struct DeviceDeflateOutput {
  std::byte* const* d_outputs;
  const std::size_t* d_capacities;
  std::size_t* d_output_bytes;  // including the free room around it; 0 unless the status is OK
  // HEMSTITCH_OK, or HEMSTITCH_OUTPUT_TOO_SMALL if the block does not fit its capacity; then nothing is
  // written.
  hemstitch_status* d_statuses;
  // Bytes before and after each block that stay unchanged, for headers and checksums.
  std::uint32_t lead_bytes = 0;
  std::uint32_t trail_bytes = 0;
};

std::size_t compress_deflate_cuda_scratch_bytes(const DeviceBlocks& blocks, const DeflateLevel& level);
// Throws kInvalidOption for too little scratch and for blocks that are too large.
void compress_deflate_cuda(const DeviceBlocks& blocks, const DeflateLevel& level, DeflateEnd end,
                           const DeviceDeflateOutput& output, void* d_scratch, std::size_t scratch_bytes,
                           cudaStream_t stream);

std::size_t compress_deflate_span_cuda_scratch_bytes(const DeviceBlocks& blocks, const DeflateLevel& level);
void compress_deflate_span_cuda(const DeviceBlocks& blocks, const DeflateLevel& level, DeflateEnd end,
                                const DeviceSpan& span, void* d_scratch, std::size_t scratch_bytes,
                                cudaStream_t stream);

}  // namespace hemstitch::cuda
