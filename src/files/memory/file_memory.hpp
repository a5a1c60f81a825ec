// The memory of loaded files: on the host, and on a device with a copy of it. Builds with CUDA have
// file_memory_cuda.cpp, others a stub (cmake/no_device_stubs.cmake).
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
  // Begins to transfer a part of bytes() to the device, if there is one. Any number of threads may call it.
  // If a part is transferred twice, the later bytes count.
  virtual void follow(std::size_t begin, std::size_t end) = 0;
  // Waits until all parts have arrived, and transfers the offsets too.
  virtual void finish(std::span<const std::uint64_t> offsets) = 0;
  virtual const std::byte* d_bytes() const = 0;
  virtual const std::uint64_t* d_offsets() const = 0;
  // WGPUBuffers.
  virtual void* webgpu_bytes() const { return nullptr; }
  virtual void* webgpu_offsets() const { return nullptr; }
};

// On the device named by LoadOptions::device. Throws kDeviceUnavailable if there is none, kDeviceOutOfMemory
// if it has too little memory.
std::unique_ptr<FileMemory> make_cuda_file_memory(std::size_t bytes, std::string_view device);

}  // namespace hemstitch
