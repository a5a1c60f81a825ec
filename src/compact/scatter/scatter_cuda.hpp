// scatter on a CUDA device; scatter.hpp defines it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Device memory that scatter_pieces_cuda() needs besides its arguments, in bytes: none.
std::size_t scatter_pieces_cuda_scratch_bytes(std::uint64_t count);

// Copies d_sizes[i] bytes from d_input + d_offsets[i] to d_targets[i] for every i below `count`. Offsets must
// ascend, as scan's do. The caller must provide enough room. Asynchronous on `stream`; can be captured in a
// graph. Throws kInvalidOption if `scratch_bytes` is too small.
void scatter_pieces_cuda(const std::byte* d_input, const std::uint64_t* d_offsets,
                         const std::uint32_t* d_sizes, std::uint64_t count, std::byte* const* d_targets,
                         void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
