// The LZ4 part of the batch interface on a CUDA device: a caller's arrays become a batch (batch_layout.hpp), the stages
// run as they are, and blocks that were left out get their status back.
//
//   amend_statuses  one thread a block: the reason why a block was left out replaces the status of the empty block in its place
//   fill_sizes      one thread an element: one size for all
//
// No shared memory, no synchronisation.
#include <cstddef>

#include "batch/batch_layout.hpp"
#include "batch/lz4_batch_device.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "format/lz4/pages/lz4_pages_cuda.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch {
namespace {

using cuda::BatchLayout;
using cuda::Carver;
using cuda::check_scratch;

static_assert(sizeof(hemstitch_lz4_page_entry) == sizeof(Lz4PageEntry) &&
                  offsetof(hemstitch_lz4_page_entry, bytes) == offsetof(Lz4PageEntry, bytes) &&
                  offsetof(hemstitch_lz4_page_entry, kind) == offsetof(Lz4PageEntry, kind) &&
                  HEMSTITCH_LZ4_PAGE_COMPRESSED == static_cast<int>(PageKind::kCompressed) &&
                  HEMSTITCH_LZ4_PAGE_RAW == static_cast<int>(PageKind::kRaw) &&
                  HEMSTITCH_LZ4_PAGE_SAME_FILLED == static_cast<int>(PageKind::kSameFilled),
              "kernels read and write the entries of the C interface");
static_assert(HEMSTITCH_LZ4_STORED_BIT == cuda::kStoredBit);

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostGrid = 0x7FFFFFFF;

unsigned grid_for(std::uint64_t count) {
  const std::uint64_t grid = (count + kThreads - 1) / kThreads;
  if (grid > kMostGrid)
    throw Error(Status::kInvalidOption, "batch: count is too large for one launch; divide the batch");
  return static_cast<unsigned>(grid);
}

// Results of a block that was left out are set to 0, in those of `d_output_bytes`, `d_sizes` and `d_entries` that are given.
struct BlockResults {
  std::size_t* d_output_bytes = nullptr;
  std::uint32_t* d_sizes = nullptr;
  Lz4PageEntry* d_entries = nullptr;
};

__global__ void __launch_bounds__(kThreads)
    amend_statuses(std::uint32_t count, const hemstitch_status* d_admitted, const BlockResults results,
                   hemstitch_status* d_statuses) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count || d_admitted[i] == HEMSTITCH_OK) return;
  d_statuses[i] = d_admitted[i];
  if (results.d_output_bytes != nullptr) results.d_output_bytes[i] = 0;
  if (results.d_sizes != nullptr) results.d_sizes[i] = 0;
  if (results.d_entries != nullptr) results.d_entries[i] = {};
}

__global__ void __launch_bounds__(kThreads)
    fill_sizes(std::uint64_t count, std::size_t value, std::size_t* d_sizes) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) d_sizes[i] = value;
}

constexpr cuda::KernelBudget kAmendBudget("batch.amend_statuses", "amend_statuses",
                                          {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kFillBudget("batch.fill_sizes", "fill_sizes",
                                         {.threads = kThreads, .registers = 16});
const cuda::KernelRegistration kAmendRegistration(kAmendBudget, amend_statuses);
const cuda::KernelRegistration kFillRegistration(kFillBudget, fill_sizes);

// The temporary memory of raw blocks: the layout, why blocks were left out, what the stage itself needs.
struct RawTemp {
  Carver carver;
  BatchLayout layout;
  std::uint64_t* d_first;
  hemstitch_status* d_admitted;
  std::size_t* d_capacities;  // where the caller gives none
  std::size_t stage_bytes;
  std::byte* d_stage;

  template <class StageBytes>
  RawTemp(const hemstitch_lz4_blocks& blocks, const StageBytes& stage_bytes_for, void* d_temp)
      : carver(d_temp),
        layout({.d_inputs = blocks.blocks,
                .d_input_bytes_64 = blocks.block_bytes,
                .d_history_bytes = blocks.history_bytes,
                .count = blocks.count,
                .max_input_bytes = static_cast<std::uint32_t>(blocks.max_block_bytes),
                .max_history_bytes = blocks.max_history_bytes,
                .total_input_bytes = blocks.total_block_bytes},
               carver) {
    d_first = carver.take<std::uint64_t>(std::size_t{blocks.count} + 1);
    d_admitted = carver.take<hemstitch_status>(blocks.count);
    d_capacities = carver.take<std::size_t>(blocks.count);
    stage_bytes = stage_bytes_for(layout.blocks());
    d_stage = carver.take<std::byte>(stage_bytes);
  }

  // Lays the blocks out. Throws if the caller's memory is too small.
  DeviceBlocks begin(std::string_view function, BatchTemp temp, cudaStream_t stream) const {
    check_scratch(function, carver.bytes(), temp.d_temp, temp.bytes);
    layout.lay_out(d_first, {}, nullptr, d_admitted, stream);
    return layout.blocks();
  }

  void amend(const BlockResults& results, hemstitch_status* d_statuses, cudaStream_t stream) const {
    const std::uint32_t count = layout.blocks().block_count;
    cuda::launch({.kernel = kAmendBudget, .grid = grid_for(count), .stream = stream}, amend_statuses, count,
                 d_admitted, results, d_statuses);
  }
};

RawTemp compress_temp(const hemstitch_lz4_blocks& blocks, const Lz4Level& level, void* d_temp) {
  return {blocks,
          [&](const DeviceBlocks& batch) { return cuda::compress_lz4_cuda_scratch_bytes(batch, level); },
          d_temp};
}
RawTemp span_temp(const hemstitch_lz4_blocks& blocks, const Lz4Level& level, void* d_temp) {
  return {blocks,
          [&](const DeviceBlocks& batch) { return cuda::compress_lz4_span_cuda_scratch_bytes(batch, level); },
          d_temp};
}
RawTemp pages_temp(const hemstitch_lz4_blocks& pages, const Lz4Level& level, void* d_temp) {
  return {
      pages,
      [&](const DeviceBlocks& batch) { return cuda::compress_lz4_pages_cuda_scratch_bytes(batch, level); },
      d_temp};
}

cuda::DeviceRestore restore_batch(const hemstitch_lz4_compressed& compressed, std::size_t max_output_bytes) {
  return {.d_blocks = reinterpret_cast<const std::byte* const*>(compressed.blocks),
          .d_block_bytes = compressed.block_bytes,
          .count = compressed.count,
          .max_capacity = max_output_bytes,
          .max_block_bytes = compressed.max_block_bytes};
}

struct SizesTemp {
  Carver carver;
  std::size_t* d_capacities;
  std::size_t restore_bytes;
  std::byte* d_restore;

  SizesTemp(const cuda::DeviceRestore& batch, void* d_temp)
      : carver(d_temp), restore_bytes(cuda::restore_lz4_cuda_scratch_bytes(batch)) {
    d_capacities = carver.take<std::size_t>(batch.count);
    d_restore = carver.take<std::byte>(restore_bytes);
  }
};

cuda::DeviceLz4PageRestore page_batch(const void* const* d_kept, const hemstitch_lz4_page_entry* d_entries,
                                      std::uint64_t count, void* const* d_pages,
                                      const std::size_t* d_page_bytes, hemstitch_status* d_statuses) {
  return {.d_kept = reinterpret_cast<const std::byte* const*>(d_kept),
          .d_entries = reinterpret_cast<const Lz4PageEntry*>(d_entries),
          .d_pages = reinterpret_cast<std::byte* const*>(d_pages),
          .d_page_bytes = d_page_bytes,
          .d_statuses = d_statuses,
          .count = count};
}

}  // namespace

std::size_t lz4_compress_temp_bytes(const hemstitch_lz4_blocks& blocks, const Lz4Level& level) {
  cuda::need_device();
  return compress_temp(blocks, level, nullptr).carver.bytes();
}

void lz4_compress_async(const hemstitch_lz4_blocks& blocks, const Lz4Level& level, void* const* d_outputs,
                        const std::size_t* d_capacities, std::size_t* d_output_bytes,
                        hemstitch_status* d_statuses, BatchTemp given, hemstitch_stream stream) {
  cuda::need_device();
  const RawTemp temp = compress_temp(blocks, level, given.d_temp);
  const DeviceBlocks batch = temp.begin("lz4 compress", given, stream);
  if (d_capacities == nullptr) {
    cuda::launch({.kernel = kFillBudget, .grid = grid_for(blocks.count), .stream = stream}, fill_sizes,
                 blocks.count, cuda::max_lz4_block_bytes(blocks.max_block_bytes), temp.d_capacities);
    d_capacities = temp.d_capacities;
  }
  cuda::compress_lz4_cuda(
      batch, level,
      {reinterpret_cast<std::byte* const*>(d_outputs), d_capacities, d_output_bytes, d_statuses},
      temp.d_stage, temp.stage_bytes, stream);
  temp.amend({.d_output_bytes = d_output_bytes}, d_statuses, stream);
}

std::size_t lz4_span_temp_bytes(const hemstitch_lz4_blocks& blocks, const Lz4Level& level) {
  cuda::need_device();
  return span_temp(blocks, level, nullptr).carver.bytes();
}

void lz4_span_async(const hemstitch_lz4_blocks& blocks, const Lz4Level& level, const hemstitch_lz4_span& span,
                    hemstitch_status* d_statuses, BatchTemp given, hemstitch_stream stream) {
  cuda::need_device();
  const RawTemp temp = span_temp(blocks, level, given.d_temp);
  const DeviceBlocks batch = temp.begin("lz4 span", given, stream);
  cuda::compress_lz4_span_cuda(batch, level,
                               {.d_span = static_cast<std::byte*>(span.span),
                                .capacity_bytes = span.capacity,
                                .lead_bytes = span.lead_bytes,
                                .trail_bytes = span.trail_bytes,
                                .d_offsets = span.offsets,
                                .d_sizes = span.sizes,
                                .d_statuses = d_statuses},
                               temp.d_stage, temp.stage_bytes, stream);
  temp.amend({.d_sizes = span.sizes}, d_statuses, stream);
}

std::size_t lz4_restore_temp_bytes(const hemstitch_lz4_compressed& compressed, std::size_t max_output_bytes) {
  cuda::need_device();
  return cuda::restore_lz4_cuda_scratch_bytes(restore_batch(compressed, max_output_bytes));
}

void lz4_restore_async(const hemstitch_lz4_compressed& compressed, void* const* d_outputs,
                       const std::size_t* d_capacities, std::size_t max_output_bytes,
                       const std::uint32_t* d_history_bytes, std::size_t* d_output_bytes,
                       hemstitch_status* d_statuses, BatchTemp given, hemstitch_stream stream) {
  cuda::need_device();
  cuda::DeviceRestore batch = restore_batch(compressed, max_output_bytes);
  batch.d_outputs = reinterpret_cast<std::byte* const*>(d_outputs);
  batch.d_capacities = d_capacities;
  batch.d_history_bytes = d_history_bytes;
  batch.d_output_bytes = d_output_bytes;
  batch.d_statuses = d_statuses;
  cuda::restore_lz4_cuda(batch, given.d_temp, given.bytes, stream);
}

std::size_t lz4_sizes_temp_bytes(const hemstitch_lz4_compressed& compressed, std::size_t max_output_bytes) {
  cuda::need_device();
  return SizesTemp(restore_batch(compressed, max_output_bytes), nullptr).carver.bytes();
}

void lz4_sizes_async(const hemstitch_lz4_compressed& compressed, std::size_t max_output_bytes,
                     std::size_t* d_output_bytes, hemstitch_status* d_statuses, BatchTemp given,
                     hemstitch_stream stream) {
  cuda::need_device();
  cuda::DeviceRestore batch = restore_batch(compressed, max_output_bytes);
  const SizesTemp temp(batch, given.d_temp);
  check_scratch("lz4 sizes", temp.carver.bytes(), given.d_temp, given.bytes);
  cuda::launch({.kernel = kFillBudget, .grid = grid_for(batch.count), .stream = stream}, fill_sizes,
               batch.count, max_output_bytes, temp.d_capacities);
  batch.d_capacities = temp.d_capacities;
  batch.d_output_bytes = d_output_bytes;
  batch.d_statuses = d_statuses;
  cuda::restore_lz4_cuda(batch, temp.d_restore, temp.restore_bytes, stream);
}

void lz4_checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                         std::uint32_t* d_checksums, hemstitch_stream stream) {
  cuda::need_device();
  cuda::checksum_lz4_cuda(reinterpret_cast<const std::byte* const*>(d_spans), d_span_bytes, count,
                          d_checksums, stream);
}

std::size_t lz4_pages_compress_temp_bytes(const hemstitch_lz4_blocks& pages, const Lz4Level& level) {
  cuda::need_device();
  return pages_temp(pages, level, nullptr).carver.bytes();
}

void lz4_pages_compress_async(const hemstitch_lz4_blocks& pages, const Lz4Level& level,
                              void* const* d_outputs, hemstitch_lz4_page_entry* d_entries,
                              hemstitch_status* d_statuses, BatchTemp given, hemstitch_stream stream) {
  cuda::need_device();
  const RawTemp temp = pages_temp(pages, level, given.d_temp);
  const DeviceBlocks batch = temp.begin("lz4 pages compress", given, stream);
  auto* const entries = reinterpret_cast<Lz4PageEntry*>(d_entries);
  cuda::compress_lz4_pages_cuda(batch, level, {reinterpret_cast<std::byte* const*>(d_outputs), entries},
                                temp.d_stage, temp.stage_bytes, stream);
  if (pages.count != 0)
    cuda::check(cudaMemcpyAsync(d_statuses, temp.d_admitted, pages.count * sizeof(hemstitch_status),
                                cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpyAsync");
  temp.amend({.d_entries = entries}, d_statuses, stream);
}

std::size_t lz4_pages_restore_temp_bytes(std::uint64_t count) {
  cuda::need_device();
  return cuda::restore_lz4_pages_cuda_scratch_bytes(
      page_batch(nullptr, nullptr, count, nullptr, nullptr, nullptr));
}

void lz4_pages_restore_async(const void* const* d_kept, const hemstitch_lz4_page_entry* d_entries,
                             std::uint64_t count, void* const* d_pages, const std::size_t* d_page_bytes,
                             hemstitch_status* d_statuses, BatchTemp given, hemstitch_stream stream) {
  cuda::need_device();
  cuda::restore_lz4_pages_cuda(page_batch(d_kept, d_entries, count, d_pages, d_page_bytes, d_statuses),
                               given.d_temp, given.bytes, stream);
}

}  // namespace hemstitch
