// Find, parse, encode: the stages one after the other, for every level, block size and history. Level 1 has a way of its own
// for small blocks with room of their own (lz4_one_pass.cuh).
//
// Between the stages stand one record a position and the lists of sequences. The encoder is lz4_encode.cuh, with mapping,
// shared memory, synchronisation and cost; the kernels here only say where blocks go.
#include <algorithm>

#include "compact/scan/scan_cuda.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/scratch.hpp"
#include "format/lz4/lz4_compress_cuda.hpp"
#include "format/lz4/lz4_cost.hpp"
#include "format/lz4/lz4_encode.cuh"
#include "format/lz4/lz4_one_pass_cuda.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/hash_step/hash_step_cuda.hpp"
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/optimal/optimal_cuda.hpp"

namespace hemstitch::cuda {
namespace {

__device__ const Sequence* list_of(const DeviceSequences& sequences, const DeviceBlock& block) {
  return sequences.d_sequences + first_sequence(block.position, blockIdx.x, lz4_block_plan());
}

// A workgroup a block, into room of its own. (Of 40 registers, which the compiler would take for a sixth workgroup on a
// multiprocessor, one would be spilled.)
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

// A workgroup a block: how much of the span it takes. A block of which more would be written than it has is stored.
__global__ void __launch_bounds__(kEncodeThreads)
    count_sizes(DeviceBlocks blocks, DeviceSequences sequences, DeviceLz4Span span, std::uint32_t* d_rooms) {
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
    span.d_sizes[blockIdx.x] = stored ? size | kLz4StoredBit : size;
    d_rooms[blockIdx.x] = span.lead_bytes + size + span.trail_bytes;
  }
}

// A workgroup a block, to its place in the span.
__global__ void __launch_bounds__(kEncodeThreads)
    encode_to_span(DeviceBlocks blocks, DeviceSequences sequences, DeviceLz4Span span) {
  __shared__ EncodeShared sh;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  const bool fits = span.d_offsets[blockIdx.x + 1] <= span.capacity_bytes;
  if (threadIdx.x == 0) span.d_statuses[blockIdx.x] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
  if (!fits) return;
  std::byte* const target = span.d_span + span.d_offsets[blockIdx.x] + span.lead_bytes;
  if ((span.d_sizes[blockIdx.x] & kLz4StoredBit) != 0)
    copy_bytes(target, block.d_block, block.block_bytes, block.d_block, block.d_block + block.block_bytes,
               threadIdx.x, kEncodeThreads);
  else
    encode_block<true>(sh, block, list_of(sequences, block), sequences.d_counts[blockIdx.x], target,
                       span.d_sizes[blockIdx.x]);
}

constexpr KernelLimits kEncodeLimits{
    .threads = kEncodeThreads, .registers = 64, .shared_bytes = sizeof(EncodeShared)};
constexpr KernelBudget kEncodeBudget("lz4.encode_to_outputs", "encode_to_outputs", kEncodeLimits);
constexpr KernelBudget kCountBudget("lz4.count_sizes", "count_sizes", kEncodeLimits);
constexpr KernelBudget kSpanBudget("lz4.encode_to_span", "encode_to_span", kEncodeLimits);
const KernelRegistration kEncodeRegistration(kEncodeBudget, encode_to_outputs);
const KernelRegistration kCountRegistration(kCountBudget, count_sizes);
const KernelRegistration kSpanRegistration(kSpanBudget, encode_to_span);

std::size_t finder_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  if (const auto* step = std::get_if<HashStepParameters>(&level.finder))
    return find_hash_step_cuda_scratch_bytes(blocks, *step);
  return find_hash_chain_cuda_scratch_bytes(blocks, std::get<HashChainParameters>(level.finder));
}

std::size_t parse_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  return level.parse == Lz4Parse::kLazy ? 0 : parse_optimal_cuda_scratch_bytes(blocks, Lz4CostModel{});
}

// What stands between the stages. The finder's scratch is no longer needed when the parse begins.
struct Staged {
  Carver carver;
  MatchRecord* d_records;
  DeviceSequences sequences;
  std::size_t stage_bytes;
  std::byte* d_stage;

  Staged(const DeviceBlocks& blocks, const Lz4Level& level, void* d_scratch) : carver(d_scratch) {
    d_records = carver.take<MatchRecord>(blocks.total_block_bytes);
    sequences.d_sequences = carver.take<Sequence>(device_sequence_capacity(blocks, lz4_block_plan()));
    sequences.d_counts = carver.take<std::uint32_t>(blocks.block_count);
    sequences.d_total = carver.take<std::uint64_t>(1);
    stage_bytes = std::max(finder_scratch_bytes(blocks, level), parse_scratch_bytes(blocks, level));
    d_stage = carver.take<std::byte>(stage_bytes);
  }

  void find_and_parse(const DeviceBlocks& blocks, const Lz4Level& level, cudaStream_t stream) const {
    if (const auto* step = std::get_if<HashStepParameters>(&level.finder))
      find_hash_step_cuda(blocks, *step, d_records, d_stage, stage_bytes, stream);
    else
      find_hash_chain_cuda(blocks, std::get<HashChainParameters>(level.finder), d_records, d_stage,
                           stage_bytes, stream);
    if (level.parse == Lz4Parse::kLazy)
      parse_lazy_cuda(blocks, d_records, lz4_block_plan(), 0, sequences, stream);
    else
      parse_optimal_cuda(blocks, d_records, lz4_block_plan(), Lz4CostModel{}, sequences, d_stage, stage_bytes,
                         stream);
  }
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

}  // namespace

std::size_t compress_lz4_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  return one_pass_takes(blocks, level) ? 0 : Staged(blocks, level, nullptr).carver.bytes();
}

void compress_lz4_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                       void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (one_pass_takes(blocks, level)) {
    compress_one_pass_cuda(blocks, level, output, stream);
    return;
  }
  const Staged staged(blocks, level, d_scratch);
  check_scratch("compress_lz4", staged.carver.bytes(), d_scratch, scratch_bytes);
  staged.find_and_parse(blocks, level, stream);
  launch({.kernel = kEncodeBudget, .grid = blocks.block_count, .stream = stream, .batch = &blocks},
         encode_to_outputs, blocks, staged.sequences, output);
}

std::size_t compress_lz4_span_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  return StagedSpan(blocks, level, nullptr).staged.carver.bytes();
}

void compress_lz4_span_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Span& span,
                            void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const StagedSpan scratch(blocks, level, d_scratch);
  check_scratch("compress_lz4_span", scratch.staged.carver.bytes(), d_scratch, scratch_bytes);
  scratch.staged.find_and_parse(blocks, level, stream);
  const Launch counting{
      .kernel = kCountBudget, .grid = blocks.block_count, .stream = stream, .batch = &blocks};
  launch(counting, count_sizes, blocks, scratch.staged.sequences, span, scratch.d_rooms);
  scan_sizes_cuda(scratch.d_rooms, blocks.block_count, span.d_offsets, scratch.d_scan, scratch.scan_bytes,
                  stream);
  launch({.kernel = kSpanBudget, .grid = blocks.block_count, .stream = stream, .batch = &blocks},
         encode_to_span, blocks, scratch.staged.sequences, span);
}

}  // namespace hemstitch::cuda
