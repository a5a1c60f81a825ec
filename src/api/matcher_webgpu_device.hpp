// Matching on WebGPU devices (matcher_webgpu.hpp).
#pragma once

#include <memory>
#include <string_view>

#include "api/block_matcher.hpp"

namespace hemstitch {

// Throws kDeviceUnavailable; kInvalidOption for what finder, parse or device do not support.
std::shared_ptr<const BlockMatcher> make_webgpu_matcher(const MatchingStages& stages, std::string_view device,
                                                        unsigned slot_count);

}  // namespace hemstitch
