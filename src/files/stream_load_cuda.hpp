// A compressed file that is one long stream, to a CUDA device: read by many threads into device memory and restored there meanwhile
// (batch/deflate_stream_cuda.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/frame_files_device.hpp"
#include "files/frame_memory_cuda.hpp"
#include "gpu/cuda/device.hpp"

namespace hemstitch {

// Whether it is one for load_stream_cuda(): a .gz or zlib stream of some size, by its first bytes.
bool is_long_stream(const std::string& path, std::uint64_t file_bytes, const FrameLoadSizes& sizes);

// Nothing where the file is to be left to the reader of streams, which finds the words: it is damaged, has something behind its last
// member, cannot be read, or there is no memory for it. The calling thread's current device is `device`.
std::optional<cuda::FrameMemory> load_stream_cuda(cuda::Device& device, const std::string& path,
                                                  std::uint64_t file_bytes, const FrameLoadOptions& options,
                                                  const FrameLoadSizes& sizes);

}  // namespace hemstitch
