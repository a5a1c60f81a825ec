// How memory grows that is kept from call to call and replaced when a call needs more.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hemstitch {

// Grows by at least a quarter, so that needs that rise slowly do not allocate each time.
constexpr std::uint64_t grown_size(std::uint64_t before, std::uint64_t needed) {
  return std::max(needed, before + before / 4);
}

}  // namespace hemstitch
