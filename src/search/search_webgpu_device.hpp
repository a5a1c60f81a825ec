// Search on WebGPU devices (search_webgpu.cpp).
#pragma once

#include <memory>

#include "search/device_search.hpp"

namespace hemstitch {

// The pattern set is not copied.
std::unique_ptr<DeviceSearch> make_webgpu_search(std::shared_ptr<webgpu::Device> device,
                                                 const PatternSet& patterns);

}  // namespace hemstitch
