// `cpu`, the production path without a GPU. Each format brings the codec (FormatRow::processor), in which
// established libraries compress.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace hemstitch
