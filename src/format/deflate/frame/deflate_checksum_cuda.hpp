// CRC-32 and Adler-32 of many spans on a CUDA device: the checksums of gzip, BGZF and zlib.
//
// A warp a span: spans are what there must be many of. Those of a frame's blocks are put together on the host (combined_checksum() in
// format/checksum.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// d_checksums[i] is that of the d_sizes[i] bytes at d_spans[i], at any alignment, for every i below `count`. Asynchronous on `stream`, no
// scratch; may be captured in a graph.
void crc32_spans_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                      std::uint32_t* d_checksums, cudaStream_t stream);
void adler32_spans_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                        std::uint32_t* d_checksums, cudaStream_t stream);

}  // namespace hemstitch::cuda
