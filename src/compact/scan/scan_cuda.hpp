// scan on a CUDA device; scan.hpp defines it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Device memory that scan_sizes_cuda() needs besides its arguments, in bytes.
std::size_t scan_sizes_cuda_scratch_bytes(std::uint64_t count);

// `d_offsets` has count + 1 elements, the last of which is the total. Asynchronous on `stream`; can be
// captured in a graph. Throws kInvalidOption if `scratch_bytes` is too small.
void scan_sizes_cuda(const std::uint32_t* d_sizes, std::uint64_t count, std::uint64_t* d_offsets,
                     void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
