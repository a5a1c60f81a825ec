// Matching on CUDA devices (matcher_cuda.hpp).
#pragma once

#include <memory>
#include <string_view>

#include "api/block_matcher.hpp"

namespace hemstitch {

// Throws kDeviceUnavailable; kInvalidOption for a finder without kernels.
std::shared_ptr<const BlockMatcher> make_cuda_matcher(const MatchingStages& stages, std::string_view device,
                                                      unsigned slot_count);

}  // namespace hemstitch
