// The parameters of finders that are numbers, by their names: for those who read them from text, as the tool and the Python package do.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hemstitch/match.hpp"

namespace hemstitch {

struct FinderNumber {
  std::string_view name;
  std::uint32_t FinderParameters::*member;
};

// All fields of FinderParameters but top_k_policy and stitch, in their order there.
HEMSTITCH_API std::span<const FinderNumber> finder_numbers();

}  // namespace hemstitch
