#include "gpu/webgpu_device.hpp"

#include "core/status.hpp"
#include "gpu/webgpu/devices.hpp"

namespace hemstitch {

std::shared_ptr<webgpu::Device> open_webgpu_device(std::string_view device) {
  return webgpu::open_device(device);
}
std::shared_ptr<webgpu::Device> wrap_webgpu_device(void* device, void* queue) {
  if (device == nullptr || queue == nullptr)
    throw Error(Status::kInvalidOption, device == nullptr ? "device is NULL" : "queue is NULL");
  return std::make_shared<webgpu::Device>(static_cast<WGPUDevice>(device), static_cast<WGPUQueue>(queue));
}
void* webgpu_device_handle(const webgpu::Device& device) { return device.get(); }
void* webgpu_queue_handle(const webgpu::Device& device) { return device.queue(); }

}  // namespace hemstitch
