// A backend whose code is in a part (gpu/device_parts.hpp), which is loaded when something is asked that only its code knows. Its name
// and what `auto` first compares are known without it.
#pragma once

#include <memory>
#include <string_view>

#include "engine/backend.hpp"

namespace hemstitch {

// `make` loads the part, and throws Error where that fails: then the backend cannot be used, and this is the reason. It is called
// once. `name` must outlive the backend.
std::unique_ptr<Backend> make_part_backend(std::string_view name, std::unique_ptr<Backend> (*make)());

}  // namespace hemstitch
