// A page: a block of 4096 bytes, the unit of batches of small blocks. Tables of pages are smaller than those
// of blocks.
#pragma once

#include <cstddef>

namespace hemstitch {

inline constexpr std::size_t kPageBytes = 4096;

}  // namespace hemstitch
