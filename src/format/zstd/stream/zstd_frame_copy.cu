// Copies literals and matches of each block of a piece by itself, to symbols (zstd_frame_cuda.hpp).
#include "format/zstd/restore/zstd_copy.cuh"
#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 4;

// Mapping: a warp a block. Shared memory: 1.8 KB a warp. Synchronisation inside of warps alone. Work: linear in content. CPU twin:
// copy_zstd_symbols().
__global__ void __launch_bounds__(32 * kWarps, 8) copy_zstd_blocks(const ZstdFrameWork work) {
  __shared__ ZstdCopyMemory<std::uint32_t> sh_memory[kWarps];
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32 + 1;
  // Another block may stop the piece meanwhile: all lanes go by what one of them reads.
  if (index >= __shfl_sync(kAllLanes, work.stop_record(), 0)) return;
  if (lane == 0) trace_mark(kTraceRestoreZstdBlock, index);
  const ZstdBlockRecord& record = work.stages.d_blocks[index];
  const auto begin = static_cast<std::uint32_t>(record.begin);
  const std::uint32_t place = work.piece.history_bytes + begin;
  // So a mark is below its block.
  if (!copy_zstd_block(sh_memory[threadIdx.x / 32], work.stages, record,
                       ZstdSymbolTarget{work.d_symbols + begin, kZstdMark + place}, place,
                       work.piece.window_bytes, lane) &&
      lane == 0)
    work.stop_at(index, kZstdLeftInDoubt);
}

constexpr KernelBudget kCopyBudget("zstd_frame.copy", "copy_zstd_blocks",
                                   {.threads = 32 * kWarps,
                                    .registers = 64,
                                    .shared_bytes = sizeof(ZstdCopyMemory<std::uint32_t>) * kWarps});
const KernelRegistration kCopyRegistration(kCopyBudget, copy_zstd_blocks);

}  // namespace

void launch_zstd_frame_copy(const ZstdFrameWork& work, cudaStream_t stream) {
  launch({.kernel = kCopyBudget, .grid = (work.piece.block_count + kWarps - 1) / kWarps, .stream = stream},
         copy_zstd_blocks, work);
}

}  // namespace hemstitch::cuda
