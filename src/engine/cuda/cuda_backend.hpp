// `cuda`: NVIDIA GPUs. Compresses and restores LZ4 (cuda_engine.hpp), with the bytes of `reference`.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_cuda_backend();

}  // namespace hemstitch
