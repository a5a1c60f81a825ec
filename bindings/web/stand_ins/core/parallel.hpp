// In the place of src/core/parallel.hpp: a planner in a browser has one thread.
#pragma once

#include <cstddef>

namespace hemstitch {

template <class Body>
void run_in_parallel(std::size_t count, std::size_t, const Body& body) {
  for (std::size_t i = 0; i < count; ++i) body(i);
}

}  // namespace hemstitch
