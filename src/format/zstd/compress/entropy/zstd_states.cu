// The bits of a block's sequences, from the last one back, and the block's size. CPU twin: write_zstd_sequences() of zstd_sequence_writer.hpp, with zstd_state_writer.hpp.
//
// FSE goes from state to state, so a block has three chains, of literals' counts, offsets and matches. Nothing else here is serial.
//
// Mapping. A warp a block, kWarps in a thread block. It takes 32 sequences at a time, one a lane, the last ones first:
//
//   steps     each lane looks up its three codes' steps, which do not depend on states; those of the next 32 sequences while chains are followed
//   chains    three lanes follow one chain each: a load from shared memory and some additions and shifts a sequence
//   bits      a prefix sum says where each lane's bits begin; it adds them to words of shared memory, whose full ones go to the block's room
//
// A block stops where its bits alone would be more than its content: it is written raw. Shared memory: 5 KB a warp. Synchronisation: within the warp. Work:
// O(1) a sequence.
#include "format/zstd/compress/entropy/zstd_value_codes.hpp"
#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "format/zstd/restore/zstd_device_tables.cuh"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 2, kThreads = 32 * kWarps;
// Of a sequence: states of 9, 8 and 9 bits, counts of 16 bits at most, and the offset's value of 30.
constexpr unsigned kMostSequenceBits = 26 + 16 + 16 + 29;
// What 32 sequences add to a part of a word, or the last states and the bit behind them; and one word more, to which only zeros are added.
constexpr unsigned kWords = 1 + kMostSequenceBits + 1;

// Rows are so long that what three chains read and write at once is in different banks. Chains read one step more than there is.
struct StateShared {
  std::uint16_t states[kZstdStates];
  ZstdStateStep steps[kZstdKinds][32 + 1];
  std::uint16_t values[kZstdKinds][32 + 2];  // of the states behind each sequence
  std::uint32_t words[kWords];
};

// Adds 32 bits or fewer to zeros. `value` has no higher ones.
__device__ __forceinline__ void put_bits(StateShared& sh, std::uint32_t at, std::uint32_t value) {
  const std::uint32_t shift = at % 32;
  if (value == 0) return;
  atomicOr(&sh.words[at / 32], value << shift);
  if (shift != 0) atomicOr(&sh.words[at / 32 + 1], value >> (32 - shift));
}

// Moves full words to `to`, and begins anew with the one that is not. By the warp.
__device__ __forceinline__ void store_full_words(StateShared& sh, std::uint32_t* to, std::uint32_t full,
                                                 unsigned lane) {
  __syncwarp();
  const std::uint32_t rest = sh.words[full];
  for (std::uint32_t i = lane; i < full; i += 32) to[i] = sh.words[i];
  __syncwarp();
  for (std::uint32_t i = lane; i <= full; i += 32) sh.words[i] = i == 0 ? rest : 0;
  __syncwarp();
}

// How many bits lead back by a step to the state of this value.
__device__ __forceinline__ std::uint32_t step_bits(const ZstdStateStep& step, std::uint32_t value) {
  return (value + step.delta) >> 16;
}

// Follows a chain over the steps of `count` sequences, 1 at least. `value`: of the state behind them; 0: there is none. Returns the value of the
// first one.
__device__ __forceinline__ std::uint32_t follow_chain(StateShared& sh, unsigned kind, std::uint32_t count,
                                                      std::uint32_t value) {
  ZstdStateStep step = sh.steps[kind][0];
  if (value == 0) {
    // The last sequence of the block begins in the lowest state of its code: by as many zeros as can be, which are not written.
    const std::uint32_t most_bits = (step.delta + 0xFFFF) >> 16;
    value = (most_bits << 16) - step.delta;
  }
#pragma unroll 4
  for (std::uint32_t i = 0; i < count; ++i) {
    const ZstdStateStep next = sh.steps[kind][i + 1];
    sh.values[kind][i] = static_cast<std::uint16_t>(value);
    value = sh.states[step.base + (value >> step_bits(step, value))];
    step = next;
  }
  return value;
}

// A sequence's extra bits, and its codes' steps.
struct StepsAndBits {
  ZstdStateStep steps[kZstdKinds];
  std::uint32_t run, match, offset, run_bits, match_bits, offset_bits;
};

__device__ __forceinline__ StepsAndBits look_up(const ZstdBlockTables& tables, std::uint64_t value) {
  const std::uint32_t run = static_cast<std::uint32_t>(value) & kZstdValueLengthMask,
                      match = static_cast<std::uint32_t>(value >> kZstdValueMatchAt) & kZstdValueLengthMask;
  const auto offset = static_cast<std::uint32_t>(value >> kZstdValueOffsetAt);
  const std::uint32_t run_code = zstd_run_code(run), match_code = zstd_match_code(match),
                      offset_code = zstd_floor_log2(offset);
  return {{tables.steps[0][run_code], tables.steps[1][offset_code], tables.steps[2][match_code]},
          run - zstd_literal_base(run_code),
          match - zstd_match_base(match_code),
          offset - (1u << offset_code),
          zstd_extra_bits(0, run_code),
          zstd_extra_bits(2, match_code),
          offset_code};
}

// The bits of all sequences, of which there are some. Returns how many bytes they take; 0: more than `room`, and the last ones were not
// written. `to` has room for 3 words more.
__device__ std::uint32_t code_sequences(StateShared& sh, const ZstdBlockTables& tables,
                                        const std::uint64_t* values, std::uint32_t sequence_count,
                                        std::uint32_t* to, std::uint32_t room, unsigned lane) {
  for (unsigned i = lane; i < kZstdStates / 2; i += 32)
    reinterpret_cast<std::uint32_t*>(sh.states)[i] = reinterpret_cast<const std::uint32_t*>(tables.states)[i];
  for (unsigned i = lane; i < kWords; i += 32) sh.words[i] = 0;
  // A lane without a sequence has what the last one has.
  const auto value_before = [&](std::uint32_t end) { return values[end - 1 - min(lane, end - 1)]; };
  StepsAndBits own = look_up(tables, value_before(sequence_count));
  std::uint32_t words = 0, fill = 0;  // words in `to`, and bits behind these
  std::uint32_t state = 0;            // of the chain of one of the first three lanes, as a value
  for (std::uint32_t end = sequence_count; end > 0;) {
    const std::uint32_t count = min(end, 32u);
    for (unsigned kind = 0; kind < kZstdKinds; ++kind) sh.steps[kind][lane] = own.steps[kind];
    __syncwarp();
    // What comes next is loaded meanwhile.
    const std::uint64_t next_value = value_before(max(end - count, 1u));
    if (lane < kZstdKinds) state = follow_chain(sh, lane, count, state);
    __syncwarp();
    const StepsAndBits next = look_up(tables, next_value);
    // Offsets' states come first, then those of matches and literals.
    std::uint32_t moved = 0, moved_bits = 0, bits = 0;
    const auto add = [&](unsigned kind) {
      const std::uint32_t value = sh.values[kind][lane], count_of = step_bits(own.steps[kind], value);
      moved |= (value & ((1u << count_of) - 1)) << moved_bits;
      moved_bits += count_of;
    };
    if (lane < count) {
      if (lane != 0 || end != sequence_count) {
        add(1);
        add(2);
        add(0);
      }
      bits = moved_bits + own.run_bits + own.match_bits + own.offset_bits;
    }
    const std::uint32_t up_to_lane = sum_up_to_lane(bits, lane);
    if (lane < count) {
      std::uint32_t at = fill + up_to_lane - bits;
      put_bits(sh, at, moved);
      at += moved_bits;
      put_bits(sh, at, own.run);
      at += own.run_bits;
      put_bits(sh, at, own.match);
      at += own.match_bits;
      put_bits(sh, at, own.offset);
    }
    fill += __shfl_sync(kAllLanes, up_to_lane, 31);
    const std::uint32_t full = fill / 32;
    if (4 * (words + full) > room) return 0;  // the whole warp
    store_full_words(sh, to + words, full, lane);
    words += full;
    fill %= 32;
    end -= count;
    own = next;
  }
  // The first states, of matches, offsets and literals; and the bit that marks the end.
  const std::uint32_t first_state = lane < kZstdKinds ? state - (1u << tables.logs[lane]) : 0;
  const std::uint32_t states[kZstdKinds] = {__shfl_sync(kAllLanes, first_state, 0),
                                            __shfl_sync(kAllLanes, first_state, 1),
                                            __shfl_sync(kAllLanes, first_state, 2)};
  if (lane == 0) {
    std::uint32_t at = fill;
    put_bits(sh, at, states[2]);
    at += tables.logs[2];
    put_bits(sh, at, states[1]);
    at += tables.logs[1];
    put_bits(sh, at, states[0]);
    at += tables.logs[0];
    put_bits(sh, at, 1);
  }
  fill += tables.logs[0] + tables.logs[1] + tables.logs[2] + 1;
  const std::uint32_t bytes = 4 * words + (fill + 7) / 8;
  store_full_words(sh, to + words, (fill + 31) / 32, lane);
  return bytes;
}

__global__ void __launch_bounds__(kThreads)
    state_zstd_sequences(const DeviceBlocks blocks, const ZstdEncodeRoom room, std::uint32_t* d_sizes) {
  __shared__ StateShared sh_all[kWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t index = blockIdx.x * kWarps + warp;
  if (index >= blocks.block_count) return;  // the whole warp, as below
  const DeviceBlock block = blocks.d_blocks[index];
  if (block.block_bytes == 0) {
    if (lane == 0) d_sizes[index] = 0;
    return;
  }
  ZstdBlockTables& tables = room.d_tables[index];
  const std::uint32_t sequence_count = room.d_counts[index].sequence_count;
  std::uint32_t data_bytes = tables.literal_header_bytes + tables.literal_data_bytes + 1, bits_bytes = 0;
  bool is_raw = false;
  if (sequence_count != 0) {
    bits_bytes = code_sequences(
        sh_all[warp], tables, room.d_values + first_sequence(block.position, index, zstd_block_plan()),
        sequence_count, room.d_bits + zstd_bits_at(block.position, index), block.block_bytes, lane);
    is_raw = bits_bytes == 0;
    data_bytes += zstd_count_bytes(sequence_count) + bits_bytes;
    for (unsigned kind = 0; kind < kZstdKinds; ++kind) data_bytes += tables.description_bytes[kind];
  }
  is_raw = is_raw || data_bytes >= block.block_bytes;
  if (lane != 0) return;
  tables.is_raw = is_raw ? 1 : 0;
  tables.bits_bytes = bits_bytes;
  d_sizes[index] =
      static_cast<std::uint32_t>(kZstdBlockHeaderBytes) + (is_raw ? block.block_bytes : data_bytes);
}

constexpr KernelBudget kStateBudget("zstd_compress.states", "state_zstd_sequences",
                                    {.threads = kThreads,
                                     .registers = 64,
                                     .shared_bytes = sizeof(StateShared) * kWarps});
const KernelRegistration kStateRegistration(kStateBudget, state_zstd_sequences);

}  // namespace

void state_zstd_sequences_cuda(const DeviceBlocks& blocks, const ZstdEncodeRoom& room, std::uint32_t* d_sizes,
                               cudaStream_t stream) {
  launch({.kernel = kStateBudget,
          .grid = (blocks.block_count + kWarps - 1) / kWarps,
          .stream = stream,
          .work = work_of(blocks)},
         state_zstd_sequences, blocks, room, d_sizes);
}

}  // namespace hemstitch::cuda
