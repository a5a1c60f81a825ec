// Makes the tables of blocks, as a stage of restoring (zstd_restore_cuda.hpp).
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 4;

// Mapping: a warp a block. Shared memory: 3 KB a warp. Synchronisation inside of warps alone. Work: linear in the tables' cells. CPU twin:
// zstd_tables.hpp.
__global__ void __launch_bounds__(32 * kWarps) make_zstd_tables(const ZstdStages stages) {
  __shared__ ZstdTableWork sh_work[kWarps];
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= stages.block_count()) return;
  ZstdBlockRecord& record = stages.d_blocks[index];
  const ZstdDeviceBlock& block = record.block;
  if (!block.is_compressed() || stages.is_left(record)) return;
  if (lane == 0) trace_mark(kTraceRestoreZstdBlock, index);
  ZstdTableWork& work = sh_work[threadIdx.x / 32];
  bool is_sound = true;
  if (block.literals_type == ZstdDeviceLiterals::kCompressed) {
    std::uint32_t used_bytes = 0;
    const unsigned bits =
        make_zstd_huffman(work, block.d_data + block.literals_at, block.literals_bytes, kZstdCodeBits,
                          stages.d_codes + std::size_t{record.tables} * kZstdCodes, used_bytes, lane);
    if (lane == 0) {
      record.huffman_bits = bits;
      record.huffman_bytes = used_bytes;
    }
    is_sound = bits != 0;
  }
  std::uint32_t at = block.sequences_at;
  for (unsigned kind = 0; kind < kZstdKinds && block.sequences != 0 && is_sound; ++kind) {
    if (!block.defines(kind)) continue;
    unsigned log = 0;
    is_sound = make_zstd_cells(work, block.d_data, block.data_bytes, block.mode(kind), kind, at,
                               stages.d_cells + std::size_t{record.tables} * kZstdCells + zstd_cells_at(kind),
                               log, lane);
    if (lane == 0) record.logs[kind] = log;
  }
  if (lane != 0) return;
  record.stream_at = at;
  // The stream of bits that follows has a mark in its last byte.
  if (!is_sound ||
      (block.sequences != 0 && (at >= block.data_bytes || block.d_data[block.data_bytes - 1] == 0)))
    stages.leave(record);
}

constexpr KernelBudget kTablesBudget("zstd_restore.tables", "make_zstd_tables",
                                     {.threads = 32 * kWarps,
                                      .registers = 64,
                                      .shared_bytes = sizeof(ZstdTableWork) * kWarps});
const KernelRegistration kTablesRegistration(kTablesBudget, make_zstd_tables);

}  // namespace

void launch_zstd_tables(const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kTablesBudget, .grid = (stages.block_room + kWarps - 1) / kWarps, .stream = stream},
         make_zstd_tables, stages);
}

}  // namespace hemstitch::cuda
