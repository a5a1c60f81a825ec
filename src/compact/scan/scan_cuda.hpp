// scan on a CUDA device; the contract stands in scan.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Device memory that scan_sizes_cuda() needs besides its arguments, in bytes.
std::size_t scan_sizes_cuda_scratch_bytes(std::uint64_t count);

// `d_offsets` takes count + 1 elements, the last of them the total. Asynchronous on `stream`; may be captured
// in a graph. Throws kInvalidOption if `scratch_bytes` is less than the above.
void scan_sizes_cuda(const std::uint32_t* d_sizes, std::uint64_t count, std::uint64_t* d_offsets,
                     void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
