// Writes parts of Zstandard's frames on a CUDA device: exactly the blocks of compress_zstd_part_reference(), at every level,
// with and without history.
//
// Asynchronous on `stream`, allocates nothing, waits for nothing, and can be captured in a graph. Parts, histories and the span may have any alignment; arrays
// of the arguments are aligned as their types. Parts of the batch are in ascending order of `position`, without overlap. Those that follow each other in memory, each
// with all that the window reaches as its history, are searched together. Scratch may have any alignment, and holds nothing between calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "format/device_format.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

std::size_t compress_zstd_span_cuda_scratch_bytes(const DeviceBlocks& parts, const ZstdLevel& level);
// All parts one after the other in one span. None is stored: Zstandard itself stores what does not shrink. Throws kInvalidOption for too little
// scratch.
void compress_zstd_span_cuda(const DeviceBlocks& parts, const ZstdLevel& level, const DeviceSpan& span,
                             void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
