// Copies literals and matches of each block of a piece by itself, to symbols (zstd_frame_cuda.hpp).
//
// A match that begins in its block repeats symbols, be they bytes or marks; one that begins before makes marks. The runs of a group of 32
// sequences are found as restore/zstd_restore_copy.cu does: they are marked in a bitmap, and the runs that begin up to a symbol say which has it.
#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 4;
constexpr std::uint32_t kTileSymbols = 1024;     // what is described at once
constexpr std::uint32_t kSteps = 4;              // of 32 symbols, whose loads are in flight together
constexpr std::uint32_t kLiterals = 0xFFFFFFFF;  // larger than any distance

// All symbols of a run come from the same distance.
struct alignas(16) Run {
  const std::uint8_t* d_literals;  // of literals: less the place in the block where the run begins
  std::uint32_t distance;          // of a match, or kLiterals
};
// Of 32 symbols: where runs begin, as bits; how many begin before, less 1.
struct Begins {
  std::uint32_t here, rank;
};
struct CopyMemory {
  Run runs[64];
  Begins begins[kTileSymbols / 32];  // of a tile
  std::uint32_t steps[kSteps * 32];  // what those in flight bring
};

// A block whose symbols a warp writes.
struct Target {
  std::uint32_t* d_symbols;
  std::uint32_t mark;  // that of the block's first place
};

// The symbol at this place of the block, whose run comes from before what is in flight.
__device__ __forceinline__ std::uint32_t symbol_at(const Target& to, const Run& run, std::uint32_t at) {
  if (run.distance == kLiterals) return run.d_literals[at];
  return run.distance <= at ? to.d_symbols[at - run.distance] : to.mark + at - run.distance;
}

// 32 symbols, of which some come from others of them: each lane finds the one that is no copy.
__device__ std::uint32_t resolved_in_step(std::uint32_t symbol, std::uint32_t distance, unsigned lane) {
  std::uint32_t from = distance <= lane ? lane - distance : lane;
#pragma unroll
  for (unsigned i = 0; i < 5; ++i) from = __shfl_sync(kAllLanes, from, static_cast<int>(from));
  return __shfl_sync(kAllLanes, symbol, static_cast<int>(from));
}

// Writes so many symbols from place `begin` of the block on, whose runs are described. What a match repeats in the block was written before, by this warp,
// or is brought by a step that is in flight as well.
__device__ __forceinline__ void copy_tile(CopyMemory& sh, const Target& to, std::uint32_t begin,
                                          std::uint32_t symbols, unsigned lane) {
  const std::uint32_t up_to_lane = 0xFFFFFFFFu >> (31 - lane);
  for (std::uint32_t step = 0; step * 32 < symbols; step += kSteps) {
    Run runs[kSteps];
    std::uint32_t is_near = 0;
#pragma unroll
    for (unsigned k = 0; k < kSteps; ++k) {
      const Begins begins = sh.begins[step + k];
      runs[k] = sh.runs[begins.rank + static_cast<std::uint32_t>(__popc(begins.here & up_to_lane))];
      is_near |= runs[k].distance <= k * 32 + lane ? 1 : 0;
    }
    const std::uint32_t in_tile = step * 32 + lane, at = begin + in_tile;
    std::uint32_t symbol[kSteps];
#pragma unroll
    for (unsigned k = 0; k < kSteps; ++k) {
      symbol[k] = 0;
      if (runs[k].distance > k * 32 + lane && in_tile + k * 32 < symbols)
        symbol[k] = symbol_at(to, runs[k], at + k * 32);
    }
    if (!__any_sync(kAllLanes, is_near != 0)) {
#pragma unroll
      for (unsigned k = 0; k < kSteps; ++k)
        if (in_tile + k * 32 < symbols) to.d_symbols[at + k * 32] = symbol[k];
      __syncwarp();
      continue;
    }
    // The rest of the way is inside of these steps: through shared memory from the earlier ones, by shuffles inside of one.
#pragma unroll
    for (unsigned k = 0; k < kSteps; ++k) {
      const std::uint32_t distance = runs[k].distance, place = k * 32 + lane;
      if (distance > lane && distance <= place) symbol[k] = sh.steps[place - distance];
      if (__any_sync(kAllLanes, distance <= lane)) symbol[k] = resolved_in_step(symbol[k], distance, lane);
      sh.steps[place] = symbol[k];
      if (in_tile + k * 32 < symbols) to.d_symbols[at + k * 32] = symbol[k];
      __syncwarp();
    }
  }
}

// Mapping: a warp a block. Shared memory: 1.8 KB a warp. Synchronisation inside of warps alone. Work: linear in content. CPU twin:
// copy_zstd_symbols().
__global__ void __launch_bounds__(32 * kWarps, 8) copy_zstd_blocks(const ZstdFrameWork work) {
  __shared__ CopyMemory sh_memory[kWarps];
  CopyMemory& sh = sh_memory[threadIdx.x / 32];
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32 + 1;
  // Another block may stop the piece meanwhile: all lanes go by what one of them reads.
  if (index >= __shfl_sync(kAllLanes, work.stop_record(), 0)) return;
  if (lane == 0) trace_mark(kTraceRestoreZstdBlock, index);
  const ZstdStages& stages = work.stages;
  const ZstdBlockRecord& record = stages.d_blocks[index];
  const ZstdDeviceBlock& block = record.block;
  const auto begin_in_piece = static_cast<std::uint32_t>(record.begin);
  const std::uint32_t block_place = work.piece.history_bytes + begin_in_piece;
  const Target to{work.d_symbols + begin_in_piece, kZstdMark + block_place};
  if (!block.is_compressed()) {
    for (std::uint32_t i = lane; i < block.content_bytes; i += 32)
      to.d_symbols[i] = block.d_data[block.type == ZstdBlockType::kRle ? 0 : i];
    return;
  }
  const auto* const d_sequences =
      reinterpret_cast<const ZstdDeviceSequence*>(stages.unit(record.sequences_unit));
  const std::uint8_t* d_literals = block.literals_type == ZstdDeviceLiterals::kRaw
                                       ? block.d_data + block.literals_at
                                       : stages.unit(record.literals_unit);
  const ZstdDeviceRepeats repeats{record.repeats_before[0], record.repeats_before[1],
                                  record.repeats_before[2]};
  std::uint32_t written = 0;
  // The literals behind the last sequence are one more, without a match.
  for (std::uint32_t first = 0; first <= block.sequences; first += 32) {
    std::uint32_t literals = 0, match = 0, distance = 1;
    if (first + lane < block.sequences) {
      const ZstdDeviceSequence sequence = d_sequences[first + lane];
      distance = resolved_zstd_offset(static_cast<std::uint32_t>(sequence) & kZstdOffsetMask, repeats);
      literals = static_cast<std::uint32_t>(sequence >> kZstdLiteralsAt) & kZstdLengthMask;
      match = static_cast<std::uint32_t>(sequence >> kZstdMatchAt);
    } else if (first + lane == block.sequences) {
      literals = block.literals - record.used_literals;
    }
    const std::uint32_t end = sum_up_to_lane(literals + match, lane),
                        literals_end = sum_up_to_lane(literals, lane);
    const std::uint32_t begin = end - literals - match, match_begin = begin + literals;
    const std::uint32_t group_symbols = __shfl_sync(kAllLanes, end, 31);
    // 3.1.1.1.2: as far back as the window reaches, and the content. So a mark is below its block.
    const std::uint32_t reach = block_place + written + match_begin;
    const bool too_far =
        match != 0 && (distance == 0 || distance > reach || distance > work.piece.window_bytes);
    if (__any_sync(kAllLanes, too_far)) {
      if (lane == 0) work.stop_at(index, kZstdLeftInDoubt);
      return;
    }
    const std::uint32_t with_literals = __ballot_sync(kAllLanes, literals != 0),
                        with_match = __ballot_sync(kAllLanes, match != 0);
    const std::uint32_t below = (1u << lane) - 1;
    const auto run = static_cast<std::uint32_t>(__popc(with_literals & below) + __popc(with_match & below));
    __syncwarp();
    if (literals != 0) sh.runs[run] = {d_literals + (literals_end - literals) - (written + begin), kLiterals};
    if (match != 0) sh.runs[run + (literals != 0 ? 1 : 0)] = {nullptr, distance};
    std::uint32_t runs_before = 0;
    for (std::uint32_t tile = 0; tile < group_symbols; tile += kTileSymbols) {
      sh.begins[lane].here = 0;
      __syncwarp();
      if (literals != 0 && begin - tile < kTileSymbols)
        atomicOr(&sh.begins[(begin - tile) / 32].here, 1u << ((begin - tile) % 32));
      if (match != 0 && match_begin - tile < kTileSymbols)
        atomicOr(&sh.begins[(match_begin - tile) / 32].here, 1u << ((match_begin - tile) % 32));
      __syncwarp();
      const auto here = static_cast<std::uint32_t>(__popc(sh.begins[lane].here));
      const std::uint32_t up_to_here = sum_up_to_lane(here, lane);
      sh.begins[lane].rank = runs_before + up_to_here - here - 1;
      runs_before += __shfl_sync(kAllLanes, up_to_here, 31);
      __syncwarp();
      copy_tile(sh, to, written + tile, min(group_symbols - tile, kTileSymbols), lane);
    }
    d_literals += __shfl_sync(kAllLanes, literals_end, 31);
    written += group_symbols;
  }
}

constexpr KernelBudget kCopyBudget("zstd_frame.copy", "copy_zstd_blocks",
                                   {.threads = 32 * kWarps,
                                    .registers = 64,
                                    .shared_bytes = sizeof(CopyMemory) * kWarps});
const KernelRegistration kCopyRegistration(kCopyBudget, copy_zstd_blocks);

}  // namespace

void launch_zstd_frame_copy(const ZstdFrameWork& work, cudaStream_t stream) {
  launch({.kernel = kCopyBudget, .grid = (work.piece.block_count + kWarps - 1) / kWarps, .stream = stream},
         copy_zstd_blocks, work);
}

}  // namespace hemstitch::cuda
