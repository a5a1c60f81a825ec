// `cuda`: NVIDIA GPUs. For now its finders and parses can be used one by one (match/*/*_cuda.hpp, parse/*/*_cuda.hpp);
// it makes no engine, so no file is compressed or restored on it.
#pragma once

#include <memory>

#include "device/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_cuda_backend();

}  // namespace hemstitch
