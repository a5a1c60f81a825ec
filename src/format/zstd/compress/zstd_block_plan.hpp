// What Zstandard allows inside a block, as devices' parses take it.
#pragma once

#include "core/block_plan.hpp"
#include "core/host_device.hpp"

namespace hemstitch {

// No offset of ours reaches back farther than the window that all readers must support (RFC 8878, section 3.1.1.1.2). A match may end with the block.
HEMSTITCH_HOST_DEVICE constexpr BlockPlan zstd_block_plan() { return {3, kUnlimitedLength, 8 << 20, 3, 0}; }

}  // namespace hemstitch
