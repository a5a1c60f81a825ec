// What we use of wgpu-native beyond webgpu.h. A runtime on another implementation, such as a browser's,
// replaces only this file.
#pragma once

#include <string>
#include <vector>

#include "gpu/webgpu/api.hpp"

namespace hemstitch::webgpu {

// Takes wgpu-native's own functions from its loaded file; call it first. Returns why they do not suit this
// build, or nothing.
std::string load_native(void* handle, std::string& version);

// With Vulkan, Metal and Direct3D 12. OpenGL lacks features that compute needs, or shows a GPU twice. Null on
// failure.
WGPUInstance make_instance(const Api& api);
// All its adapters; the caller releases them. (webgpu.h returns only one, of its own choice.)
std::vector<WGPUAdapter> adapters_of(WGPUInstance instance);

// For our own shaders. Bounds of buffers are checked. wgpu makes loops of unknown shaders count their
// iterations up to 2^64; here it does not. All our loops end (the essays say why), and drivers neither unroll
// loops with counters nor keep their variables in registers.
WGPUShaderModule make_shader_module(WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor);

// Runs the callbacks of finished work; does not wait.
void poll(WGPUDevice device);

// The unit of timestamps. (webgpu.h has nanoseconds; wgpu-native has the device's own ticks.)
double seconds_per_tick(WGPUQueue queue);

}  // namespace hemstitch::webgpu
