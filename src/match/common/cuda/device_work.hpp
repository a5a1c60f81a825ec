// What the record of a launch says about its batch.
#pragma once

#include "gpu/cuda/cuda_error.hpp"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

inline LaunchWork work_of(const DeviceBlocks& batch) { return {batch.block_count, batch.total_block_bytes}; }

}  // namespace hemstitch::cuda
