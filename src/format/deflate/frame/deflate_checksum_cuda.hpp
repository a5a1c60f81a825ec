// CRC-32 and Adler-32 of many spans on a CUDA device: the checksums of gzip, BGZF and zlib.
//
// Each span has a warp, so this suits many spans. The host combines the checksums of a frame's blocks
// (combined_checksum() in format/checksum.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// d_checksums[i] is the checksum of the d_sizes[i] bytes at d_spans[i], at any alignment, for every i below
// `count`. Asynchronous on `stream`, without scratch; can be captured in a graph.
void crc32_spans_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                      std::uint32_t* d_checksums, cudaStream_t stream);
void adler32_spans_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                        std::uint32_t* d_checksums, cudaStream_t stream);

}  // namespace hemstitch::cuda
