// Restoration of LZ4 blocks where a batch has too few of them to fill the device with a warp each: a thread block of sixteen
// warps restores a block. The steps are those of lz4_restore_blocks.cu; what differs is how the warps work together.
//
//   Sequences  A round takes sixteen windows. Each warp makes the tables of its window, and from them one of the window:
//              entered at byte 0 to 29, where is it left? So the chain through the round takes one look-up for each window.
//              Afterwards each warp goes through its own window.
//   Output     4 KB at a time, a part. No byte waits for another one: bytes whose sources lie before the part are
//              gathered, and every other byte points to its source in the part. Pointers are then doubled, all at
//              once, until each leads to a gathered byte: twelve times at most, for any chain of matches.
//
// A sequence that chains leave out is read by one warp, which decides on its status, and written by all.
//
// The blocks of a linked frame are one chain. One thread block restores them, one after the other.
#include "format/lz4/restore/lz4_restore_blocks_tuning.hpp"
#include "format/lz4/restore/lz4_restore_chunk.cuh"
#include "format/lz4/restore/lz4_restore_ways_cuda.hpp"
#include "format/lz4/restore/lz4_restore_window.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/shared_memory.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = kLz4FewBlockWarps;
constexpr unsigned kThreads = 32 * kWarps;
constexpr std::uint32_t kRoundBytes = kWarps * kLz4WindowBytes;
// A sequence that chains leave out stops all warps of the block, so chains accept long ones.
using Links = Lz4Links<16, std::uint32_t>;
constexpr std::uint32_t kStagedBytes = kRoundBytes - 1 + Links::kSequenceBytes;
constexpr unsigned kStageVectors = vectors_around(kStagedBytes);
constexpr std::uint32_t kRoundSequences = kWarps * kLz4WindowSequences;
static_assert(kStagedBytes < 1u << 16, "positions in a round are 16 bits");

// Consecutive sequences that are taken at a time.
constexpr std::uint32_t kGroupSequences = kLz4FewBlockSequences;
constexpr std::uint32_t kThreadSequences = kGroupSequences / kThreads;
// A word of 64 bits holds the bytes that a group writes and the number of its pieces.
constexpr unsigned kPieceBits = 32;
constexpr std::uint64_t kPieceMask = (std::uint64_t{1} << kPieceBits) - 1;

constexpr std::uint32_t kPartBytes = kLz4FewBlockPartBytes;
constexpr std::uint32_t kPartStripes = kPartBytes / 32;
constexpr unsigned kThreadBytes = kPartBytes / kThreads;  // of a part
constexpr unsigned kWarpStripes = kPartStripes / kWarps;
static_assert(kThreadBytes == kWarpStripes);

// The place of a chain that has stopped before, and the exit of a window that the chain never enters.
constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

struct GroupMemory {
  uint4 stage[kStageVectors];
  union {
    Links::Word exits[kWarps][kLz4SegmentBytes][kLz4SegmentsPerWindow];
    struct {
      std::int64_t pieces[2 * kGroupSequences];
      std::uint16_t roots[kPartBytes];  // the byte of the part that a byte is a copy of
      std::uint8_t values[kPartBytes];
    };
  };
  Lz4Stripe stripes[kPartStripes];
  std::uint16_t tokens[kRoundSequences];
  std::uint32_t window_exits[kWarps][kLz4SegmentBytes];
  std::uint16_t entries[kWarps][kLz4SegmentsPerWindow];
  std::uint64_t sums[kWarps];
  std::uint32_t wrong_index[kWarps], wrong_begin[kWarps];
  std::uint32_t stopped_at;
  struct {
    Lz4Place place;
    Lz4Progress progress;
    Lz4CheckedSequence sequence;
  } left;  // a sequence that chains leave out, and the place after it
};

// Where the chain leaves a window that it enters at `entry`, from the window's end on; kNowhere if it stops before.
__device__ inline std::uint32_t leave_window(
    const Links::Word (&sh_exits)[kLz4SegmentBytes][kLz4SegmentsPerWindow], std::uint32_t entry) {
#pragma unroll 4
  for (std::uint32_t i = 0; i < kLz4SegmentsPerWindow; ++i)
    entry = entry < kLz4SegmentBytes ? sh_exits[entry][i] & Links::kExitMask : entry - kLz4SegmentBytes;
  return entry < Links::kSequenceBytes ? entry : kNowhere;
}
// A stopped chain has this or more left behind its window, any other one less.
static_assert(Links::kExitStops - kLz4WindowBytes >= Links::kSequenceBytes);

// Sums over the threads before this one, and over all. Has a barrier inside.
template <class Number>
struct Sums {
  Number before, all;
};
template <class Number>
__device__ inline Sums<Number> sum_over_threads(Number value, std::uint64_t (&sh_sums)[kWarps],
                                                unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  const Number up_to_lane = sum_up_to_lane(value, lane);
  if (lane == 31) sh_sums[warp] = up_to_lane;
  __syncthreads();
  Sums<Number> sums{up_to_lane - value, 0};
#pragma unroll
  for (unsigned i = 0; i < kWarps; ++i) {
    const auto of_warp = static_cast<Number>(sh_sums[i]);
    if (i < warp) sums.before += of_warp;
    sums.all += of_warp;
  }
  return sums;
}

// The sequences of a round whose first token is at its first byte: where they begin, in order, in sh.tokens; returns
// their number. sh.stopped_at is the position of a sequence that is left to others, or kNowhere, and then `after` is
// the position behind the last sequence. Ends with a barrier.
__device__ inline std::uint32_t find_tokens(SharedBytes bytes, std::uint32_t end, GroupMemory& sh,
                                            std::uint32_t& after, unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  const std::uint32_t segment_begin = thread * kLz4SegmentBytes;
  SharedBytes segment = bytes;
  segment.address += segment_begin;
  SegmentExits<Links::Word> exits(&sh.exits[warp][0][lane]);
  if (end >= kStagedBytes)
    find_lz4_exits<Links, false>(segment, 0, exits);
  else
    find_lz4_exits<Links, true>(segment, end > segment_begin ? end - segment_begin : 0, exits);
  if (thread == 0) sh.stopped_at = kNowhere;
  __syncwarp();
  if (lane < kLz4SegmentBytes) sh.window_exits[warp][lane] = leave_window(sh.exits[warp], lane);
  __syncthreads();

  // Where the chain enters this window, and where it leaves the last one.
  std::uint32_t chain = 0, window_entry = 0;
  for (unsigned i = 0; i < kWarps; ++i) {
    if (i == warp) window_entry = chain;
    if (chain < kLz4SegmentBytes)
      chain = sh.window_exits[i][chain];
    else if (chain < kLz4WindowBytes)
      chain = leave_window(sh.exits[i], chain);
    else if (chain != kNowhere)
      chain -= kLz4WindowBytes;
  }
  after = kRoundBytes + chain;

  std::uint32_t entry = window_entry == kNowhere ? Links::kExitMask : window_entry;
  for (std::uint32_t i = 0; i < kLz4SegmentsPerWindow; ++i) {
    if (lane == 0) sh.entries[warp][i] = static_cast<std::uint16_t>(entry);
    entry = entry < kLz4SegmentBytes ? sh.exits[warp][entry][i] & Links::kExitMask : entry - kLz4SegmentBytes;
  }
  __syncwarp();
  std::uint32_t position = sh.entries[warp][lane];
  const std::uint32_t exit = exits.get_if(position < kLz4SegmentBytes, position, 0);
  // Only one segment has the sequence, so only its threads see the stop.
  const unsigned stopped = __ballot_sync(kAllLanes, (exit & Links::kExitStops) != 0);
  if (stopped != 0 && static_cast<int>(lane) == __ffs(static_cast<int>(stopped)) - 1)
    sh.stopped_at = segment_begin + (exit & (Links::kExitStops - 1));
  std::uint32_t count = exit >> Links::kExitBits;
  const Sums<std::uint32_t> sums = sum_over_threads(count, sh.sums, thread);
  for (std::uint16_t* sh_token = sh.tokens + sums.before; count != 0; --count) {
    *sh_token++ = static_cast<std::uint16_t>(segment_begin + position);
    position = next_lz4_sequence<Links>(segment, position);
  }
  __syncthreads();
  return sums.all;
}

// What a group of sequences writes together.
struct Group {
  std::uint8_t* d_output;
  std::uint32_t bytes;
  // Of this thread's sequences, from d_output on.
  std::uint32_t literal_begins[kThreadSequences], match_begins[kThreadSequences];
};

// Begins with a barrier, after which sh.pieces is complete, and ends with one.
__device__ inline void write_group(const Group& group, GroupMemory& sh, unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  const std::uint32_t up_to_lane = 0xFFFFFFFFu >> (31 - lane);
  std::uint32_t pieces_before = 0xFFFFFFFFu;  // one less
  for (std::uint32_t part_begin = 0; part_begin < group.bytes; part_begin += kPartBytes) {
    if (thread < kPartStripes) sh.stripes[thread].starts = 0;
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < kThreadSequences; ++i) {
      const std::uint32_t literal_at = group.literal_begins[i] - part_begin;
      const std::uint32_t match_at = group.match_begins[i] - part_begin;
      if (literal_at < kPartBytes && literal_at != match_at)
        atomicOr(&sh.stripes[literal_at / 32].starts, 1u << literal_at % 32);
      if (match_at < kPartBytes) atomicOr(&sh.stripes[match_at / 32].starts, 1u << match_at % 32);
    }
    __syncthreads();
    const std::uint32_t starts =
        thread < kPartStripes ? static_cast<std::uint32_t>(__popc(sh.stripes[thread].starts)) : 0;
    const Sums<std::uint32_t> sums = sum_over_threads(starts, sh.sums, thread);
    if (thread < kPartStripes) sh.stripes[thread].pieces_before = pieces_before + sums.before;
    pieces_before += sums.all;
    __syncthreads();

    const std::uint32_t part_bytes = min(kPartBytes, group.bytes - part_begin);
    std::uint8_t* d_part = group.d_output + part_begin;
    asm("" : "+l"(d_part));  // one address, not a sum computed anew for each byte
    // Byte s of this thread is byte `at`: a warp takes stripes side by side.
    const std::uint32_t first_at = warp * kWarpStripes * 32 + lane;
    std::uint32_t values[kThreadBytes];
    std::uint32_t roots[kThreadBytes];
#pragma unroll
    for (unsigned s = 0; s < kThreadBytes; ++s) {
      const std::uint32_t at = first_at + 32 * s;
      const Lz4Stripe stripe = sh.stripes[warp * kWarpStripes + s];
      const std::uint32_t piece =
          stripe.pieces_before + static_cast<std::uint32_t>(__popc(stripe.starts & up_to_lane));
      roots[s] = at;
      values[s] = 0;
      if (at < part_bytes) {
        const std::uint64_t source = static_cast<std::uint64_t>(sh.pieces[piece]) + at;
        // Sources of literals are never in the output, so a source between the part's first byte and this one is that of a match.
        if (source < at)
          roots[s] = static_cast<std::uint32_t>(source);
        else
          values[s] = load_byte_if(true, d_part + source);
      }
    }
    // Bit s: byte s points to a byte that may itself be a pointer.
    std::uint32_t points = 0;
#pragma unroll
    for (unsigned s = 0; s < kThreadBytes; ++s) {
      const std::uint32_t at = first_at + 32 * s;
      points |= (roots[s] != at ? 1u : 0u) << s;
      sh.roots[at] = static_cast<std::uint16_t>(roots[s]);
      sh.values[at] = static_cast<std::uint8_t>(values[s]);
    }
    while (__syncthreads_or(points != 0)) {
#pragma unroll
      for (unsigned s = 0; s < kThreadBytes; ++s) {
        if ((points >> s & 1u) == 0) continue;
        const std::uint32_t next = sh.roots[roots[s]];
        if (next == roots[s]) points &= ~(1u << s);
        roots[s] = next;
      }
      __syncthreads();
#pragma unroll
      for (unsigned s = 0; s < kThreadBytes; ++s)
        if ((points >> s & 1u) != 0) sh.roots[first_at + 32 * s] = static_cast<std::uint16_t>(roots[s]);
    }
#pragma unroll
    for (unsigned s = 0; s < kThreadBytes; ++s) {
      const std::uint32_t at = first_at + 32 * s;
      if (at < part_bytes) store_byte(d_part + at, sh.values[roots[s]]);
    }
    __syncthreads();
  }
}

__device__ inline std::uint64_t sums_of(const Lz4LinkedSequence& sequence) {
  return std::uint64_t{sequence.literal_count + sequence.match_length} << kPieceBits |
         (sequence.literal_count == 0 ? 1u : 2u);
}

// Restores the part of a round that groups can restore; `place` moves on. True if the sequence at `place` is left to
// restore_lz4_sequence. All threads call it with the same place and see the same.
__device__ inline bool restore_round(const Lz4Chunk& chunk, GroupMemory& sh, Lz4Place& place,
                                     unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  const std::uint32_t round_begin = place.read, end = chunk.block_bytes - round_begin;
  if (thread == 0) trace_mark(kTraceRestoreWindow, round_begin);
  const SharedBytes bytes = stage_bytes<kThreads, kStageVectors>(chunk, round_begin, sh.stage, thread);
  __syncthreads();
  std::uint32_t after;
  const std::uint32_t count = find_tokens(bytes, end, sh, after, thread);
  const std::uint8_t* d_round = chunk.d_block + round_begin;
  const std::uint32_t reach_before = min(chunk.history_bytes, kLz4MaxOffset);
  for (std::uint32_t first = 0; first < count; first += kGroupSequences) {
    const std::uint32_t own_first = first + thread * kThreadSequences;
    Lz4LinkedSequence sequences[kThreadSequences];
    // The bytes written and the number of pieces, in one sum.
    std::uint64_t own_sums = 0;
#pragma unroll
    for (unsigned i = 0; i < kThreadSequences; ++i) {
      if (own_first + i < count) sequences[i] = read_lz4_sequence<Links>(bytes, sh.tokens[own_first + i]);
      own_sums += sums_of(sequences[i]);
    }
    const Sums<std::uint64_t> all_sums = sum_over_threads(own_sums, sh.sums, thread);
    std::uint64_t sums = all_sums.before;

    std::uint8_t* d_output = chunk.d_output == nullptr ? nullptr : chunk.d_output + place.written;
    Group group{d_output, 0, {}, {}};
    // The first sequence that does not fit or reaches too far.
    std::uint32_t wrong_index = kNowhere, wrong_begin = 0;
#pragma unroll
    for (unsigned i = 0; i < kThreadSequences; ++i) {
      const Lz4LinkedSequence& sequence = sequences[i];
      const auto literal_begin = static_cast<std::uint32_t>(sums >> kPieceBits);
      const std::uint32_t match_begin = literal_begin + sequence.literal_count;
      const auto piece = static_cast<std::uint32_t>(sums & kPieceMask);
      group.literal_begins[i] = literal_begin;
      group.match_begins[i] = match_begin;
      // Sums stay below 2^31: what was written and the history's reach are at most 2^30 + 2^16, a group 2^23.
      if (wrong_index == kNowhere && own_first + i < count &&
          (sequence.offset - 1 >= reach_before + place.written + match_begin ||
           place.written + match_begin + sequence.match_length > chunk.capacity)) {
        wrong_index = own_first + i;
        wrong_begin = literal_begin;
      }
      if (sequence.literal_count != 0)
        sh.pieces[piece] = (d_round + sequence.literal_begin) - (d_output + literal_begin);
      sh.pieces[piece + (sequence.literal_count == 0 ? 0 : 1)] = -static_cast<std::int64_t>(sequence.offset);
      sums += sums_of(sequence);
    }
    const unsigned wrongs = __ballot_sync(kAllLanes, wrong_index != kNowhere);
    if (wrongs == 0) {
      if (lane == 0) sh.wrong_index[warp] = kNowhere;
    } else if (static_cast<int>(lane) == __ffs(static_cast<int>(wrongs)) - 1) {
      sh.wrong_index[warp] = wrong_index;
      sh.wrong_begin[warp] = wrong_begin;
    }
    __syncthreads();
    group.bytes = static_cast<std::uint32_t>(all_sums.all >> kPieceBits);
    wrong_index = kNowhere;
#pragma unroll
    for (unsigned i = 0; i < kWarps; ++i)
      if (wrong_index == kNowhere && sh.wrong_index[i] != kNowhere) {
        wrong_index = sh.wrong_index[i];
        group.bytes = sh.wrong_begin[i];
      }
    if (chunk.d_output != nullptr) write_group(group, sh, thread);
    __syncthreads();
    place.written += group.bytes;
    if (wrong_index != kNowhere) {
      place.read = round_begin + sh.tokens[wrong_index];
      return true;
    }
  }
  place.read = round_begin + (sh.stopped_at == kNowhere ? after : sh.stopped_at);
  return sh.stopped_at != kNowhere;
}

// A chunk of the batch, by all threads.
__device__ void restore_chunk(const DeviceRestore& batch, std::uint64_t index, GroupMemory& sh,
                              unsigned thread) {
  Lz4Chunk chunk;
  if (!open_chunk(batch, index, chunk, thread == 0)) return;
  Lz4Place place;
  Lz4Progress progress = Lz4Progress::kGoesOn;
  while (progress == Lz4Progress::kGoesOn) {
    const bool is_left = restore_round(chunk, sh, place, thread);
    __syncthreads();
    if (!is_left) continue;
    std::uint8_t* d_to = chunk.d_output + place.written;
    if (thread < 32) {
      Lz4CheckedSequence sequence;
      progress = check_lz4_sequence(chunk, place, sequence, thread);
      if (thread == 0) sh.left = {place, progress, sequence};
    }
    __syncthreads();
    place = sh.left.place;
    progress = sh.left.progress;
    if (chunk.d_output != nullptr && (progress == Lz4Progress::kGoesOn || progress == Lz4Progress::kDone))
      copy_lz4_sequence<kThreads>(chunk, sh.left.sequence, d_to, thread);
  }
  if (thread == 0) close_chunk(batch, index, progress, place.written);
}

// Mapping: a thread block a block. Shared memory: 94 KB. Synchronisation: barriers of the thread block. Work: linear in bytes
// read and written, times 16 for bytes of 255, where chains look far ahead; pointers are doubled at most twelve times.
// CPU twin: restore_lz4_block_reference.
__global__ void __launch_bounds__(kThreads, kLz4FewBlockResidency)
    restore_few_blocks(const DeviceRestore batch) {
  extern __shared__ uint4 sh_all[];
  restore_chunk(batch, blockIdx.x, *reinterpret_cast<GroupMemory*>(sh_all), threadIdx.x);
}

// The same by one thread block, one block after the other, so that each may refer to what was restored before it.
__global__ void __launch_bounds__(kThreads, kLz4FewBlockResidency)
    restore_block_chain(const DeviceRestore batch, const std::uint32_t* d_count) {
  extern __shared__ uint4 sh_all[];
  const std::uint64_t count = min(batch.count, std::uint64_t{*d_count});
  for (std::uint64_t i = 0; i < count; ++i) {
    restore_chunk(batch, i, *reinterpret_cast<GroupMemory*>(sh_all), threadIdx.x);
    __syncthreads();
  }
}

constexpr KernelBudget kFewBlocksBudget("lz4_restore.few_blocks", "restore_few_blocks",
                                        {.threads = kThreads,
                                         .dynamic_shared_bytes = sizeof(GroupMemory),
                                         .registers = 65536 / (kThreads * kLz4FewBlockResidency),
                                         .shared_bytes = sizeof(GroupMemory)});
const KernelRegistration kFewBlocksRegistration(kFewBlocksBudget, restore_few_blocks);
constexpr KernelBudget kBlockChainBudget("lz4_restore.block_chain", "restore_block_chain",
                                         {.threads = kThreads,
                                          .dynamic_shared_bytes = sizeof(GroupMemory),
                                          .registers = 65536 / (kThreads * kLz4FewBlockResidency),
                                          .shared_bytes = sizeof(GroupMemory)});
const KernelRegistration kBlockChainRegistration(kBlockChainBudget, restore_block_chain);

}  // namespace

void restore_few_lz4_blocks_cuda(const DeviceRestore& batch, cudaStream_t stream) {
  if (!fits_shared_memory(kFewBlocksBudget)) return restore_many_lz4_blocks_cuda(batch, stream);
  launch({.kernel = kFewBlocksBudget, .grid = static_cast<unsigned>(batch.count), .stream = stream},
         restore_few_blocks, batch);
}

void restore_lz4_chain_cuda(const DeviceRestore& batch, const std::uint32_t* d_count, cudaStream_t stream) {
  if (!fits_shared_memory(kBlockChainBudget))
    throw Error(Status::kUnsupportedFeature,
                "linked blocks need 94 KB of shared memory for a thread block, more than this device has; "
                "restore the frame on the host");
  launch({.kernel = kBlockChainBudget, .grid = batch.count == 0 ? 0u : 1u, .stream = stream},
         restore_block_chain, batch, d_count);
}

}  // namespace hemstitch::cuda
