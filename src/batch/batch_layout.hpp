// From a caller's arrays of pointers and sizes to the batch of blocks that the stages take (device_block.hpp).
//
//   admit_blocks   a thread for each block: a block that exceeds the batch's limits counts 0 bytes and gets a status
//   scan           positions
//   place_blocks   a thread for each block: pointer, size, history and position together; a block after the last position
//                  for which there is memory is left out as well, so that no later kernel writes outside
//
// 40 bytes of temporary memory for each block.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/block_plan.hpp"
#include "gpu/cuda/scratch.hpp"
#include "hemstitch/hemstitch.h"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

struct GivenBlocks {
  const void* const* d_inputs = nullptr;            // may be NULL where no bytes are read
  const std::uint32_t* d_input_bytes_32 = nullptr;  // sizes: one of these two
  const std::size_t* d_input_bytes_64 = nullptr;
  const std::uint32_t* d_history_bytes = nullptr;  // may be NULL: no history
  std::uint32_t count = 0;
  std::uint32_t max_input_bytes = 0;
  std::uint32_t max_history_bytes = 0;
  std::uint64_t total_input_bytes = 0;
};

class BatchLayout {
 public:
  BatchLayout(const GivenBlocks& given, Carver& carver);

  DeviceBlocks blocks() const {
    return {d_blocks_, given_.count, given_.max_input_bytes, given_.max_history_bytes,
            given_.total_input_bytes};
  }

  // `d_first` receives count + 1 positions; `d_statuses` HEMSTITCH_OK, or why a block was left out;
  // `d_first_sequences`, unless NULL, where each block's sequences begin under `plan`.
  void lay_out(std::uint64_t* d_first, const BlockPlan& plan, std::uint64_t* d_first_sequences,
               hemstitch_status* d_statuses, cudaStream_t stream) const;

 private:
  GivenBlocks given_;
  std::uint32_t* d_admitted_bytes_;
  std::size_t scan_bytes_;
  std::byte* d_scan_;
  DeviceBlock* d_blocks_;
};

// Throws the reason if there is no device.
void need_device();

}  // namespace hemstitch::cuda
