// Restores DEFLATE (RFC 1951) on a CUDA device: the bytes, sizes and statuses of deflate_restore_reference()
// (deflate_restore_reference.hpp), for a batch of independent streams of any content. A stream is whole, and
// no bytes follow it; deflate_block_status() says what else is invalid.
//
// A warp restores a stream. It makes tables of each block's codes, finds the tokens of about 900 bytes at a
// time (deflate_window.cuh), and writes what 32 of them describe together (deflate_emission.cuh). If there
// are too few streams for that, several warps restore each (deflate_group.cuh). Every read and write is
// checked. What they cannot finish is left to another kernel, which goes token by token
// (deflate_sequential.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

// Scratch: 4 bytes for each stream, and some 520 more.
std::size_t restore_deflate_cuda_scratch_bytes(const DeviceRestore& batch);

// Statuses are OK, CORRUPT_BLOCK and OUTPUT_TOO_SMALL; INVALID_OPTION for a stream above the batch's limits.
// Streams may have any size; a batch has fewer than 2^31. Asynchronous on `stream`; can be captured in a
// graph. Throws kInvalidOption for more streams and for too little scratch.
void restore_deflate_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

}  // namespace hemstitch::cuda
