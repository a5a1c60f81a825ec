// A page: a block of 4096 bytes, the unit of batches of small blocks. Pages have smaller tables than blocks.
#pragma once

#include <cstddef>

namespace hemstitch {

inline constexpr std::size_t kPageBytes = 4096;

}  // namespace hemstitch
