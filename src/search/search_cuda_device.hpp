// Search on CUDA devices (device_search_cuda.cpp).
#pragma once

#include <memory>
#include <string_view>

#include "search/device_search.hpp"

namespace hemstitch {

// The pattern set is not copied. Throws kDeviceUnavailable.
std::unique_ptr<DeviceSearch> make_cuda_search(std::string_view device, const PatternSet& patterns);

}  // namespace hemstitch
