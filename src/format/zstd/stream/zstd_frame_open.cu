// Reads the headers of a piece's blocks, and finds which block described the tables of which, as the first stages of restoring one frame
// (zstd_frame_cuda.hpp).
#include "format/zstd/restore/zstd_block_work.cuh"
#include "format/zstd/stream/zstd_block_scan.cuh"
#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 128, kCarryThreads = 256;

// Mapping: a thread a block. No shared memory, no synchronisation. Work: linear in blocks. CPU twin: ZstdWalk.
__global__ void __launch_bounds__(kThreads) open_zstd_blocks(const ZstdFrameWork work) {
  const std::uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  const ZstdFramePiece& piece = work.piece;
  if (number >= piece.block_count) return;
  const std::uint32_t index = number + 1;
  trace_mark(kTraceRestoreZstdBlock, index);
  const ZstdStages& stages = work.stages;
  ZstdBlockRecord& record = stages.d_blocks[index];
  const std::uint32_t at = piece.d_block_at[number], most_bytes = work.most_block_bytes();
  const bool is_end = index == piece.block_count;
  ZstdDeviceBlock block;
  bool is_last = false;
  const bool is_sound =
      at < piece.data_bytes &&
      read_zstd_block(work.data() + at, piece.data_bytes - at, most_bytes, block, is_last) &&
      block.sequences <= most_bytes / kZstdLeastMatch && (is_end || !is_last) &&
      (is_end || piece.d_block_at[index] == at + kZstdBlockHeaderBytes + block.data_bytes);
  if (!is_sound) {
    // A block without work. Nothing is restored from here on.
    block.type = ZstdBlockType::kRaw;
    block.content_bytes = block.literals = block.sequences = 0;
    block.literals_type = ZstdDeviceLiterals::kRaw;
  }
  record.block = block;
  record.chunk = record.tables = index;
  record.used_literals = 0;
#pragma unroll
  for (unsigned i = 0; i < 3; ++i) record.repeats[i] = kZstdNamedOffset | i << kZstdSlotAt;
  stages.d_chunks[index].is_left = is_sound ? 0 : kZstdLeftInDoubt;
  work.d_data_of[index] = piece.d_data;
  work.d_bytes_of[index] = piece.data_bytes;
  count_zstd_work(stages, block);
}

// Of blocks in a row: the last one that describes each kind of table, or 0; what they take of the pool.
struct Described {
  std::uint32_t huffman = 0, literals = 0, offsets = 0, matches = 0;
  std::uint64_t units = 0;

  __device__ Described below(unsigned step) const {
    return {__shfl_up_sync(kAllLanes, huffman, step), __shfl_up_sync(kAllLanes, literals, step),
            __shfl_up_sync(kAllLanes, offsets, step), __shfl_up_sync(kAllLanes, matches, step),
            __shfl_up_sync(kAllLanes, units, step)};
  }
  __device__ Described then(const Described& later) const {
    return {max(huffman, later.huffman), max(literals, later.literals), max(offsets, later.offsets),
            max(matches, later.matches), units + later.units};
  }
};

__device__ Described described_by(const ZstdDeviceBlock& block, std::uint32_t index) {
  const bool has_huffman = block.is_compressed() && block.literals_type == ZstdDeviceLiterals::kCompressed;
  return {has_huffman ? index : 0, block.defines(0) ? index : 0, block.defines(1) ? index : 0,
          block.defines(2) ? index : 0,
          std::uint64_t{zstd_literal_units(block)} + zstd_state_units(block) + zstd_sequence_units(block)};
}

// The record for all blocks before the piece, with what they left. All threads.
__device__ void open_carried(const ZstdFrameWork& work) {
  const ZstdFrameCarry& carry = *work.d_carry;
  const ZstdStages& stages = work.stages;
  const bool is_begun = carry.has_tables != 0;
  if (is_begun) {
    for (unsigned i = threadIdx.x; i < kZstdCodes; i += kZstdScanThreads) stages.d_codes[i] = carry.codes[i];
    for (unsigned i = threadIdx.x; i < kZstdCells; i += kZstdScanThreads) stages.d_cells[i] = carry.cells[i];
  }
  if (threadIdx.x != 0) return;
  stages.d_taken[ZstdStages::kBlocks] = std::uint64_t{work.piece.block_count} + 1;
  stages.d_chunks[0].is_left = 0;
  ZstdBlockRecord& record = stages.d_blocks[0];
  record.block.type = ZstdBlockType::kRaw;
  record.block.content_bytes = record.block.literals = record.block.sequences = 0;
  record.block.literals_type = ZstdDeviceLiterals::kRaw;
  record.chunk = record.tables = 0;
  record.huffman_bits = carry.huffman_bits;
  record.huffman_of = is_begun && carry.huffman_bits != kZstdNone ? 0 : kZstdNone;
#pragma unroll
  for (unsigned kind = 0; kind < kZstdKinds; ++kind) {
    record.logs[kind] = carry.logs[kind];
    record.table_of[kind] = is_begun && carry.logs[kind] != kZstdNone ? 0 : kZstdNone;
  }
}

// Mapping: one thread block for all blocks, 256 at a time. Shared memory: 192 bytes. Synchronisation: three barriers for 256 blocks. Work: linear in
// blocks. CPU twin: ZstdWalk.
__global__ void __launch_bounds__(kZstdScanThreads) describe_zstd_blocks(const ZstdFrameWork work) {
  __shared__ std::uint64_t sh_memory[kZstdScanWarps * sizeof(Described) / sizeof(std::uint64_t)];
  auto* const sh_warps = reinterpret_cast<Described*>(sh_memory);
  open_carried(work);
  __syncthreads();
  const ZstdStages& stages = work.stages;
  const ZstdBlockRecord& before_all = stages.d_blocks[0];
  Described carry;
  for (std::uint32_t first = 1; first <= work.piece.block_count; first += kZstdScanThreads) {
    const std::uint32_t index = first + threadIdx.x;
    const bool has_one = index <= work.piece.block_count;
    Described own;
    if (has_one) own = described_by(stages.d_blocks[index].block, index);
    const Described before = zstd_scan_of_blocks(own, sh_warps, carry);
    if (!has_one) continue;
    ZstdBlockRecord& record = stages.d_blocks[index];
    const ZstdDeviceBlock& block = record.block;
    const Described here = before.then(own);
    const std::uint32_t huffman_of = here.huffman != 0 ? here.huffman : before_all.huffman_of,
                        literals_of = here.literals != 0 ? here.literals : before_all.table_of[0],
                        offsets_of = here.offsets != 0 ? here.offsets : before_all.table_of[1],
                        matches_of = here.matches != 0 ? here.matches : before_all.table_of[2];
    record.huffman_of = huffman_of;
    record.table_of[0] = literals_of;
    record.table_of[1] = offsets_of;
    record.table_of[2] = matches_of;
    if ((block.has_coded_literals() && huffman_of == kZstdNone) ||
        (block.sequences != 0 &&
         (literals_of == kZstdNone || offsets_of == kZstdNone || matches_of == kZstdNone)))
      stages.d_chunks[index].is_left = kZstdLeftInDoubt;
    if (here.units > stages.unit_room) {
      // Damage that is found here all the same comes behind a block for which there is room, or is this block's.
      if (stages.d_chunks[index].is_left == 0) stages.d_chunks[index].is_left = kZstdLeftForRoom;
      continue;
    }
    record.literals_unit = static_cast<std::uint32_t>(before.units);
    record.states_unit = record.literals_unit + zstd_literal_units(block);
    record.sequences_unit = record.states_unit + zstd_state_units(block);
  }
}

// A block whose tables another one should have described, which is left, is left as well.
//
// Mapping: a thread a block. No shared memory, no synchronisation. Work: linear in blocks.
__global__ void __launch_bounds__(kThreads) check_zstd_tables(const ZstdFrameWork work) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x + 1;
  if (index > work.piece.block_count) return;
  const ZstdStages& stages = work.stages;
  const ZstdBlockRecord& record = stages.d_blocks[index];
  if (stages.is_left(record)) return;
  const auto is_left = [&](std::uint32_t of) { return stages.is_left(stages.d_blocks[of]); };
  if ((record.block.has_coded_literals() && is_left(record.huffman_of)) ||
      (record.block.sequences != 0 &&
       (is_left(record.table_of[0]) || is_left(record.table_of[1]) || is_left(record.table_of[2]))))
    stages.leave(record);
}

// Carries on the tables behind a block. Tables of a block that is left are none: it ends the piece, or one behind it has no use for them.
//
// Mapping: one thread block. No shared memory, no synchronisation. Work: constant.
__global__ void __launch_bounds__(kCarryThreads)
    carry_zstd_tables(const ZstdFrameWork work, const ZstdFrameResult* const d_result) {
  const ZstdStages& stages = work.stages;
  ZstdFrameCarry& carry = *work.d_carry;
  if (d_result != nullptr && d_result->blocks == work.piece.block_count) return;
  const ZstdBlockRecord& record =
      stages.d_blocks[d_result != nullptr ? d_result->blocks : work.piece.block_count];
  const auto has_table = [&](std::uint32_t of) {
    return of != kZstdNone && !stages.is_left(stages.d_blocks[of]);
  };
  const bool has_huffman = has_table(record.huffman_of);
  if (has_huffman) {
    const ZstdDeviceCode* const d_codes =
        stages.d_codes + std::size_t{stages.d_blocks[record.huffman_of].tables} * kZstdCodes;
    const unsigned codes = 1u << stages.d_blocks[record.huffman_of].huffman_bits;
    for (unsigned i = threadIdx.x; i < codes; i += kCarryThreads) carry.codes[i] = d_codes[i];
  }
  if (threadIdx.x == 0) {
    carry.has_tables = 1;
    carry.huffman_bits = has_huffman ? stages.d_blocks[record.huffman_of].huffman_bits : kZstdNone;
  }
#pragma unroll
  for (unsigned kind = 0; kind < kZstdKinds; ++kind) {
    const bool has_cells = has_table(record.table_of[kind]);
    if (threadIdx.x == 0)
      carry.logs[kind] = has_cells ? stages.d_blocks[record.table_of[kind]].logs[kind] : kZstdNone;
    if (!has_cells) continue;
    const ZstdBlockRecord& defined = stages.d_blocks[record.table_of[kind]];
    const ZstdDeviceCell* const d_cells =
        stages.d_cells + std::size_t{defined.tables} * kZstdCells + zstd_cells_at(kind);
    for (unsigned i = threadIdx.x; i < 1u << defined.logs[kind]; i += kCarryThreads)
      carry.cells[zstd_cells_at(kind) + i] = d_cells[i];
  }
}

constexpr KernelBudget kOpenBudget("zstd_frame.open", "open_zstd_blocks",
                                   {.threads = kThreads, .registers = 64});
const KernelRegistration kOpenRegistration(kOpenBudget, open_zstd_blocks);
constexpr KernelBudget kDescribeBudget("zstd_frame.describe", "describe_zstd_blocks",
                                       {.threads = kZstdScanThreads,
                                        .registers = 64,
                                        .shared_bytes = kZstdScanWarps * sizeof(Described)});
const KernelRegistration kDescribeRegistration(kDescribeBudget, describe_zstd_blocks);
constexpr KernelBudget kCheckBudget("zstd_frame.check", "check_zstd_tables",
                                    {.threads = kThreads, .registers = 40});
const KernelRegistration kCheckRegistration(kCheckBudget, check_zstd_tables);
constexpr KernelBudget kCarryBudget("zstd_frame.carry", "carry_zstd_tables",
                                    {.threads = kCarryThreads, .registers = 64});
const KernelRegistration kCarryRegistration(kCarryBudget, carry_zstd_tables);

unsigned grid_of(const ZstdFrameWork& work) { return (work.piece.block_count + kThreads - 1) / kThreads; }

}  // namespace

void launch_zstd_frame_open(const ZstdFrameWork& work, cudaStream_t stream) {
  launch({.kernel = kOpenBudget, .grid = grid_of(work), .stream = stream}, open_zstd_blocks, work);
  launch({.kernel = kDescribeBudget, .grid = 1, .stream = stream}, describe_zstd_blocks, work);
}

void launch_zstd_frame_check(const ZstdFrameWork& work, cudaStream_t stream) {
  launch({.kernel = kCheckBudget, .grid = grid_of(work), .stream = stream}, check_zstd_tables, work);
}

void launch_zstd_frame_carry(const ZstdFrameWork& work, const ZstdFrameResult* d_result,
                             cudaStream_t stream) {
  launch({.kernel = kCarryBudget, .grid = 1, .stream = stream}, carry_zstd_tables, work, d_result);
}

}  // namespace hemstitch::cuda
