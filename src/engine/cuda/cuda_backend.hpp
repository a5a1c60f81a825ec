// `cuda`: NVIDIA GPUs (cuda_engine.hpp). Writes the bytes of `reference`.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_cuda_backend();

}  // namespace hemstitch
