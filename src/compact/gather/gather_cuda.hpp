// gather on a CUDA device; gather.hpp defines it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Device memory that gather_pieces_cuda() needs besides its arguments, in bytes: none.
std::size_t gather_pieces_cuda_scratch_bytes(std::uint64_t count);

// Copies d_sizes[i] bytes from d_sources[i] to d_output + d_offsets[i] for every i below `count`. Offsets
// must ascend, as scan's do; gaps stay unchanged. The caller must provide enough room. Asynchronous on
// `stream`; can be captured in a graph. Throws kInvalidOption if `scratch_bytes` is too small.
void gather_pieces_cuda(const std::byte* const* d_sources, const std::uint32_t* d_sizes,
                        const std::uint64_t* d_offsets, std::uint64_t count, std::byte* d_output,
                        void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
