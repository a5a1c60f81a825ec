// What we take from wgpu-native beyond webgpu.h: the only place that a runtime on another implementation, such as a browser's, replaces.
#pragma once

#include <string>
#include <vector>

#include "gpu/webgpu/api.hpp"

namespace hemstitch::webgpu {

// Takes wgpu-native's own functions from its loaded file, before any other call here. Returns why they are not what this build needs;
// nothing where they are.
std::string load_native(void* handle, std::string& version);

// Of Vulkan, Metal and Direct3D 12: OpenGL lacks what compute needs, or shows a GPU twice. Null where there is none.
WGPUInstance make_instance(const Api& api);
// All its adapters, which are the caller's to release; webgpu.h gives one of its own choice.
std::vector<WGPUAdapter> adapters_of(WGPUInstance instance);

// Of a shader that is ours. Bounds of buffers are checked. Loops are not made to count their turns up to 2^64, as wgpu does with shaders that
// it does not know: ours all end (the essays say why), and drivers neither unroll such loops nor keep what is in them in registers.
WGPUShaderModule make_shader_module(WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor);

// Lets callbacks of finished work come; does not wait.
void poll(WGPUDevice device);

// Of timestamps. (webgpu.h has nanoseconds; wgpu-native, the device's own ticks.)
double seconds_per_tick(WGPUQueue queue);

}  // namespace hemstitch::webgpu
