// Loaded files that are also copied to a WebGPU device.
#pragma once

#include <memory>

#include "files/memory/file_memory.hpp"

namespace hemstitch {

namespace webgpu {
class Device;
}

// Throws kDeviceOutOfMemory if the device has too little memory.
std::unique_ptr<FileMemory> with_webgpu_memory(std::unique_ptr<FileMemory> host,
                                               std::shared_ptr<webgpu::Device> device);

}  // namespace hemstitch
