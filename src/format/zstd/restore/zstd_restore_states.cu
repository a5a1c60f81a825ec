// Follows the states of blocks' sequences, as a stage of restoring (zstd_restore_cuda.hpp).
//
// Each state depends on bits whose place depends on all states before it: that is all that a lane does here. What the states mean is
// found by whole warps afterwards (zstd_restore_values.cu).
#include "format/zstd/restore/zstd_bit_ring.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kBlocks = 8;  // of a warp

// A cell as it is needed here, in half as much shared memory as ZstdDeviceCell: extra bits of the code (6 bits, so that three of them can be
// added), and above that the base of the next state, doubled, with a bit above its end: at as many bits as that state has. A base ends in
// so many zeros.
using ShortCell = std::uint16_t;
constexpr unsigned kStateAt = 6;

__device__ ShortCell short_cell(ZstdDeviceCell cell) {
  const std::uint32_t state =
      cell >> kZstdCellBaseAt << 1 | 1u << (cell >> kZstdCellBitsAt & kZstdCellBitsMask);
  return static_cast<ShortCell>((cell & kZstdCellExtraMask) | state << kStateAt);
}

// A state's next one, from the bits at the top of `bits`, which are taken off. Multiplies `taken` by 2 to the power of their number.
__device__ __forceinline__ std::uint32_t next_state(std::uint32_t cell, std::uint32_t& bits,
                                                    std::uint32_t& taken) {
  const std::uint32_t state = cell >> kStateAt, mark = state & (0 - state);
  const std::uint64_t product = std::uint64_t{bits} * mark;
  bits = static_cast<std::uint32_t>(product);
  taken *= mark;
  return (state - mark) / 2 + static_cast<std::uint32_t>(product >> 32);
}

// Mapping: a lane a block, eight blocks a warp, a warp a thread block. Shared memory: 22 KB, the tables and rings. Synchronisation inside
// of warps alone. Work: linear in sequences, bound by the latency of the chain of a look-up and a shift. CPU twin: ZstdSequenceReader.
__global__ void __launch_bounds__(32) follow_zstd_states(const DeviceRestore batch, const ZstdStages stages) {
  __shared__ ShortCell sh_cells[kBlocks][kZstdCells];
  __shared__ ZstdRing sh_rings[kBlocks];
  const unsigned lane = threadIdx.x;
  const std::uint32_t count = stages.listed(1), first = blockIdx.x * kBlocks;
  if (first >= count) return;
  const std::uint32_t* const d_list = stages.list(1);
  for (unsigned i = 0; i < kBlocks && first + i < count; ++i) {
    const ZstdBlockRecord& record = stages.d_blocks[d_list[first + i]];
    if (stages.is_left(record)) continue;
    for (unsigned kind = 0; kind < kZstdKinds; ++kind) {
      const ZstdBlockRecord& defined = stages.d_blocks[record.table_of[kind]];
      const std::uint32_t cells = 1u << defined.logs[kind];
      const ZstdDeviceCell* const d_cells =
          stages.d_cells + std::size_t{defined.tables} * kZstdCells + zstd_cells_at(kind);
      for (std::uint32_t k = lane; k < cells; k += 32)
        sh_cells[i][zstd_cells_at(kind) + k] = short_cell(d_cells[k]);
    }
  }
  __syncwarp();

  const unsigned slot = lane < kBlocks ? lane : 0;
  ZstdBlockRecord* record = nullptr;
  if (lane < kBlocks && first + lane < count) record = &stages.d_blocks[d_list[first + lane]];
  if (record != nullptr && stages.is_left(*record)) record = nullptr;
  std::uint32_t sequences = 0, literal_state = 0, offset_state = 0, match_state = 0;
  uint4* d_states = nullptr;
  ZstdBits bits(sh_rings[slot]);
  if (record != nullptr) {
    trace_mark(kTraceRestoreZstdBlock, d_list[first + lane]);
    const ZstdDeviceBlock& block = record->block;
    const auto* const d_chunk = reinterpret_cast<const std::uint8_t*>(batch.d_blocks[record->chunk]);
    bits = ZstdBits(sh_rings[slot], d_chunk, d_chunk + batch.d_block_bytes[record->chunk],
                    block.d_data + record->stream_at, block.data_bytes - record->stream_at);
    sequences = block.sequences;
    d_states = reinterpret_cast<uint4*>(stages.unit(record->states_unit));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  if (record != nullptr) {
    std::uint32_t word = bits.window().high;
    const auto begin = [&](unsigned kind) {
      const unsigned log = stages.d_blocks[record->table_of[kind]].logs[kind];
      const std::uint32_t state = __funnelshift_l(word, 0, log);
      word <<= log;
      bits.skip(log);
      return state;
    };
    literal_state = begin(0);
    offset_state = begin(1);
    match_state = begin(2);
    record->first_bits = bits.bit() + 1;
  }
  const ShortCell* const sh_own = sh_cells[slot];
  for (std::uint32_t done = 0;; done += 4) {
    const bool goes_on = done < sequences;
    if (!__any_sync(kAllLanes, goes_on)) break;
    bits.ask();
    __pipeline_commit();
    __pipeline_wait_prior(1);
    if (!goes_on) continue;
    std::uint32_t states[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      states[i] = literal_state | offset_state << kZstdOffsetStateAt | match_state << kZstdMatchStateAt;
      const std::uint32_t literal = sh_own[zstd_cells_at(0) + literal_state],
                          offset = sh_own[zstd_cells_at(1) + offset_state],
                          match = sh_own[zstd_cells_at(2) + match_state];
      const ZstdWindow window = bits.window();
      const std::uint32_t extra = (literal + offset + match) & kZstdCellExtraMask;
      std::uint32_t word = extra < 32 ? __funnelshift_l(window.middle, window.high, extra)
                                      : __funnelshift_l(window.low, window.middle, extra);
      std::uint32_t taken = 1;
      literal_state = next_state(literal, word, taken);
      match_state = next_state(match, word, taken);
      offset_state = next_state(offset, word, taken);
      bits.skip(extra + 31 - static_cast<std::uint32_t>(__clz(taken)));
    }
    d_states[done / 4] = {states[0], states[1], states[2], states[3]};
  }
}

constexpr KernelBudget kStatesBudget("zstd_restore.states", "follow_zstd_states",
                                     {.threads = 32,
                                      .registers = 96,
                                      .shared_bytes = sizeof(ShortCell) * kBlocks * kZstdCells +
                                                      sizeof(ZstdRing) * kBlocks});
const KernelRegistration kStatesRegistration(kStatesBudget, follow_zstd_states);

}  // namespace

void launch_zstd_states(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kStatesBudget, .grid = (stages.block_room + kBlocks - 1) / kBlocks, .stream = stream},
         follow_zstd_states, batch, stages);
}

}  // namespace hemstitch::cuda
