// Restores one long stream of DEFLATE, zlib or gzip from device memory to device memory, in pieces
// (format/deflate/stream/deflate_stream_cuda.hpp). Each piece goes directly after the content of the one
// before. What the device cannot finish, and so all damage, goes through the decoder on the host.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "core/status.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cuda {

struct DeflateStreamInMemory {
  Format format = Format::kGzip;  // kGzip: one member or several; kZlib, kDeflate
  const std::byte* d_data = nullptr;
  std::uint64_t bytes = 0;
  // Returns once work on the stream may read the bytes before `end`. Empty: all bytes are there already.
  std::function<void(std::uint64_t end)> arrive = {};
  // Device memory for the content.
  std::span<std::byte> output = {};
  // Returns a larger output that holds the first `used` bytes of the content, or the same one if there is
  // no more memory. Empty: the output cannot grow.
  std::function<std::span<std::byte>(std::uint64_t used)> grow = {};
};

struct DeflateStreamOutcome {
  // As for hemstitch_deflate_stream_restore().
  Status status = Status::kOk;
  std::uint64_t content_bytes = 0;  // valid ones, whatever the status
  std::uint64_t host_bytes = 0;     // how many of them were restored on the host
};

// Judges by a file's first bytes: kGzip or kZlib; nothing for everything else, including BGZF.
std::optional<Format> deflate_stream_format(std::span<const std::byte> head);

std::size_t deflate_stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t output_bytes);

// Waits for the stream. With less memory than deflate_stream_temp_bytes(), pieces are smaller. Throws Error
// (device family).
DeflateStreamOutcome restore_deflate_stream(const DeflateStreamInMemory& work, void* d_temp,
                                            std::size_t temp_bytes, cudaStream_t stream);

}  // namespace hemstitch::cuda
