// `webgpu`: any GPU with a Vulkan, Metal or Direct3D 12 driver, through WebGPU.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_webgpu_backend();

}  // namespace hemstitch
