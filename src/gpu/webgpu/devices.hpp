// One object for each device in use.
#pragma once

#include <memory>
#include <string_view>

#include "gpu/webgpu/device.hpp"

namespace hemstitch::webgpu {

// The device of the adapter that `wanted` names (choose_adapter()). It is made at the first call and kept as
// long as the process, so its shaders are compiled once. Throws as Device does.
std::shared_ptr<Device> open_device(std::string_view wanted);

}  // namespace hemstitch::webgpu
