// Where loaded files lie: in the host's memory, and on a device that follows it. file_memory_cuda.cpp is in builds with
// CUDA, file_memory_no_device.cpp in others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace hemstitch {

class FileMemory {
 public:
  virtual ~FileMemory() = default;

  virtual std::span<std::byte> bytes() = 0;
  // Begins to bring a part of bytes() to the device, if there is one. From any number of threads; a part that is brought
  // twice arrives as it is the second time.
  virtual void follow(std::size_t begin, std::size_t end) = 0;
  // Waits until all parts have arrived, and brings the offsets as well.
  virtual void finish(std::span<const std::uint64_t> offsets) = 0;
  virtual const std::byte* d_bytes() const = 0;
  virtual const std::uint64_t* d_offsets() const = 0;
  // WGPUBuffers.
  virtual void* webgpu_bytes() const { return nullptr; }
  virtual void* webgpu_offsets() const { return nullptr; }
};

// On the device that is meant (LoadOptions::device). Throws kDeviceUnavailable where there is none, kDeviceOutOfMemory where it is
// too small.
std::unique_ptr<FileMemory> make_cuda_file_memory(std::size_t bytes, std::string_view device);

}  // namespace hemstitch
