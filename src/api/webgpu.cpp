// The public class of a WebGPU device; compact_webgpu.cpp has the functions.
#include "hemstitch/webgpu.hpp"

#include "gpu/device_names.hpp"
#include "gpu/webgpu_device.hpp"

namespace hemstitch {

WebgpuDevice::WebgpuDevice(std::string_view device) : device_(open_webgpu_device(wanted_device(device))) {}
WebgpuDevice::WebgpuDevice(void* device, void* queue) : device_(wrap_webgpu_device(device, queue)) {}

void* WebgpuDevice::device() const { return webgpu_device_handle(*device_); }
void* WebgpuDevice::queue() const { return webgpu_queue_handle(*device_); }

}  // namespace hemstitch
