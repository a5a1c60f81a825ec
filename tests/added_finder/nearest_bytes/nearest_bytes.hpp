// nearest_bytes: the nearest earlier place with the same four bytes, at its true length. A finder of the tests alone, added as
// docs/how-to-add-a-finder.md says.
#pragma once

#include <array>
#include <string_view>

#include "hemstitch/match.hpp"
#include "match/common/finder.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch {

struct NearestBytesParameters {
  std::uint32_t window_bytes = 1024;  // the largest distance; 4..65535

  static constexpr std::string_view kName = "nearest_bytes";
  static constexpr std::array<std::string_view, 1> kFields = {"window_size"};
  static FinderParameters defaults() { return {.window_size = 1024}; }
  static NearestBytesParameters from(const FinderParameters& p) { return {p.window_size}; }
};

void check_parameters(const NearestBytesParameters& parameters);
FoundMatches find_reference(const FinderInput& input, const NearestBytesParameters& parameters);

}  // namespace hemstitch
