// Copies the content of large chunks (zstd_restore_cuda.hpp), where there are too few to give each one warp: all their blocks at once, each by itself, to
// symbols; then symbols become bytes. One frame is restored in the same way (stream/zstd_frame_cuda.hpp).
#include "format/zstd/restore/zstd_copy.cuh"
#include "format/zstd/restore/zstd_resolve.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 4, kResolvingWarps = 8;

// Mapping: a warp a block of a chunk. Shared memory: 1.8 KB a warp. Synchronisation inside of warps alone. Work: linear in content. CPU twin:
// copy_zstd_symbols().
__global__ void __launch_bounds__(32 * kWarps, 8) copy_zstd_blocks_of_chunks(const ZstdStages stages) {
  __shared__ ZstdCopyMemory<std::uint32_t> sh_memory[kWarps];
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= stages.block_count()) return;
  const ZstdBlockRecord& record = stages.d_blocks[index];
  if (record.tables == kZstdNone) return;
  // Another block may leave the chunk meanwhile: all lanes go by what one of them reads.
  if (__shfl_sync(kAllLanes, stages.is_left(record) ? 1 : 0, 0) != 0) return;
  if (lane == 0) trace_mark(kTraceRestoreZstdBlock, index);
  const auto begin = static_cast<std::uint32_t>(record.begin);
  std::uint32_t* const d_symbols = stages.d_symbols + stages.symbols_of_chunk * record.chunk + begin;
  if (!copy_zstd_block(sh_memory[threadIdx.x / 32], stages, record,
                       ZstdSymbolTarget{d_symbols, kZstdMark + begin}, begin,
                       stages.d_chunks[record.chunk].window_bytes, lane) &&
      lane == 0)
    stages.leave(record);
}

// Thread blocks go over the chunks first: so what earlier ones write back is there when later bytes of a chunk are looked at.
//
// Mapping: a warp for 128 bytes. Shared memory: 128 bytes a warp. Synchronisation inside of warps alone (resolve_zstd_bytes()). Work: linear in content,
// times the steps of the longest chain of a warp. CPU twin: resolve_zstd_symbols().
__global__ void __launch_bounds__(32 * kResolvingWarps)
    resolve_zstd_chunks(const DeviceRestore batch, const ZstdStages stages) {
  __shared__ std::uint32_t sh_words[kResolvingWarps][kZstdResolvedBytes / 4];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto count = static_cast<std::uint32_t>(batch.count);
  const std::uint32_t index = blockIdx.x % count, part = blockIdx.x / count;
  const ZstdChunkRecord& chunk = stages.d_chunks[index];
  if (chunk.is_left != 0) return;
  resolve_zstd_bytes({stages.d_symbols + stages.symbols_of_chunk * index,
                      reinterpret_cast<std::uint8_t*>(batch.d_outputs[index]), chunk.content_bytes, 0},
                     (std::uint64_t{part} * kResolvingWarps + warp) * kZstdResolvedBytes, sh_words[warp],
                     lane);
}

constexpr KernelBudget kCopyBudget("zstd_restore.copy_blocks", "copy_zstd_blocks_of_chunks",
                                   {.threads = 32 * kWarps,
                                    .registers = 64,
                                    .shared_bytes = sizeof(ZstdCopyMemory<std::uint32_t>) * kWarps});
const KernelRegistration kCopyRegistration(kCopyBudget, copy_zstd_blocks_of_chunks);
constexpr KernelBudget kResolveBudget("zstd_restore.resolve", "resolve_zstd_chunks",
                                      {.threads = 32 * kResolvingWarps,
                                       .registers = 40,
                                       .shared_bytes = kResolvingWarps * kZstdResolvedBytes});
const KernelRegistration kResolveRegistration(kResolveBudget, resolve_zstd_chunks);

}  // namespace

void launch_zstd_block_copy(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kCopyBudget, .grid = (stages.block_room + kWarps - 1) / kWarps, .stream = stream},
         copy_zstd_blocks_of_chunks, stages);
  // As if all content began at the worst address.
  constexpr std::uint64_t kBytes = kResolvingWarps * kZstdResolvedBytes;
  const std::uint64_t parts = (stages.symbols_of_chunk + kZstdResolvedBytes + kBytes - 1) / kBytes;
  launch({.kernel = kResolveBudget, .grid = static_cast<unsigned>(batch.count * parts), .stream = stream},
         resolve_zstd_chunks, batch, stages);
}

}  // namespace hemstitch::cuda
