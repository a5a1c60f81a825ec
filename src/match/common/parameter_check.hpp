// Checks a finder's parameter; an error names the finder and the field.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "core/messages.hpp"
#include "core/status.hpp"

namespace hemstitch {

inline void check_parameter(std::string_view finder, std::string_view field, std::uint64_t value,
                            std::uint64_t lowest, std::uint64_t highest) {
  if (value < lowest || value > highest)
    throw Error(Status::kInvalidOption,
                out_of_range(fmt::format("{}: {}", finder, field), value, lowest, highest));
}

}  // namespace hemstitch
