// The numeric parameters of finders by name, for programs that read them from text, like the tool and the
// Python package.
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

// All fields of FinderParameters except top_k_policy and stitch, in their order there.
HEMSTITCH_API std::span<const FinderNumber> finder_numbers();

}  // namespace hemstitch
