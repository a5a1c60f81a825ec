// Loaded files that a WebGPU device gets as well, whatever else holds them.
#pragma once

#include <memory>

#include "files/file_memory.hpp"

namespace hemstitch {

namespace webgpu {
class Device;
}

// Throws kDeviceOutOfMemory where it is too small.
std::unique_ptr<FileMemory> with_webgpu_memory(std::unique_ptr<FileMemory> host,
                                               std::shared_ptr<webgpu::Device> device);

}  // namespace hemstitch
