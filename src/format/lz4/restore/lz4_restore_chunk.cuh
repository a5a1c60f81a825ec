// A chunk of a batch, opened and closed by its threads.
#pragma once

#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "format/lz4/restore/lz4_restore_sequence.cuh"
#include "gpu/cuda/kernel_trace.hpp"

namespace hemstitch::cuda {

// Opens chunk `index` of the batch. If the chunk breaks the batch's bounds, writes its status and returns false. `writes`: this
// thread writes for all that call together.
__device__ inline bool open_chunk(const DeviceRestore& batch, std::uint64_t index, Lz4Chunk& chunk,
                                  bool writes) {
  if (writes) trace_mark(kTraceRestoreChunk, static_cast<std::uint32_t>(index));
  const std::size_t block_bytes = batch.d_block_bytes[index], capacity = batch.d_capacities[index];
  if (block_bytes > batch.max_block_bytes || capacity > batch.max_capacity) {
    if (writes) {
      batch.d_output_bytes[index] = 0;
      batch.d_statuses[index] = HEMSTITCH_INVALID_OPTION;
    }
    return false;
  }
  chunk.d_block = reinterpret_cast<const std::uint8_t*>(batch.d_blocks[index]);
  chunk.block_bytes = static_cast<std::uint32_t>(block_bytes);
  chunk.d_output =
      batch.d_outputs == nullptr ? nullptr : reinterpret_cast<std::uint8_t*>(batch.d_outputs[index]);
  chunk.capacity = static_cast<std::uint32_t>(capacity);
  chunk.history_bytes = batch.d_history_bytes == nullptr ? 0 : batch.d_history_bytes[index];
  return true;
}

// By one thread.
__device__ inline void close_chunk(const DeviceRestore& batch, std::uint64_t index, Lz4Progress progress,
                                   std::uint32_t written) {
  batch.d_output_bytes[index] = progress == Lz4Progress::kDone ? written : 0;
  batch.d_statuses[index] = progress == Lz4Progress::kDone       ? HEMSTITCH_OK
                            : progress == Lz4Progress::kTooSmall ? HEMSTITCH_OUTPUT_TOO_SMALL
                                                                 : HEMSTITCH_CORRUPT_BLOCK;
}

}  // namespace hemstitch::cuda
