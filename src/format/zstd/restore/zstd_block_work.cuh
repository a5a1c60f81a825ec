// How much work a block of Zstandard is, and what it takes of the pool (zstd_stages_cuda.hpp).
#pragma once

#include <cstdint>

#include "format/zstd/restore/zstd_stages_cuda.hpp"

namespace hemstitch::cuda {

// So a block has at most a third as many sequences as bytes.
inline constexpr std::uint32_t kZstdLeastMatch = 3;

__device__ inline std::uint32_t zstd_units(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kZstdUnitBytes - 1) / kZstdUnitBytes);
}
// Streams of literals are written in units, so there is one to spare.
__device__ inline std::uint32_t zstd_literal_units(const ZstdDeviceBlock& block) {
  const bool kept = block.is_compressed() && block.literals_type != ZstdDeviceLiterals::kRaw;
  return kept ? zstd_units(block.literals) + 1 : 0;
}
__device__ inline std::uint32_t zstd_state_units(const ZstdDeviceBlock& block) {
  return zstd_units(std::uint64_t{4} * block.sequences);
}
__device__ inline std::uint32_t zstd_sequence_units(const ZstdDeviceBlock& block) {
  return zstd_units(sizeof(ZstdDeviceSequence) * std::uint64_t{block.sequences});
}

// A block's class in a list, the ones with most work first.
__device__ inline unsigned zstd_work_class(std::uint32_t work, unsigned shift) {
  const std::uint32_t size = work >> shift;
  return kZstdClasses - 1 - (size < kZstdClasses ? size : kZstdClasses - 1);
}
__device__ inline unsigned zstd_list_class(unsigned list, const ZstdDeviceBlock& block) {
  return list == 0 ? zstd_work_class(block.literals, 11) : zstd_work_class(block.sequences, 8);
}
__device__ inline bool is_in_zstd_list(unsigned list, const ZstdDeviceBlock& block) {
  return list == 0 ? zstd_literal_units(block) != 0 : block.sequences != 0;
}

// Counts the block in its class of each list that it is in.
__device__ inline void count_zstd_work(const ZstdStages& stages, const ZstdDeviceBlock& block) {
  for (unsigned list = 0; list < kZstdLists; ++list)
    if (is_in_zstd_list(list, block))
      atomicAdd(&stages.d_counts[ZstdStages::kClassesAt + list * kZstdClasses + zstd_list_class(list, block)],
                1u);
}

}  // namespace hemstitch::cuda
