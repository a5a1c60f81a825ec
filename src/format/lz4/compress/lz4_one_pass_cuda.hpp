// The two ways of level 1 (lz4_one_pass.cuh): pages in one launch, without scratch; larger blocks without
// history in tiles of 64 KB, in parallel.
#pragma once

#include <cstddef>

#include "format/lz4/compress/lz4_compress_cuda.hpp"

namespace hemstitch::cuda {

// Whether all blocks of a batch may be compressed as pages: at most 4 KB, no history, the parameters of level
// 1 for pages.
bool one_pass_takes_as_pages(const DeviceBlocks& blocks, const Lz4Level& level);
// Only then.
void compress_pages_one_pass_cuda(const DeviceBlocks& blocks, const DeviceLz4Output& output,
                                  cudaStream_t stream);

// Whether they may be compressed in tiles: at most 16 MB, no history, the parameters of level 1 for larger
// blocks.
bool tiles_take(const DeviceBlocks& blocks, const Lz4Level& level);
// Only then.
std::size_t compress_tiles_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level);
void compress_tiles_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                         void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);
void compress_tiles_span_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceSpan& span,
                              void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

// Whether a level's parse is lazy, for every length.
bool is_plain_lazy(const Lz4Parse& parse);

}  // namespace hemstitch::cuda
