// How memory grows that is kept from call to call and replaced by more where a call needs more.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hemstitch {

// At least a quarter more than before, so that needs that grow little by little do not take new memory each time.
constexpr std::uint64_t grown_size(std::uint64_t before, std::uint64_t needed) {
  return std::max(needed, before + before / 4);
}

}  // namespace hemstitch
