// The production path where there is no GPU: liblz4 on the calling thread, one block after the other.
// Levels 1-2 are liblz4's fast compressor, 3-12 its HC compressor at that level.
#pragma once

#include <memory>

#include "engine/backend.hpp"

namespace hemstitch {

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace hemstitch
