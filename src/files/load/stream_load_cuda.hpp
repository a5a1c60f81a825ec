// Loads a compressed file that is one long stream to a CUDA device. Many threads read it into device memory,
// where it is restored meanwhile (format/stream_in_memory_cuda.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/frame_files_device.hpp"
#include "files/memory/frame_memory_cuda.hpp"
#include "gpu/cuda/device.hpp"

namespace hemstitch {

// Whether load_stream_cuda() takes the file: a .gz, zlib or .zst stream of a certain size, according to its first
// bytes.
bool is_long_stream(const std::string& path, std::uint64_t file_bytes, const FrameLoadSizes& sizes);

// Nothing if the file must be left to the reader of streams, which reports what is wrong: it is damaged, has
// bytes after its last member, cannot be read, or there is too little memory. `device` must be the calling
// thread's current device.
std::optional<cuda::FrameMemory> load_stream_cuda(cuda::Device& device, const std::string& path,
                                                  std::uint64_t file_bytes, const FrameLoadOptions& options,
                                                  const FrameLoadSizes& sizes);

}  // namespace hemstitch
