// An object for each device that is worked on.
#pragma once

#include <memory>
#include <string_view>

#include "gpu/webgpu/device.hpp"

namespace hemstitch::webgpu {

// The device of the adapter that `wanted` means (choose_adapter()): made at the first call and kept as long as the process, so that its
// shaders are compiled once. Throws as Device does.
std::shared_ptr<Device> open_device(std::string_view wanted);

}  // namespace hemstitch::webgpu
