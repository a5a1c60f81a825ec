// Which of a backend's devices a user means. "1" is a number; "h200" is a part of a name, in any case; "1,0"
// is a list of either, in order of preference, or of all devices to use; "all" means all devices.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hemstitch {

// The device that a request names, or otherwise the user's default, HEMSTITCH_DEVICE. Call it only where
// requests come in; code below that gets its device from its caller.
std::string wanted_device(std::string_view requested);

// Every device. Backends that use one device use the best one.
inline constexpr std::string_view kAllDevices = "all";

// Indices into `names`, each once, in the order of `wanted`; names that match the same part keep their own
// order. Parts that match nothing are ignored.
std::vector<std::size_t> devices_meant(std::string_view wanted, std::span<const std::string> names);

}  // namespace hemstitch
