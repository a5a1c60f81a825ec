// XXH32 (seed 0) of many spans on a CUDA device: the block checksums of LZ4 frames.
//
// XXH32 keeps four accumulators, and each takes every fourth word. So four lanes work on a span and meet only
// at its end. Nothing else in a span can be divided, so this suits many spans.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// d_hashes[i] is the hash of the d_sizes[i] bytes at d_spans[i], at any alignment, for every i below `count`.
// Asynchronous on `stream`, without scratch; can be captured in a graph.
void checksum_lz4_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                       std::uint32_t* d_hashes, cudaStream_t stream);

}  // namespace hemstitch::cuda
