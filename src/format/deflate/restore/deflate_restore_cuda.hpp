// Restoration of DEFLATE (RFC 1951) on a CUDA device: the bytes, sizes and statuses of deflate_restore_reference()
// (deflate_restore_reference.hpp), for a batch of independent streams of any content. A stream is whole, and nothing stands behind
// it; deflate_block_status() says what else is none.
//
// A warp restores a stream: it makes tables of each block's codes, finds the tokens of about 900 bytes at a time (deflate_window.cuh), and
// writes what 32 of them say together (deflate_emission.cuh). Where streams are too few for that, several warps do it (deflate_group.cuh). Every read
// and write is checked. What does not come out even is left to another kernel, which goes token by token (deflate_sequential.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/device_format.hpp"

namespace hemstitch::cuda {

// Scratch: 4 bytes a stream, and some 520.
std::size_t restore_deflate_cuda_scratch_bytes(const DeviceRestore& batch);

// Statuses are OK, CORRUPT_BLOCK and OUTPUT_TOO_SMALL; INVALID_OPTION for a stream above the batch's bounds. Streams may be of any size;
// a batch has fewer than 2^31. Asynchronous on `stream`; may be captured in a graph.
// Throws kInvalidOption for more streams and for too little scratch.
void restore_deflate_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

}  // namespace hemstitch::cuda
