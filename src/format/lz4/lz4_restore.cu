#include "core/page.hpp"
#include "device/cuda/kernel_registry.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/scratch.hpp"
#include "format/lz4/lz4_restore_blocks_cuda.hpp"
#include "format/lz4/lz4_restore_blocks_tuning.hpp"
#include "format/lz4/lz4_restore_chunk.cuh"
#include "format/lz4/lz4_restore_cuda.hpp"
#include "format/lz4/lz4_restore_page.cuh"
#include "format/lz4/lz4_restore_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kPlainThreads = 128;
constexpr unsigned kPlainWarps = kPlainThreads / 32;

// Restores a chunk sequence by sequence: the plain kernel.
//
// Mapping: a warp a chunk. No shared memory, no barrier across warps. Work: linear in bytes read and written. CPU twin:
// decode_lz4_block_reference.
__global__ void __launch_bounds__(kPlainThreads) restore_plainly(const DeviceLz4Restore batch) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kPlainWarps + threadIdx.x / 32;
  if (index >= batch.count) return;
  Lz4Chunk chunk;
  if (!open_chunk(batch, index, chunk, lane == 0)) return;
  Lz4Place place;
  Lz4Progress progress = Lz4Progress::kGoesOn;
  while (progress == Lz4Progress::kGoesOn) progress = restore_lz4_sequence(chunk, place, lane);
  if (lane == 0) close_chunk(batch, index, progress, place.written);
}

// Restores pages, which have no history.
//
// Mapping: a warp a page. Shared memory: 7 KB a page. Synchronisation inside warps alone. Work: linear in bytes read and
// written, times 32 for the walk of a block made to defeat it. CPU twin: decode_lz4_block_reference.
__global__ void __launch_bounds__(32 * kLz4PagesPerBlock) restore_pages(const DeviceLz4Restore batch) {
  __shared__ Lz4PageMemory<kLz4PagePieces> sh_pages[kLz4PagesPerBlock];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kLz4PagesPerBlock + threadIdx.x / 32;
  if (index >= batch.count) return;
  Lz4Chunk chunk;
  if (!open_chunk(batch, index, chunk, lane == 0)) return;
  Lz4Place place;
  const Lz4Progress progress =
      restore_lz4_page<kLz4PagePieces, kLz4PageGroup>(chunk, sh_pages[threadIdx.x / 32], place, lane);
  if (lane == 0) close_chunk(batch, index, progress, place.written);
}

constexpr KernelBudget kPagesBudget("lz4_restore.pages", "restore_pages",
                                    {.threads = 32 * kLz4PagesPerBlock,
                                     .registers = 64,
                                     .shared_bytes = sizeof(Lz4PageMemory<kLz4PagePieces>) *
                                                     kLz4PagesPerBlock});
const KernelRegistration kPagesRegistration(kPagesBudget, restore_pages);

constexpr KernelBudget kPlainBudget("lz4_restore.plain", "restore_plainly",
                                    {.threads = kPlainThreads, .registers = 48});
const KernelRegistration kPlainRegistration(kPlainBudget, restore_plainly);

void check_bounds(const DeviceLz4Restore& batch) {
  if (batch.max_capacity > kLz4RestoreMaxBytes || batch.max_block_bytes > kLz4RestoreMaxBytes)
    throw Error(Status::kInvalidOption, "lz4_restore: chunks of more than 1 GiB; split the batch");
}

}  // namespace

std::size_t restore_lz4_cuda_scratch_bytes(const DeviceLz4Restore& batch) {
  check_bounds(batch);
  return 0;
}

void restore_lz4_cuda(const DeviceLz4Restore& batch, void* d_scratch, std::size_t scratch_bytes,
                      cudaStream_t stream) {
  check_scratch("lz4_restore", restore_lz4_cuda_scratch_bytes(batch), d_scratch, scratch_bytes);
  const auto groups_of = [&](unsigned chunks) {
    return static_cast<unsigned>((batch.count + chunks - 1) / chunks);
  };
  if (batch.max_capacity > kPageBytes) {
    if (batch.count < kLz4FewBlocks)
      restore_few_lz4_blocks_cuda(batch, stream);
    else
      restore_many_lz4_blocks_cuda(batch, stream);
  } else if (batch.d_history_bytes == nullptr) {
    launch({.kernel = kPagesBudget, .grid = groups_of(kLz4PagesPerBlock), .stream = stream}, restore_pages,
           batch);
  } else {
    launch({.kernel = kPlainBudget, .grid = groups_of(kPlainWarps), .stream = stream}, restore_plainly,
           batch);
  }
}

}  // namespace hemstitch::cuda
