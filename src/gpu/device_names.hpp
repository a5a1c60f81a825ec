// Which of a backend's devices a person means: "1", a number; "h200", a part of a name in any case; "1,0", a list of both, in the
// order of preference, or of all that are to work; "all".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hemstitch {

// What a request says of the device; where it says nothing, the user's own default, HEMSTITCH_DEVICE. Read where a request comes in:
// below, devices are given.
std::string wanted_device(std::string_view requested);

// Every device there is. Backends that take one device take the best.
inline constexpr std::string_view kAllDevices = "all";

// Places in `names`, each once, in the order of `wanted` and, where a part stands in several names, of those. Parts that mean none are passed over.
std::vector<std::size_t> devices_meant(std::string_view wanted, std::span<const std::string> names);

}  // namespace hemstitch
