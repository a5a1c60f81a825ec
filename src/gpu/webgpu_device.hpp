// Devices of WebGPU, for code that includes none of its headers.
#pragma once

#include <memory>
#include <string_view>

namespace hemstitch {

namespace webgpu {
class Device;
}

// The device that `device` names, as in the options. Throws kDeviceUnavailable.
std::shared_ptr<webgpu::Device> open_webgpu_device(std::string_view device);
// A caller's WGPUDevice and its WGPUQueue, to both of which a reference is added. Throws kInvalidOption for NULL.
std::shared_ptr<webgpu::Device> wrap_webgpu_device(void* device, void* queue);
void* webgpu_device_handle(const webgpu::Device& device);
void* webgpu_queue_handle(const webgpu::Device& device);

}  // namespace hemstitch
