// Restores a long stream of Zstandard, one frame or several in a row, from device memory to device memory, in pieces (zstd_frame_cuda.hpp). Each
// piece goes directly after the content of the one before. A frame that the device does not restore as a whole, and so all damage, goes through the decoder on
// the host from its beginning.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/stream_in_memory_cuda.hpp"

namespace hemstitch::cuda {

// Judges by a file's first bytes: whether a frame begins there that is long, or may be, and needs no dictionary.
bool is_long_zstd_stream(std::span<const std::byte> head);

std::size_t zstd_stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t output_bytes);

// Waits for the stream. With less memory than zstd_stream_temp_bytes(), pieces are smaller. Throws Error (device family), and kInvalidOption for less
// memory than a block needs.
StreamOutcome restore_zstd_stream(const StreamInMemory& work, void* d_temp, std::size_t temp_bytes,
                                  cudaStream_t stream);

}  // namespace hemstitch::cuda
