// Find, parse, encode: the stages one after the other, for every level, block size and history. Level 1 has ways of its own
// for blocks without history (lz4_one_pass.cu, lz4_one_pass_tiles.cu).
//
// Between the stages stand one record a position and the lists of sequences. The encoder is lz4_encode.cuh, with mapping,
// shared memory, synchronisation and cost; the kernels here only choose where blocks go.
#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/compress/lz4_encode.cuh"
#include "format/lz4/compress/lz4_one_pass_cuda.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_work.hpp"
#include "parse/parses_cuda.hpp"

namespace hemstitch::cuda {
namespace {

__device__ const Sequence* list_of(const DeviceSequences& sequences, const DeviceBlock& block) {
  return sequences.d_sequences + first_sequence(block.position, blockIdx.x, lz4_block_plan());
}

// A thread block for each block, into the block's own room. (For a sixth thread block on a multiprocessor the compiler would use 40
// registers and spill one.)
__global__ void __launch_bounds__(kEncodeThreads, 5)
    encode_to_outputs(DeviceBlocks blocks, DeviceSequences sequences, DeviceLz4Output output) {
  __shared__ EncodeShared sh;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  const std::uint64_t bytes =
      encode_block<true>(sh, block, list_of(sequences, block), sequences.d_counts[blockIdx.x],
                         output.d_outputs[blockIdx.x], output.d_capacities[blockIdx.x]);
  if (threadIdx.x == 0) {
    output.d_output_bytes[blockIdx.x] = bytes == kDoesNotFit ? 0 : bytes;
    output.d_statuses[blockIdx.x] = bytes == kDoesNotFit ? HEMSTITCH_OUTPUT_TOO_SMALL : HEMSTITCH_OK;
  }
}

// A thread block for each block: how much of the span it takes. A block that would grow is stored.
__global__ void __launch_bounds__(kEncodeThreads)
    count_sizes(DeviceBlocks blocks, DeviceSequences sequences, DeviceSpan span, std::uint32_t* d_rooms) {
  __shared__ EncodeShared sh;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  const std::uint64_t bytes =
      block.block_bytes == 0
          ? kDoesNotFit
          : encode_block<false>(sh, block, list_of(sequences, block), sequences.d_counts[blockIdx.x], nullptr,
                                block.block_bytes - 1);
  if (threadIdx.x == 0) {
    const bool stored = bytes == kDoesNotFit;
    const std::uint32_t size = stored ? block.block_bytes : static_cast<std::uint32_t>(bytes);
    span.d_sizes[blockIdx.x] = stored ? size | kStoredBit : size;
    d_rooms[blockIdx.x] = span.lead_bytes + size + span.trail_bytes;
  }
}

// A thread block for each block, to its place in the span.
__global__ void __launch_bounds__(kEncodeThreads)
    encode_to_span(DeviceBlocks blocks, DeviceSequences sequences, DeviceSpan span) {
  __shared__ EncodeShared sh;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  const bool fits = span.d_offsets[blockIdx.x + 1] <= span.capacity_bytes;
  if (threadIdx.x == 0) span.d_statuses[blockIdx.x] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
  if (!fits) return;
  std::byte* const target = span.d_span + span.d_offsets[blockIdx.x] + span.lead_bytes;
  if ((span.d_sizes[blockIdx.x] & kStoredBit) != 0)
    copy_bytes(target, block.d_block, block.block_bytes, block.d_block, block.d_block + block.block_bytes,
               threadIdx.x, kEncodeThreads);
  else
    encode_block<true>(sh, block, list_of(sequences, block), sequences.d_counts[blockIdx.x], target,
                       span.d_sizes[blockIdx.x]);
}

// The three kernels of a span of level 1's pages, which are written before their sizes are known: a thread for each page.

// Gives each block as much room as its content takes: one that does not shrink is not needed.
__global__ void __launch_bounds__(kEncodeThreads)
    plan_rooms(DeviceBlocks blocks, std::byte* d_rooms, std::byte** d_outputs, std::size_t* d_capacities) {
  const std::uint32_t index = blockIdx.x * kEncodeThreads + threadIdx.x;
  if (index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[index];
  d_outputs[index] = d_rooms + block.position;
  d_capacities[index] = block.block_bytes == 0 ? 0 : block.block_bytes - 1;
}

__global__ void __launch_bounds__(kEncodeThreads)
    choose_kept(DeviceBlocks blocks, DeviceLz4Output written, DeviceSpan span, const std::byte** d_sources,
                std::uint32_t* d_rooms) {
  const std::uint32_t index = blockIdx.x * kEncodeThreads + threadIdx.x;
  if (index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[index];
  const bool stored = written.d_statuses[index] != HEMSTITCH_OK;
  const std::uint32_t size =
      stored ? block.block_bytes : static_cast<std::uint32_t>(written.d_output_bytes[index]);
  d_sources[index] = stored ? block.d_block : written.d_outputs[index];
  span.d_sizes[index] = stored ? size | kStoredBit : size;
  d_rooms[index] = span.lead_bytes + size + span.trail_bytes;
}

__global__ void __launch_bounds__(kEncodeThreads)
    place_kept(std::uint32_t count, DeviceSpan span, std::uint32_t* d_copied_bytes,
               std::uint64_t* d_targets) {
  const std::uint32_t index = blockIdx.x * kEncodeThreads + threadIdx.x;
  if (index >= count) return;
  const bool fits = span.d_offsets[index + 1] <= span.capacity_bytes;
  span.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
  d_copied_bytes[index] = fits ? span.d_sizes[index] & ~kStoredBit : 0;
  d_targets[index] = span.d_offsets[index] + span.lead_bytes;
}

constexpr KernelLimits kPlanLimits{.threads = kEncodeThreads, .registers = 40};
constexpr KernelBudget kPlanBudget("lz4.plan_rooms", "plan_rooms", kPlanLimits);
constexpr KernelBudget kChooseBudget("lz4.choose_kept", "choose_kept", kPlanLimits);
constexpr KernelBudget kPlaceBudget("lz4.place_kept", "place_kept", kPlanLimits);
const KernelRegistration kPlanRegistration(kPlanBudget, plan_rooms);
const KernelRegistration kChooseRegistration(kChooseBudget, choose_kept);
const KernelRegistration kPlaceRegistration(kPlaceBudget, place_kept);

constexpr KernelLimits kEncodeLimits{
    .threads = kEncodeThreads, .registers = 64, .shared_bytes = sizeof(EncodeShared)};
constexpr KernelBudget kEncodeBudget("lz4.encode_to_outputs", "encode_to_outputs", kEncodeLimits);
constexpr KernelBudget kCountBudget("lz4.count_sizes", "count_sizes", kEncodeLimits);
constexpr KernelBudget kSpanBudget("lz4.encode_to_span", "encode_to_span", kEncodeLimits);
const KernelRegistration kEncodeRegistration(kEncodeBudget, encode_to_outputs);
const KernelRegistration kCountRegistration(kCountBudget, count_sizes);
const KernelRegistration kSpanRegistration(kSpanBudget, encode_to_span);

// What the stages pass on.
struct Staged {
  Carver carver;
  FindAndParse<Lz4CostModel> find_and_parse;

  Staged(const DeviceBlocks& blocks, const Lz4Level& level, void* d_scratch)
      : carver(d_scratch), find_and_parse(level.finder, level.parse, blocks, lz4_block_plan(), carver) {}

  const DeviceSequences& sequences() const { return find_and_parse.sequences(); }
};

struct StagedSpan {
  Staged staged;
  std::uint32_t* d_rooms;
  std::size_t scan_bytes;
  std::byte* d_scan;

  StagedSpan(const DeviceBlocks& blocks, const Lz4Level& level, void* d_scratch)
      : staged(blocks, level, d_scratch), scan_bytes(scan_sizes_cuda_scratch_bytes(blocks.block_count)) {
    d_rooms = staged.carver.take<std::uint32_t>(blocks.block_count);
    d_scan = staged.carver.take<std::byte>(scan_bytes);
  }
};

// Level 1's pages are written to rooms of their own and then copied together.
struct PagesSpan {
  Carver carver;
  std::byte* d_room;
  std::byte** d_outputs;
  std::size_t *d_capacities, *d_output_bytes;
  hemstitch_status* d_statuses;
  const std::byte** d_sources;
  std::uint32_t *d_rooms, *d_copied_bytes;
  std::uint64_t* d_targets;
  std::size_t scan_bytes, gather_bytes;
  std::byte *d_scan, *d_gather;

  PagesSpan(const DeviceBlocks& blocks, void* d_scratch)
      : carver(d_scratch),
        scan_bytes(scan_sizes_cuda_scratch_bytes(blocks.block_count)),
        gather_bytes(gather_pieces_cuda_scratch_bytes(blocks.block_count)) {
    d_room = carver.take<std::byte>(blocks.total_block_bytes);
    d_outputs = carver.take<std::byte*>(blocks.block_count);
    d_capacities = carver.take<std::size_t>(blocks.block_count);
    d_output_bytes = carver.take<std::size_t>(blocks.block_count);
    d_statuses = carver.take<hemstitch_status>(blocks.block_count);
    d_sources = carver.take<const std::byte*>(blocks.block_count);
    d_rooms = carver.take<std::uint32_t>(blocks.block_count);
    d_copied_bytes = carver.take<std::uint32_t>(blocks.block_count);
    d_targets = carver.take<std::uint64_t>(blocks.block_count);
    d_scan = carver.take<std::byte>(scan_bytes);
    d_gather = carver.take<std::byte>(gather_bytes);
  }

  void compress(const DeviceBlocks& blocks, const DeviceSpan& span, cudaStream_t stream) const {
    const unsigned grid = (blocks.block_count + kEncodeThreads - 1) / kEncodeThreads;
    launch({.kernel = kPlanBudget, .grid = grid, .stream = stream, .work = work_of(blocks)}, plan_rooms,
           blocks, d_room, d_outputs, d_capacities);
    const DeviceLz4Output output{d_outputs, d_capacities, d_output_bytes, d_statuses};
    compress_pages_one_pass_cuda(blocks, output, stream);
    launch({.kernel = kChooseBudget, .grid = grid, .stream = stream, .work = work_of(blocks)}, choose_kept,
           blocks, output, span, d_sources, d_rooms);
    scan_sizes_cuda(d_rooms, blocks.block_count, span.d_offsets, d_scan, scan_bytes, stream);
    launch({.kernel = kPlaceBudget, .grid = grid, .stream = stream, .work = work_of(blocks)}, place_kept,
           blocks.block_count, span, d_copied_bytes, d_targets);
    gather_pieces_cuda(d_sources, d_copied_bytes, d_targets, blocks.block_count, span.d_span, d_gather,
                       gather_bytes, stream);
  }
};

}  // namespace

std::size_t compress_lz4_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  if (one_pass_takes_as_pages(blocks, level)) return 0;
  if (tiles_take(blocks, level)) return compress_tiles_cuda_scratch_bytes(blocks, level);
  return Staged(blocks, level, nullptr).carver.bytes();
}

void compress_lz4_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                       void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (one_pass_takes_as_pages(blocks, level)) return compress_pages_one_pass_cuda(blocks, output, stream);
  if (tiles_take(blocks, level))
    return compress_tiles_cuda(blocks, level, output, d_scratch, scratch_bytes, stream);
  const Staged staged(blocks, level, d_scratch);
  check_scratch("compress_lz4", staged.carver.bytes(), d_scratch, scratch_bytes);
  staged.find_and_parse.run(stream);
  launch({.kernel = kEncodeBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)},
         encode_to_outputs, blocks, staged.sequences(), output);
}

std::size_t compress_lz4_span_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  if (one_pass_takes_as_pages(blocks, level)) return PagesSpan(blocks, nullptr).carver.bytes();
  if (tiles_take(blocks, level)) return compress_tiles_cuda_scratch_bytes(blocks, level);
  return StagedSpan(blocks, level, nullptr).staged.carver.bytes();
}

void compress_lz4_span_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceSpan& span,
                            void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (one_pass_takes_as_pages(blocks, level)) {
    const PagesSpan scratch(blocks, d_scratch);
    check_scratch("compress_lz4_span", scratch.carver.bytes(), d_scratch, scratch_bytes);
    return scratch.compress(blocks, span, stream);
  }
  if (tiles_take(blocks, level))
    return compress_tiles_span_cuda(blocks, level, span, d_scratch, scratch_bytes, stream);
  const StagedSpan scratch(blocks, level, d_scratch);
  check_scratch("compress_lz4_span", scratch.staged.carver.bytes(), d_scratch, scratch_bytes);
  scratch.staged.find_and_parse.run(stream);
  const Launch counting{
      .kernel = kCountBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)};
  launch(counting, count_sizes, blocks, scratch.staged.sequences(), span, scratch.d_rooms);
  scan_sizes_cuda(scratch.d_rooms, blocks.block_count, span.d_offsets, scratch.d_scan, scratch.scan_bytes,
                  stream);
  launch({.kernel = kSpanBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)},
         encode_to_span, blocks, scratch.staged.sequences(), span);
}

}  // namespace hemstitch::cuda
