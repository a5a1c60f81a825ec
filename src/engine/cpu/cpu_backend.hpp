// `cpu`, the production path without a GPU. Established libraries compress, one block after the other on the
// calling thread. For LZ4 that is liblz4: its fast compressor at levels 1 and 2, its HC compressor at levels
// 3 to 12.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace hemstitch
