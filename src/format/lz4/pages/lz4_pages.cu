// Pages on a CUDA device: a warp a page in every kernel.
//
// Level 1 takes one launch: the warp that finds that a page is not same-filled compresses it at once (lz4_one_pass_page.cuh), and
// copies it if that does not make it smaller. At other levels same-filled pages are set apart first, the rest goes through
// compress_lz4_cuda(), and what did not shrink is copied after.
//
// Restoring reads an entry once: compressed pages go through restore_lz4_cuda(), in which all others have no room. Then the others
// are filled, and the sizes of the restored pages are checked.
//
// Shared memory: that of lz4_one_pass_page.cuh, or none. Synchronisation: within the warp. Work: O(1) a byte. CPU twin:
// lz4_pages_reference.cpp.
#include "format/lz4/block/lz4_copy.cuh"
#include "format/lz4/compress/lz4_one_pass_cuda.hpp"
#include "format/lz4/compress/lz4_one_pass_page.cuh"
#include "format/lz4/pages/lz4_pages_cuda.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kPageThreads = kPageWarps * 32;
using Pass = PagePass<kHashPairsBits>;

// By the warp: whether every byte equals the one 8 before it.
//
// All whole chunks of 16 bytes must be equal, and so must their halves. The bytes of cut chunks at both ends of the page are
// compared with those 8 before them, one a lane.
__device__ bool same_filled(const std::byte* page, std::uint32_t page_bytes, unsigned lane) {
  if (page_bytes <= kPageWordBytes) return false;
  const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(page) % 16);
  const std::byte* const base = page - misaligned;
  const std::uint32_t end = misaligned + page_bytes;
  constexpr std::uint32_t kChunks = kPageBytes / 16 / 32;
  uint4 chunks[kChunks] = {};
  bool whole[kChunks];
#pragma unroll
  for (std::uint32_t i = 0; i < kChunks; ++i) {
    const std::uint32_t at = (i * 32 + lane) * 16;
    whole[i] = at >= misaligned && at + 16 <= end;
    if (whole[i]) chunks[i] = *reinterpret_cast<const uint4*>(base + at);
  }
  bool same = true;
  const std::uint32_t early = kPageWordBytes + lane, late = page_bytes - 1 - lane;
  if (early < page_bytes) same = page[early] == page[early - kPageWordBytes];
  if (late >= kPageWordBytes && late < page_bytes) same &= page[late] == page[late - kPageWordBytes];
  const int first = misaligned == 0 ? 0 : 1;
  const std::uint32_t low = __shfl_sync(~0u, chunks[0].x, first), high = __shfl_sync(~0u, chunks[0].y, first);
#pragma unroll
  for (std::uint32_t i = 0; i < kChunks; ++i)
    if (whole[i])
      same &= chunks[i].x == low && chunks[i].y == high && chunks[i].z == low && chunks[i].w == high;
  return __all_sync(~0u, same);
}

__device__ void keep_word(const std::byte* page, std::byte* output, Lz4PageEntry* entry, unsigned lane) {
  if (lane < kPageWordBytes) output[lane] = page[lane];
  if (lane == 0) *entry = {kPageWordBytes, PageKind::kSameFilled};
}

__device__ void keep_raw(const DeviceBlock& page, std::byte* output, Lz4PageEntry* entry, unsigned lane) {
  copy_bytes(output, page.d_block, page.block_bytes, page.d_block, page.d_block + page.block_bytes, lane, 32);
  if (lane == 0) *entry = {page.block_bytes, PageKind::kRaw};
}

__global__ void __launch_bounds__(kPageThreads, kPageWarpsResident / kPageWarps)
    compress_pages(DeviceBlocks pages, DeviceLz4PageOutput output) {
  extern __shared__ uint4 sh_memory[];
  const std::uint32_t index = blockIdx.x * kPageWarps + warp_number();
  const unsigned lane = threadIdx.x % 32;
  if (index >= pages.block_count) return;
  if (lane == 0) trace_mark(kTraceCompressPage, index);
  const DeviceBlock page = pages.d_blocks[index];
  std::byte* const room = output.d_outputs[index];
  Lz4PageEntry* const entry = output.d_entries + index;
  if (same_filled(page.d_block, page.block_bytes, lane)) {
    keep_word(page.d_block, room, entry, lane);
    return;
  }
  Pass pass(reinterpret_cast<Pass::Shared*>(sh_memory)[warp_number()], page.d_block, page.block_bytes, lane);
  const std::uint32_t bytes = pass.compress(room, page.block_bytes == 0 ? 0 : page.block_bytes - 1);
  if (bytes == Pass::kDoesNotFit)
    keep_raw(page, room, entry, lane);
  else if (lane == 0)
    *entry = {bytes, PageKind::kCompressed};
}

// Keeps the same-filled pages. All other pages keep their bytes, with room for one byte less.
__global__ void __launch_bounds__(kPageThreads) set_apart(DeviceBlocks pages, DeviceLz4PageOutput output,
                                                          DeviceBlock* d_rest, std::size_t* d_capacities) {
  const std::uint32_t index = blockIdx.x * kPageWarps + warp_number();
  const unsigned lane = threadIdx.x % 32;
  if (index >= pages.block_count) return;
  DeviceBlock page = pages.d_blocks[index];
  const bool same = same_filled(page.d_block, page.block_bytes, lane);
  if (same) keep_word(page.d_block, output.d_outputs[index], output.d_entries + index, lane);
  if (lane != 0) return;
  if (same)
    page.block_bytes = 0;
  else
    output.d_entries[index] = {0, PageKind::kCompressed};
  d_rest[index] = page;
  d_capacities[index] = page.block_bytes == 0 ? 0 : page.block_bytes - 1;
}

// Copies what did not shrink.
__global__ void __launch_bounds__(kPageThreads)
    finish_pages(DeviceBlocks pages, DeviceLz4PageOutput output, const std::size_t* d_bytes,
                 const hemstitch_status* d_statuses) {
  const std::uint32_t index = blockIdx.x * kPageWarps + warp_number();
  const unsigned lane = threadIdx.x % 32;
  if (index >= pages.block_count) return;
  Lz4PageEntry* const entry = output.d_entries + index;
  if (entry->kind == PageKind::kSameFilled) return;
  __syncwarp();  // all lanes have read the entry
  if (d_statuses[index] != HEMSTITCH_OK)
    keep_raw(pages.d_blocks[index], output.d_outputs[index], entry, lane);
  else if (lane == 0)
    entry->bytes = static_cast<std::uint32_t>(d_bytes[index]);
}

// A thread for each page: lists the compressed pages, and gives only these room.
__global__ void __launch_bounds__(kPageThreads)
    select_compressed(DeviceLz4PageRestore pages, std::size_t* d_kept_bytes, std::size_t* d_capacities) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kPageThreads + threadIdx.x;
  if (index >= pages.count) return;
  const Lz4PageEntry entry = pages.d_entries[index];
  const std::size_t page_bytes = pages.d_page_bytes[index];
  const bool compressed = entry.kind == PageKind::kCompressed && page_bytes <= kPageBytes &&
                          legal_kept_page(entry.kind, entry.bytes, page_bytes);
  d_kept_bytes[index] = compressed ? entry.bytes : 0;
  d_capacities[index] = compressed ? page_bytes : 0;
}

__global__ void __launch_bounds__(kPageThreads)
    fill_pages(DeviceLz4PageRestore pages, const std::size_t* d_restored_bytes) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kPageWarps + warp_number();
  const unsigned lane = threadIdx.x % 32;
  if (index >= pages.count) return;
  if (lane == 0) trace_mark(kTraceFillPage, static_cast<std::uint32_t>(index));
  const Lz4PageEntry entry = pages.d_entries[index];
  const std::size_t page_bytes = pages.d_page_bytes[index];
  const std::byte* const kept = pages.d_kept[index];
  std::byte* const page = pages.d_pages[index];
  if (page_bytes > kPageBytes || !legal_kept_page(entry.kind, entry.bytes, page_bytes)) {
    if (lane == 0) pages.d_statuses[index] = HEMSTITCH_CORRUPT_BLOCK;
    return;
  }
  const auto bytes = static_cast<std::uint32_t>(page_bytes);
  if (entry.kind == PageKind::kCompressed) {
    if (lane == 0 && (pages.d_statuses[index] != HEMSTITCH_OK || d_restored_bytes[index] != page_bytes))
      pages.d_statuses[index] = HEMSTITCH_CORRUPT_BLOCK;
    return;
  }
  if (entry.kind == PageKind::kRaw) {
    copy_bytes(page, kept, bytes, kept, kept + bytes, lane, 32);
  } else {
    // Words of 8 bytes between the first and the last boundary, single bytes before and after.
    const auto head = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(page)) % 8;
    std::uint32_t words[2] = {0, 0};
#pragma unroll
    for (std::uint32_t i = 0; i < kPageWordBytes; ++i)
      words[i / 4] |= static_cast<std::uint32_t>(kept[(head + i) % kPageWordBytes]) << (i % 4 * 8);
    const std::uint32_t tail = head >= bytes ? bytes : head + (bytes - head) / 8 * 8;
    for (std::uint32_t i = head + lane * 8; i < tail; i += 32 * 8)
      *reinterpret_cast<uint2*>(page + i) = {words[0], words[1]};
    if (lane < head && lane < bytes) page[lane] = kept[lane];
    if (tail + lane < bytes) page[tail + lane] = kept[(tail + lane) % kPageWordBytes];
  }
  if (lane == 0) pages.d_statuses[index] = HEMSTITCH_OK;
}

constexpr auto kPassShared = static_cast<std::uint32_t>(kPageWarps * sizeof(Pass::Shared));
constexpr KernelBudget kCompressBudget("lz4.compress_pages", "compress_pages",
                                       {.threads = kPageThreads,
                                        .dynamic_shared_bytes = kPassShared,
                                        .registers = 88,
                                        .shared_bytes = kPassShared});
constexpr KernelBudget kApartBudget("lz4.set_apart", "set_apart", {.threads = kPageThreads, .registers = 64});
constexpr KernelBudget kFinishBudget("lz4.finish_pages", "finish_pages",
                                     {.threads = kPageThreads, .registers = 48});
constexpr KernelBudget kSelectBudget("lz4.select_compressed", "select_compressed",
                                     {.threads = kPageThreads, .registers = 32});
constexpr KernelBudget kFillBudget("lz4.fill_pages", "fill_pages",
                                   {.threads = kPageThreads, .registers = 48});
const KernelRegistration kCompressRegistration(kCompressBudget, compress_pages);
const KernelRegistration kApartRegistration(kApartBudget, set_apart);
const KernelRegistration kFinishRegistration(kFinishBudget, finish_pages);
const KernelRegistration kSelectRegistration(kSelectBudget, select_compressed);
const KernelRegistration kFillRegistration(kFillBudget, fill_pages);

unsigned warps_grid(std::uint64_t pages) {
  return static_cast<unsigned>((pages + kPageWarps - 1) / kPageWarps);
}

struct CompressScratch {
  Carver carver;
  DeviceBlock* d_rest;
  std::size_t *d_capacities, *d_bytes;
  hemstitch_status* d_statuses;
  std::size_t compress_bytes;
  std::byte* d_compress;

  CompressScratch(const DeviceBlocks& pages, const Lz4Level& level, void* d_scratch) : carver(d_scratch) {
    d_rest = carver.take<DeviceBlock>(pages.block_count);
    d_capacities = carver.take<std::size_t>(pages.block_count);
    d_bytes = carver.take<std::size_t>(pages.block_count);
    d_statuses = carver.take<hemstitch_status>(pages.block_count);
    compress_bytes = compress_lz4_cuda_scratch_bytes(pages, level);
    d_compress = carver.take<std::byte>(compress_bytes);
  }
};

struct RestoreScratch {
  Carver carver;
  std::size_t *d_kept_bytes, *d_capacities, *d_restored_bytes;
  std::size_t restore_bytes;
  std::byte* d_restore;
  DeviceRestore restore;

  RestoreScratch(const DeviceLz4PageRestore& pages, void* d_scratch) : carver(d_scratch) {
    d_kept_bytes = carver.take<std::size_t>(pages.count);
    d_capacities = carver.take<std::size_t>(pages.count);
    d_restored_bytes = carver.take<std::size_t>(pages.count);
    restore.d_blocks = pages.d_kept;
    restore.d_block_bytes = d_kept_bytes;
    restore.d_outputs = pages.d_pages;
    restore.d_capacities = d_capacities;
    restore.d_output_bytes = d_restored_bytes;
    restore.d_statuses = pages.d_statuses;
    restore.count = pages.count;
    restore.max_capacity = restore.max_block_bytes = kPageBytes;
    restore_bytes = restore_lz4_cuda_scratch_bytes(restore);
    d_restore = carver.take<std::byte>(restore_bytes);
  }
};

}  // namespace

std::size_t compress_lz4_pages_cuda_scratch_bytes(const DeviceBlocks& pages, const Lz4Level& level) {
  return one_pass_takes_as_pages(pages, level) ? 0 : CompressScratch(pages, level, nullptr).carver.bytes();
}

void compress_lz4_pages_cuda(const DeviceBlocks& pages, const Lz4Level& level,
                             const DeviceLz4PageOutput& output, void* d_scratch, std::size_t scratch_bytes,
                             cudaStream_t stream) {
  const unsigned grid = warps_grid(pages.block_count);
  if (one_pass_takes_as_pages(pages, level)) {
    launch({.kernel = kCompressBudget, .grid = grid, .stream = stream, .work = work_of(pages)},
           compress_pages, pages, output);
    return;
  }
  const CompressScratch scratch(pages, level, d_scratch);
  check_scratch("compress_lz4_pages", scratch.carver.bytes(), d_scratch, scratch_bytes);
  launch({.kernel = kApartBudget, .grid = grid, .stream = stream, .work = work_of(pages)}, set_apart, pages,
         output, scratch.d_rest, scratch.d_capacities);
  DeviceBlocks rest = pages;
  rest.d_blocks = scratch.d_rest;
  compress_lz4_cuda(rest, level,
                    {output.d_outputs, scratch.d_capacities, scratch.d_bytes, scratch.d_statuses},
                    scratch.d_compress, scratch.compress_bytes, stream);
  launch({.kernel = kFinishBudget, .grid = grid, .stream = stream, .work = work_of(pages)}, finish_pages,
         pages, output, scratch.d_bytes, scratch.d_statuses);
}

std::size_t restore_lz4_pages_cuda_scratch_bytes(const DeviceLz4PageRestore& pages) {
  return RestoreScratch(pages, nullptr).carver.bytes();
}

void restore_lz4_pages_cuda(const DeviceLz4PageRestore& pages, void* d_scratch, std::size_t scratch_bytes,
                            cudaStream_t stream) {
  const RestoreScratch scratch(pages, d_scratch);
  check_scratch("restore_lz4_pages", scratch.carver.bytes(), d_scratch, scratch_bytes);
  const auto threads_grid = static_cast<unsigned>((pages.count + kPageThreads - 1) / kPageThreads);
  launch({.kernel = kSelectBudget, .grid = threads_grid, .stream = stream}, select_compressed, pages,
         scratch.d_kept_bytes, scratch.d_capacities);
  restore_lz4_cuda(scratch.restore, scratch.d_restore, scratch.restore_bytes, stream);
  launch({.kernel = kFillBudget, .grid = warps_grid(pages.count), .stream = stream}, fill_pages, pages,
         scratch.d_restored_bytes);
}

}  // namespace hemstitch::cuda
