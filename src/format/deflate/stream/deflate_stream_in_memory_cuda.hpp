// Restores one long stream of DEFLATE, zlib or gzip from device memory to device memory, in pieces
// (deflate_stream_cuda.hpp). Each piece goes directly after the content of the one before. What the device cannot
// finish, and so all damage, goes through the decoder on the host.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "format/stream_in_memory_cuda.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cuda {

// Judges by a file's first bytes: kGzip or kZlib; nothing for everything else, including BGZF.
std::optional<Format> deflate_stream_format(std::span<const std::byte> head);

std::size_t deflate_stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t output_bytes);

// kGzip: one member or several; kZlib, kDeflate. Waits for the stream. With less memory than
// deflate_stream_temp_bytes(), pieces are smaller. Throws Error (device family).
StreamOutcome restore_deflate_stream(Format format, const StreamInMemory& work, void* d_temp,
                                     std::size_t temp_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
