// Chunks of Zstandard restored by the kernels of CUDA on the processor (emulated_cuda.hpp). For sources that define __CUDACC__.
#pragma once

#include "format/zstd/frame/zstd_chunk_reference.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "kernel_batch.hpp"

namespace hemstitch::testing {

// How much the stages may take, in all.
struct ZstdRoom {
  std::uint32_t blocks = 4000, tables = 1000, units = 1u << 18;
  bool blocks_at_once = false;  // as for large chunks
  cuda::ZstdChunkForm form = cuda::ZstdChunkForm::kFrames;
};

// `left`, if given: how many chunks the stages left to the last kernel.
inline std::vector<RestoredByKernel> restored_by_zstd_kernels(std::span<const KernelBlock> chunks,
                                                              Against against = Against::kUpperGuard,
                                                              bool sizes_alone = false,
                                                              std::uint32_t* left = nullptr,
                                                              ZstdRoom room = {}) {
  const auto restore = [&](const cuda::DeviceRestore& batch) {
    std::vector<unsigned long long> taken(cuda::ZstdStages::kTakenCount);
    std::vector<std::uint32_t> counts(cuda::ZstdStages::kCountsCount), lists(cuda::kZstdLists * room.blocks),
        left_chunks(batch.count);
    std::vector<cuda::ZstdChunkRecord> records(batch.count);
    std::vector<cuda::ZstdBlockRecord> blocks(room.blocks);
    std::vector<uint4> pool(room.units), codes(room.tables * cuda::kZstdCodes / 8);
    std::vector<cuda::ZstdDeviceCell> cells(room.tables * cuda::kZstdCells);
    std::vector<std::uint32_t> symbols(room.blocks_at_once ? batch.count * batch.max_capacity : 0);
    const cuda::ZstdStages stages{.d_chunks = records.data(),
                                  .d_blocks = blocks.data(),
                                  .d_pool = reinterpret_cast<std::uint8_t*>(pool.data()),
                                  .d_cells = cells.data(),
                                  .d_codes = reinterpret_cast<cuda::ZstdDeviceCode*>(codes.data()),
                                  .d_lists = lists.data(),
                                  .d_taken = taken.data(),
                                  .d_counts = counts.data(),
                                  .d_left = left_chunks.data(),
                                  .d_symbols = room.blocks_at_once ? symbols.data() : nullptr,
                                  .symbols_of_chunk = batch.max_capacity,
                                  .block_room = room.blocks,
                                  .table_room = room.tables,
                                  .unit_room = room.units,
                                  .form = room.form};
    cuda::launch_zstd_stages(batch, stages, nullptr);
    if (left != nullptr) *left = counts[cuda::ZstdStages::kLeft];
  };
  return restored_by_kernels(chunks, restore, against, sizes_alone);
}

// What they should say.
inline RestoredByKernel restored_by_zstd_reference(const KernelBlock& chunk) {
  RestoredByKernel restored{HEMSTITCH_INTERNAL, Bytes(chunk.capacity)};
  const ZstdChunkResult result = restore_zstd_chunk_reference(chunk.data, restored.content);
  restored.status = static_cast<hemstitch_status>(result.status);
  restored.content.resize(result.output_bytes);
  return restored;
}

}  // namespace hemstitch::testing
