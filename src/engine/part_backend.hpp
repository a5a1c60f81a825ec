// A backend whose code is in a part (gpu/device_parts.hpp), which is loaded when something is asked that only its code knows. Its name
// and what `auto` first compares are known without it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/backend.hpp"

namespace hemstitch {

// Loads the part and makes its backend; null, with the reason, where that fails.
using MakeFromPart = std::function<std::unique_ptr<Backend>(std::string& reason)>;

// `make` is called once, when the part is needed. If it throws, the backend cannot be used either. `name` must outlive the backend.
std::unique_ptr<Backend> make_part_backend(std::string_view name, MakeFromPart make);

}  // namespace hemstitch
