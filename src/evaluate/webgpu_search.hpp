// A finder's search through WebGPU, for those who judge finders: the data as one block, up and back.
#pragma once

#include <string>

#include "evaluate/finder_choice.hpp"

namespace hemstitch {

// With `all`, the searching finders also count, and coop_stitch gives its records before the stitch, which takes longer.
// Throws kInvalidOption for brute_force, which has no shader, and the device family's errors.
FoundMatches find_on_webgpu(const FinderChoice& choice, const FinderInput& input, bool stitch, bool all);

// Of the adapter that is meant. Throws kDeviceUnavailable.
std::string webgpu_adapter_name(const std::string& device);

}  // namespace hemstitch
