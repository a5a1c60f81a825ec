// Restoration of LZ4 blocks larger than pages.
//
// A warp works through a block by windows of about 1 KB of input. For each it
//   1. loads the window into shared memory,
//   2. finds where sequences begin, 32 segments at once (lz4_segment.hpp), and lists the places,
//   3. takes 32 sequences at a time, one a lane: sizes, checks, and a prefix sum of what they write,
//   4. writes what these 32 describe, in tiles of 128 bytes, a byte a lane and stripe.
//
// A tile. Sequences cover the output in pieces: literals, match, literals, match, ... Every lane knows where its two
// pieces begin; one bit each, combined over the warp, gives for a stripe of 32 bytes a word of literal starts and one of match
// starts. The number of bits up to a byte is the number of its piece, and sh_pieces[piece] the distance to its source: in the block
// for literals (even), in the output for matches (odd). The sources of all stripes are gathered at once. Sources inside the tile
// itself wait: they are resolved stripe by stripe, and inside a stripe by pointer doubling, until all bytes point to known ones.
//
// Sequences that a walk leaves out (the last one, long lengths) and those that a check finds wrong go to restore_lz4_sequence,
// which alone decides statuses.
#include "format/lz4/restore/lz4_restore_blocks_tuning.hpp"
#include "format/lz4/restore/lz4_restore_chunk.cuh"
#include "format/lz4/restore/lz4_restore_ways_cuda.hpp"
#include "format/lz4/restore/lz4_restore_window.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

// A sequence with more extension bytes costs a window of its own. Following those in chains too would cost more (294 instead of 314
// GB/s in the mean over seven files).
using Links = Lz4Links<1, std::uint16_t>;
constexpr std::uint32_t kStagedBytes = kLz4WindowBytes - 1 + Links::kSequenceBytes;
constexpr unsigned kStageVectors = vectors_around(kStagedBytes);
constexpr std::uint32_t kTileBytes = 32 * kLz4TileStripes;
constexpr std::uint32_t kPartStripes = 32;  // a lane prepares one
constexpr std::uint32_t kPartBytes = 32 * kPartStripes;
static_assert(kPartBytes % kTileBytes == 0);
// Consecutive sequences that a lane takes at a time.
constexpr std::uint32_t kLaneSequences = 4;
constexpr std::uint32_t kGroupSequences = 32 * kLaneSequences;
// A word holds the bytes that a group writes and the number of its pieces.
constexpr unsigned kPieceBits = 9;
static_assert(2 * kGroupSequences < 1u << kPieceBits);
static_assert(std::uint64_t{kGroupSequences} * Links::kMostRestoredBytes << kPieceBits < std::uint64_t{1}
                                                                                             << 32);

// The shared memory that a warp needs.
struct WarpMemory {
  uint4 stage[kStageVectors];
  Lz4Chunk chunk;  // in shared memory, since no registers are left
  union {
    Links::Word exits[kLz4SegmentBytes][kLz4SegmentsPerWindow];  // of each position in each segment
    std::int64_t pieces[2 * kGroupSequences];
  };
  Lz4Stripe stripes[kPartStripes];
  std::uint16_t entries[kLz4SegmentsPerWindow];  // where each segment is entered
  alignas(8) std::uint16_t tokens[kLz4WindowSequences];
  std::uint8_t tile[kTileBytes];
};
static_assert(kLz4WindowSequences % kLaneSequences == 0);

// The sequences of a window whose first token is at its first byte: where they begin, in order, in sh.tokens. `after` is the
// position after the last one; `stops` says that the sequence there is left to others.
__device__ inline std::uint32_t find_tokens(SharedBytes bytes, std::uint32_t end, WarpMemory& sh,
                                            std::uint32_t& after, bool& stops, unsigned lane) {
  const std::uint32_t segment_begin = lane * kLz4SegmentBytes;
  SharedBytes segment = bytes;
  segment.address += segment_begin;
  SegmentExits<Links::Word> exits(&sh.exits[0][lane]);
  if (end >= kStagedBytes)
    find_lz4_exits<Links, false>(segment, 0, exits);
  else
    find_lz4_exits<Links, true>(segment, end > segment_begin ? end - segment_begin : 0, exits);
  __syncwarp();
  std::uint32_t entry = 0;
#pragma unroll 8
  for (std::uint32_t i = 0; i < kLz4SegmentsPerWindow; ++i) {
    if (lane == 0) sh.entries[i] = static_cast<std::uint16_t>(entry);
    entry = entry < kLz4SegmentBytes ? sh.exits[entry][i] & Links::kExitMask : entry - kLz4SegmentBytes;
  }
  __syncwarp();
  std::uint32_t position = sh.entries[lane];
  const std::uint32_t exit = exits.get_if(position < kLz4SegmentBytes, position, 0);
  const unsigned stopped = __ballot_sync(kAllLanes, (exit & Links::kExitStops) != 0);
  stops = stopped != 0;
  after = kLz4WindowBytes + entry;
  if (stops) {
    const int last = __ffs(static_cast<int>(stopped)) - 1;
    after = __shfl_sync(kAllLanes, segment_begin + (exit & (Links::kExitStops - 1)), last);
  }
  std::uint32_t count = exit >> Links::kExitBits;
  const std::uint32_t up_to_lane = sum_up_to_lane(count, lane);
  for (std::uint16_t* sh_token = sh.tokens + (up_to_lane - count); count != 0; --count) {
    *sh_token++ = static_cast<std::uint16_t>(segment_begin + position);
    position = next_lz4_sequence<Links>(segment, position);
  }
  __syncwarp();
  return __shfl_sync(kAllLanes, up_to_lane, 31);
}

// What a group of sequences writes together.
struct Group {
  std::uint8_t* d_output;
  std::uint32_t bytes;
  // Of this lane's sequences, from d_output on.
  std::uint32_t literal_begins[kLaneSequences], match_begins[kLaneSequences];
};

// The bytes of a tile of kStripes stripes whose sources lie in it: source >= 0, counted from the tile's first byte.
// The others have their `value` already.
template <unsigned kStripes>
__device__ inline void resolve_tile(std::uint8_t* sh_tile, std::uint32_t (&value)[kStripes],
                                    const std::int32_t (&source)[kStripes], unsigned lane) {
#pragma unroll
  for (unsigned stripe = 0; stripe < kStripes; ++stripe) {
    const std::int32_t stripe_begin = 32 * static_cast<std::int32_t>(stripe);
    if (source[stripe] >= 0 && source[stripe] < stripe_begin) value[stripe] = sh_tile[source[stripe]];
    const bool waits = source[stripe] >= stripe_begin;
    if (__any_sync(kAllLanes, waits)) {
      std::int32_t root = waits ? source[stripe] - stripe_begin : static_cast<std::int32_t>(lane);
#pragma unroll
      for (unsigned i = 0; i < 5; ++i) root = __shfl_sync(kAllLanes, root, root);
      value[stripe] = __shfl_sync(kAllLanes, value[stripe], root);
    }
    sh_tile[stripe_begin + static_cast<std::int32_t>(lane)] = static_cast<std::uint8_t>(value[stripe]);
    __syncwarp();
  }
}

// Writes a tile of a part: kStripes stripes from sh_stripes on, which have `bytes` bytes; kIsFull: all of them.
template <unsigned kStripes, bool kIsFull>
__device__ inline void write_tile(std::uint8_t* d_tile, std::uint32_t bytes, const Lz4Stripe* sh_stripes,
                                  const std::int64_t* sh_pieces, std::uint8_t* sh_tile, unsigned lane) {
  const std::uint32_t up_to_lane = 0xFFFFFFFFu >> (31 - lane);
  std::uint32_t pieces[kStripes];
#pragma unroll
  for (unsigned s = 0; s < kStripes; ++s) {
    const Lz4Stripe stripe = sh_stripes[s];
    pieces[s] = stripe.pieces_before + static_cast<std::uint32_t>(__popc(stripe.starts & up_to_lane));
  }
  asm("" : "+l"(d_tile));  // one address, not a sum computed anew for each stripe
  std::uint32_t values[kStripes];
  // Sources in the tile, from its first byte on; -1: elsewhere.
  std::int32_t waits_for[kStripes], no_one_waits = -1;
#pragma unroll
  for (unsigned s = 0; s < kStripes; ++s) {
    const std::uint64_t source = static_cast<std::uint64_t>(sh_pieces[pieces[s]]) + (32 * s + lane);
    // Sources of literals are never in the output, so a source between the tile's first byte and this one is that of a match.
    const bool is_waiting = source < 32 * s + lane && (kIsFull || 32 * s + lane < bytes);
    waits_for[s] = is_waiting ? static_cast<std::int32_t>(source) : -1;
    asm("" : "+r"(waits_for[s]));  // compared once
    no_one_waits &= waits_for[s];
    values[s] = load_byte_if(waits_for[s] < 0 && (kIsFull || 32 * s + lane < bytes), d_tile + source);
  }
  if (__any_sync(kAllLanes, no_one_waits != -1)) resolve_tile<kStripes>(sh_tile, values, waits_for, lane);
#pragma unroll
  for (unsigned s = 0; s < kStripes; ++s)
    if (kIsFull || 32 * s + lane < bytes) store_byte(d_tile + 32 * s + lane, values[s]);
  __syncwarp();
}

// Writes what the group's pieces describe, in parts; for each part, the stripes are prepared first.
__device__ inline void write_group(const Group& group, WarpMemory& sh, unsigned lane) {
  std::uint32_t pieces_before = 0xFFFFFFFFu;  // one less
  for (std::uint32_t part_begin = 0; part_begin < group.bytes; part_begin += kPartBytes) {
    sh.stripes[lane].starts = 0;
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < kLaneSequences; ++i) {
      const std::uint32_t literal_at = group.literal_begins[i] - part_begin;
      const std::uint32_t match_at = group.match_begins[i] - part_begin;
      if (literal_at < kPartBytes && literal_at != match_at)
        atomicOr(&sh.stripes[literal_at / 32].starts, 1u << literal_at % 32);
      if (match_at < kPartBytes) atomicOr(&sh.stripes[match_at / 32].starts, 1u << match_at % 32);
    }
    __syncwarp();
    const auto count = static_cast<std::uint32_t>(__popc(sh.stripes[lane].starts));
    const std::uint32_t up_to_lane = sum_up_to_lane(count, lane);
    sh.stripes[lane].pieces_before = pieces_before + up_to_lane - count;
    pieces_before += __shfl_sync(kAllLanes, up_to_lane, 31);
    __syncwarp();

    const std::uint32_t part_bytes = min(kPartBytes, group.bytes - part_begin);
    std::uint8_t* d_part = group.d_output + part_begin;
    std::uint32_t begin = 0;
    for (; begin + kTileBytes <= part_bytes; begin += kTileBytes)
      write_tile<kLz4TileStripes, true>(d_part + begin, kTileBytes, sh.stripes + begin / 32, sh.pieces,
                                        sh.tile, lane);
    const std::uint32_t rest = part_bytes - begin;
    if (rest > kTileBytes / 2)
      write_tile<kLz4TileStripes, false>(d_part + begin, rest, sh.stripes + begin / 32, sh.pieces, sh.tile,
                                         lane);
    else if (rest != 0)
      write_tile<kLz4TileStripes / 2, false>(d_part + begin, rest, sh.stripes + begin / 32, sh.pieces,
                                             sh.tile, lane);
  }
}

// The first sequence of a group that does not fit or reaches too far: where it begins in the window, and where it would have
// written, counted from the group's first byte. `written` is the output's size before the group.
struct WrongSequence {
  std::uint32_t token, begin;
};
constexpr std::uint32_t kNothingWrong = 0xFFFFFFFF;

__device__ inline WrongSequence find_wrong(SharedBytes bytes, const WarpMemory& sh, const Group& group,
                                           std::uint32_t own_first, std::uint32_t count, std::uint32_t reach,
                                           std::uint32_t written) {
  WrongSequence wrong{kNothingWrong, 0};
#pragma unroll
  for (unsigned i = 0; i < kLaneSequences; ++i) {
    if (own_first + i >= count || wrong.token != kNothingWrong) continue;
    const std::uint32_t token = sh.tokens[own_first + i];
    const Lz4LinkedSequence sequence = read_lz4_sequence<Links>(bytes, token);
    if (sequence.offset - 1 >= reach + group.match_begins[i] ||
        written + group.match_begins[i] + sequence.match_length > sh.chunk.capacity)
      wrong = {token, group.literal_begins[i]};
  }
  const int first = __ffs(static_cast<int>(__ballot_sync(kAllLanes, wrong.token != kNothingWrong))) - 1;
  return {__shfl_sync(kAllLanes, wrong.token, first), __shfl_sync(kAllLanes, wrong.begin, first)};
}

// Restores the part of a window that groups can restore; `place` moves on. True if the sequence at `place` is left to
// restore_lz4_sequence.
__device__ bool restore_window(WarpMemory& sh, Lz4Place& place, unsigned lane) {
  const Lz4Chunk& chunk = sh.chunk;
  const std::uint32_t window_begin = place.read, end = chunk.block_bytes - window_begin;
  if (lane == 0) trace_mark(kTraceRestoreWindow, window_begin);
  const SharedBytes bytes = stage_bytes<32, kStageVectors>(chunk, window_begin, sh.stage, lane);
  __syncwarp();
  // Long literal runs may follow each other: then the chain stops at once. (After the block, any answer is right.)
  bool stops = bytes(0) >= kLz4NibbleMax << 4 && bytes(1) == 255;
  std::uint32_t count = 0, after = 0;
  if (!stops) count = find_tokens(bytes, end, sh, after, stops, lane);
  const std::uint8_t* d_window = chunk.d_block + window_begin;
  const std::uint32_t reach_before = min(chunk.history_bytes, kLz4MaxOffset);
  for (std::uint32_t first = 0; first < count; first += kGroupSequences) {
    const std::uint32_t own_first = first + lane * kLaneSequences;
    Lz4LinkedSequence sequences[kLaneSequences];
    // The bytes written and the number of pieces, in one sum.
    std::uint32_t own_sums = 0;
#pragma unroll
    for (unsigned i = 0; i < kLaneSequences; ++i) {
      if (own_first + i < count) sequences[i] = read_lz4_sequence<Links>(bytes, sh.tokens[own_first + i]);
      own_sums += (sequences[i].literal_count + sequences[i].match_length) << kPieceBits |
                  (sequences[i].literal_count == 0 ? 1u : 2u);
    }
    const std::uint32_t sums_up_to_lane = sum_up_to_lane(own_sums, lane);

    std::uint8_t* d_output = chunk.d_output + place.written;
    Group group{d_output, 0, {}, {}};
    std::uint32_t sums = sums_up_to_lane - own_sums;
    group.bytes = __shfl_sync(kAllLanes, sums_up_to_lane >> kPieceBits, 31);
    const std::uint32_t reach = reach_before + place.written;
    // Whether any does not fit, or reaches too far. Sums stay below 2^31: what was written and the history's reach are at
    // most 2^30 + 2^16, a group 2^17.
    bool is_wrong = place.written + group.bytes > chunk.capacity;
#pragma unroll
    for (unsigned i = 0; i < kLaneSequences; ++i) {
      const Lz4LinkedSequence& sequence = sequences[i];
      const std::uint32_t literal_begin = sums >> kPieceBits;
      const std::uint32_t match_begin = literal_begin + sequence.literal_count;
      const std::uint32_t piece = sums % (1u << kPieceBits);
      group.literal_begins[i] = literal_begin;
      group.match_begins[i] = match_begin;
      is_wrong |= sequence.offset - 1 >= reach + match_begin;
      if (sequence.literal_count != 0)
        sh.pieces[piece] = (d_window + sequence.literal_begin) - (d_output + literal_begin);
      sh.pieces[piece + (sequence.literal_count == 0 ? 0 : 1)] = -static_cast<std::int64_t>(sequence.offset);
      sums += (sequence.literal_count + sequence.match_length) << kPieceBits |
              (sequence.literal_count == 0 ? 1u : 2u);
    }
    WrongSequence wrong{kNothingWrong, group.bytes};
    if (__any_sync(kAllLanes, is_wrong))
      wrong = find_wrong(bytes, sh, group, own_first, count, reach, place.written);
    group.bytes = wrong.begin;
    if (chunk.d_output != nullptr) write_group(group, sh, lane);
    place.written += group.bytes;
    if (wrong.token != kNothingWrong) {
      place.read = window_begin + wrong.token;
      return true;
    }
  }
  place.read = window_begin + after;
  return stops;
}

// Mapping: a warp a block. Shared memory: 4 KB a warp. Synchronisation: inside of warps alone. Work: linear in bytes
// read and written. CPU twin: restore_lz4_block_reference.
__global__ void __launch_bounds__(32 * kLz4BlockWarps, kLz4BlockResidency)
    restore_blocks(const DeviceRestore batch) {
  __shared__ WarpMemory sh_memory[kLz4BlockWarps];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kLz4BlockWarps + threadIdx.x / 32;
  if (index >= batch.count) return;
  WarpMemory& sh = sh_memory[threadIdx.x / 32];
  Lz4Chunk chunk;
  if (!open_chunk(batch, index, chunk, lane == 0)) return;
  if (lane == 0) sh.chunk = chunk;
  __syncwarp();
  Lz4Place place;
  Lz4Progress progress = Lz4Progress::kGoesOn;
  while (progress == Lz4Progress::kGoesOn) {
    const bool is_left = restore_window(sh, place, lane);
    __syncwarp();
    if (is_left) progress = restore_lz4_sequence(sh.chunk, place, lane);
  }
  if (lane == 0) close_chunk(batch, index, progress, place.written);
}

constexpr KernelBudget kBlocksBudget("lz4_restore.blocks", "restore_blocks",
                                     {.threads = 32 * kLz4BlockWarps,
                                      .registers = 65536 / (32 * kLz4BlockWarps * kLz4BlockResidency),
                                      .shared_bytes = sizeof(WarpMemory) * kLz4BlockWarps});
const KernelRegistration kBlocksRegistration(kBlocksBudget, restore_blocks);

}  // namespace

void restore_many_lz4_blocks_cuda(const DeviceRestore& batch, cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((batch.count + kLz4BlockWarps - 1) / kLz4BlockWarps);
  launch({.kernel = kBlocksBudget, .grid = grid, .stream = stream}, restore_blocks, batch);
}

}  // namespace hemstitch::cuda
