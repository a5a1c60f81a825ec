// A compressed block to restore, for tests of kernels.
#pragma once

#include <cstddef>
#include <string>

#include "shapes.hpp"

namespace hemstitch::testing {

struct Chunk {
  Bytes block;
  std::size_t capacity = 0;
  Bytes history = {};
  std::string name = {};
};

}  // namespace hemstitch::testing
