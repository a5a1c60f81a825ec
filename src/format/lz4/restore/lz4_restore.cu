#include "core/page.hpp"
#include "format/lz4/restore/lz4_restore_blocks_tuning.hpp"
#include "format/lz4/restore/lz4_restore_chunk.cuh"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "format/lz4/restore/lz4_restore_page.cuh"
#include "format/lz4/restore/lz4_restore_tuning.hpp"
#include "format/lz4/restore/lz4_restore_ways_cuda.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kPlainThreads = 128;
constexpr unsigned kPlainWarps = kPlainThreads / 32;

// Restores a chunk sequence by sequence: the plain kernel.
//
// Mapping: a warp a chunk. No shared memory, no barrier across warps. Work: linear in bytes read and written. CPU twin:
// restore_lz4_block_reference.
__global__ void __launch_bounds__(kPlainThreads) restore_plainly(const DeviceRestore batch) {
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
// written, times 32 for the walk of a block made to defeat it. CPU twin: restore_lz4_block_reference.
__global__ void __launch_bounds__(32 * kLz4PagesPerBlock) restore_pages(const DeviceRestore batch) {
  __shared__ Lz4PageMemory<kLz4PagePieces> sh_pages[kLz4PagesPerBlock];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kLz4PagesPerBlock + threadIdx.x / 32;
  if (index >= batch.count) return;
  Lz4Chunk chunk;
  if (!open_chunk(batch, index, chunk, lane == 0)) return;
  Lz4Place place;
  const Lz4Progress progress = restore_lz4_page<kLz4PagePieces, kLz4PageGroup>(
      chunk, sh_pages[threadIdx.x / 32], nullptr, place, lane);
  if (lane == 0) close_chunk(batch, index, progress, place.written);
}

// The same for few pages, where the slowest one decides the time: sequences are found by tables of exits, which takes about equally
// long for any page.
//
// Mapping: a warp a page, a page a thread block. Shared memory: 16 KB. Synchronisation inside the warp alone. Work: linear in
// bytes read and written. CPU twin: restore_lz4_block_reference.
__global__ void __launch_bounds__(32) restore_few_pages(const DeviceRestore batch) {
  __shared__ Lz4PageMemory<kLz4PagePieces> sh_page;
  __shared__ Lz4PageExits sh_exits;
  Lz4Chunk chunk;
  if (!open_chunk(batch, blockIdx.x, chunk, threadIdx.x == 0)) return;
  Lz4Place place;
  const Lz4Progress progress =
      restore_lz4_page<kLz4PagePieces, kLz4PageGroup>(chunk, sh_page, &sh_exits, place, threadIdx.x);
  if (threadIdx.x == 0) close_chunk(batch, blockIdx.x, progress, place.written);
}

constexpr KernelBudget kPagesBudget("lz4_restore.pages", "restore_pages",
                                    {.threads = 32 * kLz4PagesPerBlock,
                                     .registers = 64,
                                     .shared_bytes = sizeof(Lz4PageMemory<kLz4PagePieces>) *
                                                     kLz4PagesPerBlock});
const KernelRegistration kPagesRegistration(kPagesBudget, restore_pages);

constexpr KernelBudget kFewPagesBudget("lz4_restore.few_pages", "restore_few_pages",
                                       {.threads = 32,
                                        .registers = 80,
                                        .shared_bytes = sizeof(Lz4PageMemory<kLz4PagePieces>) +
                                                        sizeof(Lz4PageExits)});
const KernelRegistration kFewPagesRegistration(kFewPagesBudget, restore_few_pages);

constexpr KernelBudget kPlainBudget("lz4_restore.plain", "restore_plainly",
                                    {.threads = kPlainThreads, .registers = 48});
const KernelRegistration kPlainRegistration(kPlainBudget, restore_plainly);

void check_bounds(const DeviceRestore& batch) {
  if (batch.max_capacity > kLz4RestoreMaxBytes || batch.max_block_bytes > kLz4RestoreMaxBytes)
    throw Error(Status::kInvalidOption, "lz4_restore: chunks of more than 1 GiB; split the batch");
}

unsigned groups_of(unsigned chunks, const DeviceRestore& batch) {
  return static_cast<unsigned>((batch.count + chunks - 1) / chunks);
}

}  // namespace

std::size_t restore_lz4_cuda_scratch_bytes(const DeviceRestore& batch) {
  check_bounds(batch);
  return 0;
}

void restore_few_lz4_pages_cuda(const DeviceRestore& batch, cudaStream_t stream) {
  launch({.kernel = kFewPagesBudget, .grid = groups_of(1, batch), .stream = stream}, restore_few_pages,
         batch);
}

void restore_many_lz4_pages_cuda(const DeviceRestore& batch, cudaStream_t stream) {
  launch({.kernel = kPagesBudget, .grid = groups_of(kLz4PagesPerBlock, batch), .stream = stream},
         restore_pages, batch);
}

void restore_lz4_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                      cudaStream_t stream) {
  check_scratch("lz4_restore", restore_lz4_cuda_scratch_bytes(batch), d_scratch, scratch_bytes);
  if (batch.max_capacity > kPageBytes) {
    if (batch.count < kLz4FewBlocks)
      restore_few_lz4_blocks_cuda(batch, stream);
    else
      restore_many_lz4_blocks_cuda(batch, stream);
  } else if (batch.d_history_bytes != nullptr) {
    launch({.kernel = kPlainBudget, .grid = groups_of(kPlainWarps, batch), .stream = stream}, restore_plainly,
           batch);
  } else if (batch.count < kLz4FewPages) {
    restore_few_lz4_pages_cuda(batch, stream);
  } else {
    restore_many_lz4_pages_cuda(batch, stream);
  }
}

}  // namespace hemstitch::cuda
