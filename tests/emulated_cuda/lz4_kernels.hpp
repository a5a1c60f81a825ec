// LZ4 blocks restored by the kernels of CUDA on the processor (emulated_cuda.hpp).
#pragma once

#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "format/lz4/restore/lz4_restore_ways_cuda.hpp"
#include "kernel_batch.hpp"

namespace hemstitch::testing {

// As the batch's sizes decide, or one of the ways of lz4_restore_ways_cuda.hpp.
enum class Lz4Way { kChosen, kManyPages, kFewPages, kManyBlocks, kFewBlocks };

inline std::vector<RestoredByKernel> restored_by_lz4_kernels(std::span<const KernelBlock> blocks, Lz4Way way,
                                                             Against against = Against::kUpperGuard,
                                                             bool sizes_alone = false) {
  const auto restore = [way](const cuda::DeviceRestore& batch) {
    switch (way) {
      case Lz4Way::kChosen:
        return cuda::restore_lz4_cuda(batch, nullptr, 0, nullptr);
      case Lz4Way::kManyPages:
        return cuda::restore_many_lz4_pages_cuda(batch, nullptr);
      case Lz4Way::kFewPages:
        return cuda::restore_few_lz4_pages_cuda(batch, nullptr);
      case Lz4Way::kManyBlocks:
        return cuda::restore_many_lz4_blocks_cuda(batch, nullptr);
      case Lz4Way::kFewBlocks:
        return cuda::restore_few_lz4_blocks_cuda(batch, nullptr);
    }
  };
  return restored_by_kernels(blocks, restore, against, sizes_alone);
}

// What they should say.
inline RestoredByKernel restored_by_lz4_reference(const KernelBlock& block) {
  RestoredByKernel expected{HEMSTITCH_OK, Bytes(block.capacity)};
  const DecodedBlock decoded = restore_lz4_block_reference(block.data, block.history, expected.content);
  expected.status = static_cast<hemstitch_status>(decoded.status);
  expected.content.resize(decoded.bytes);
  return expected;
}

}  // namespace hemstitch::testing
