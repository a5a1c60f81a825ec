// Finds where blocks begin and copies their content, as the last stages of restoring (zstd_restore_cuda.hpp).
#include "format/zstd/restore/zstd_copy.cuh"
#include "format/zstd/restore/zstd_repeats.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kPlaceThreads = 128;
constexpr unsigned kWarps = 4;

// Mapping: a thread a chunk. No shared memory, no synchronisation. Work: linear in blocks.
__global__ void __launch_bounds__(kPlaceThreads)
    place_zstd_blocks(const DeviceRestore batch, const ZstdStages stages) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kPlaceThreads + threadIdx.x;
  if (index >= batch.count) return;
  ZstdChunkRecord& chunk = stages.d_chunks[index];
  if (chunk.is_left != 0) return;
  ZstdDeviceRepeats repeats{1, 4, 8};
  std::uint64_t begin = 0;
  for (std::uint32_t i = 0; i < chunk.block_count; ++i) {
    ZstdBlockRecord& record = stages.d_blocks[chunk.first_block + i];
    record.begin = begin;
    record.repeats_before[0] = repeats.first;
    record.repeats_before[1] = repeats.second;
    record.repeats_before[2] = repeats.third;
    const std::uint32_t bytes = record.block.content_bytes;
    if (bytes > kZstdMostBlockBytes || bytes > chunk.window_bytes) chunk.is_left = 1;
    begin += bytes;
    repeats = resolved_zstd_repeats({record.repeats[0], record.repeats[1], record.repeats[2]}, repeats);
  }
  if (begin > batch.d_capacities[index] || (chunk.has_size && begin != chunk.stated_bytes)) chunk.is_left = 1;
  chunk.content_bytes = begin;
}

// Mapping: a warp a chunk. Shared memory: 1.3 KB a warp. Synchronisation inside of warps alone. Work: linear in content. CPU twin:
// ZstdReferenceDecoder.
__global__ void __launch_bounds__(32 * kWarps, 8)
    copy_zstd_content(const DeviceRestore batch, const ZstdStages stages) {
  __shared__ ZstdCopyMemory<std::uint8_t> sh_memory[kWarps];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (index >= batch.count) return;
  ZstdChunkRecord& chunk = stages.d_chunks[index];
  if (chunk.is_left != 0) return;
  if (lane == 0) trace_mark(kTraceRestoreZstdChunk, static_cast<std::uint32_t>(index));
  std::uint8_t* const d_output =
      batch.d_outputs != nullptr ? reinterpret_cast<std::uint8_t*>(batch.d_outputs[index]) : nullptr;
  for (std::uint32_t number = 0; number < chunk.block_count; ++number) {
    const ZstdBlockRecord& record = stages.d_blocks[chunk.first_block + number];
    const ZstdByteTarget to{d_output != nullptr ? d_output + record.begin : nullptr};
    if (copy_zstd_block(sh_memory[threadIdx.x / 32], stages, record, to,
                        static_cast<std::uint32_t>(record.begin), chunk.window_bytes, lane))
      continue;
    if (lane == 0) chunk.is_left = 1;
    return;
  }
}

constexpr KernelBudget kPlacesBudget("zstd_restore.places", "place_zstd_blocks",
                                     {.threads = kPlaceThreads, .registers = 48});
const KernelRegistration kPlacesRegistration(kPlacesBudget, place_zstd_blocks);
constexpr KernelBudget kCopyBudget("zstd_restore.copy", "copy_zstd_content",
                                   {.threads = 32 * kWarps,
                                    .registers = 64,
                                    .shared_bytes = sizeof(ZstdCopyMemory<std::uint8_t>) * kWarps});
const KernelRegistration kCopyRegistration(kCopyBudget, copy_zstd_content);

}  // namespace

void launch_zstd_places(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kPlacesBudget,
          .grid = static_cast<unsigned>((batch.count + kPlaceThreads - 1) / kPlaceThreads),
          .stream = stream},
         place_zstd_blocks, batch, stages);
}

void launch_zstd_copy(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kCopyBudget,
          .grid = static_cast<unsigned>((batch.count + kWarps - 1) / kWarps),
          .stream = stream},
         copy_zstd_content, batch, stages);
}

}  // namespace hemstitch::cuda
