// Restoration of LZ4 blocks larger than pages.
//
// A warp works through a block by windows of about 1 KB of input. For each it
//   1. loads the window into shared memory,
//   2. finds where sequences begin, 32 segments at once (lz4_segment.hpp), and lists the places,
//   3. takes 128 sequences at a time, a group, four a lane: sizes, checks, and a prefix sum of what they write,
//   4. writes what the group says: parts of 1 KB, in tiles of 128 bytes, of four stripes, a byte a lane and stripe.
//
// Sequences cover the output in pieces: literals, match, literals, match, ... (a piece of no literals is left out). For a
// part, every piece sets the bit of the byte that it begins at. So the number of bits up to a byte is the number of its
// piece, and sh.pieces says how far away that piece's sources lie: in the block for literals, in the output for a match.
// A tile gathers the sources of all its bytes at once. Those inside of the tile itself wait: they are resolved stripe by
// stripe, and inside of a stripe by letting every byte point to its source's source until all point to known ones.
//
// What chains leave out (the last sequence, long lengths) and what a check finds wrong is given to restore_lz4_sequence,
// which alone decides statuses.
#include "device/cuda/kernel_registry.hpp"
#include "device/cuda/launch.hpp"
#include "format/lz4/lz4_restore_blocks_cuda.hpp"
#include "format/lz4/lz4_restore_blocks_tuning.hpp"
#include "format/lz4/lz4_restore_chunk.cuh"
#include "format/lz4/lz4_segment.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kVectorBytes = 16;
constexpr std::uint32_t kStageVectors = 64;  // two a lane
constexpr std::uint32_t kStageBytes = kStageVectors * kVectorBytes;
static_assert(kLz4WindowBytes + kVectorBytes <= kStageBytes, "a window is staged at any alignment");
constexpr std::uint32_t kTileBytes = 32 * kLz4TileStripes;
constexpr std::uint32_t kPartStripes = 32;  // a lane prepares one
constexpr std::uint32_t kPartBytes = 32 * kPartStripes;
static_assert(kPartBytes % kTileBytes == 0);
constexpr std::uint32_t kMaxOffset = 65535;
// Sequences that a lane takes at a time, one behind the other.
constexpr std::uint32_t kLaneSequences = 4;
constexpr std::uint32_t kGroupSequences = 32 * kLaneSequences;
// A word holds the bytes that a group writes and the number of its pieces.
constexpr unsigned kPieceBits = 9;
static_assert(2 * kGroupSequences < 1u << kPieceBits);
static_assert(std::uint64_t{2} * kGroupSequences * kLz4LinkedLengthBytes << kPieceBits < std::uint64_t{1}
                                                                                             << 32);

// A stripe of output: where pieces begin, and how many began before it, less one.
struct Stripe {
  std::uint32_t starts, pieces_before;
};

// What a warp needs of shared memory.
struct WarpMemory {
  uint4 stage[kStageVectors];
  union {
    std::uint16_t exits[kLz4SegmentBytes][kLz4SegmentsPerWindow];  // of a position in each segment
    std::int64_t pieces[2 * kGroupSequences];
  };
  Stripe stripes[kPartStripes];
  std::uint16_t entries[kLz4SegmentsPerWindow];  // where each segment is entered
  alignas(8) std::uint16_t tokens[kLz4WindowSequences];
  std::uint8_t tile[kTileBytes];
};
static_assert(kLz4WindowSequences % kLaneSequences == 0);

// The bytes of a window: staged, or where the stage ends, in the block itself.
struct WindowBytes {
  const std::uint8_t* sh_window;
  const std::uint8_t* d_window;
  std::uint32_t staged_bytes;

  __device__ std::uint32_t operator()(std::uint32_t position) const {
    return position < staged_bytes ? sh_window[position] : d_window[position];
  }
};

// Stages the block's bytes from window_begin on, in aligned vectors; only those at the ends of the block byte by byte.
__device__ WindowBytes load_window(const Lz4Chunk& chunk, std::uint32_t window_begin, uint4* sh_stage,
                                   unsigned lane) {
  const std::uint8_t* d_window = chunk.d_block + window_begin;
  const auto shift = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_window) % kVectorBytes);
  // From the first vector on: where the block's bytes lie. Negative before the block.
  const std::int32_t inside_begin =
      static_cast<std::int32_t>(shift) - static_cast<std::int32_t>(window_begin);
  const std::int32_t inside_end = static_cast<std::int32_t>(shift + (chunk.block_bytes - window_begin));
#pragma unroll
  for (unsigned round = 0; round < kStageVectors / 32; ++round) {
    const unsigned vector = round * 32 + lane;
    const auto begin = static_cast<std::int32_t>(vector * kVectorBytes);
    const std::uint8_t* d_vector = d_window - shift + begin;
    if (begin >= inside_begin && begin + static_cast<std::int32_t>(kVectorBytes) <= inside_end) {
      sh_stage[vector] = __ldg(reinterpret_cast<const uint4*>(d_vector));
    } else {
      auto* sh_bytes = reinterpret_cast<std::uint8_t*>(sh_stage + vector);
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(kVectorBytes); ++i)
        if (begin + i >= inside_begin && begin + i < inside_end) sh_bytes[i] = d_vector[i];
    }
  }
  __syncwarp();
  return {reinterpret_cast<const std::uint8_t*>(sh_stage) + shift, d_window, kStageBytes - shift};
}

__device__ inline std::uint32_t sum_up_to_lane(std::uint32_t value, unsigned lane) {
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t before = __shfl_up_sync(kAllLanes, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// Bytes of the device's memory, which others of the warp may have written before.
__device__ inline std::uint32_t load_byte(const std::uint8_t* d_byte) {
  std::uint32_t value;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(d_byte)) : "memory");
  return value;
}
__device__ inline void store_byte(std::uint8_t* d_byte, std::uint32_t value) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(__cvta_generic_to_global(d_byte)), "r"(value) : "memory");
}

// A segment of the window as lz4_segment.hpp wants it.
struct SegmentBytes {
  const std::uint8_t* sh_segment;
  __device__ std::uint32_t operator()(std::uint32_t position) const { return sh_segment[position]; }
};
struct SegmentExits {
  std::uint16_t* sh_exits;
  __device__ std::uint32_t get(std::uint32_t position) const {
    return sh_exits[position * kLz4SegmentsPerWindow];
  }
  __device__ void set(std::uint32_t position, std::uint32_t exit) {
    sh_exits[position * kLz4SegmentsPerWindow] = static_cast<std::uint16_t>(exit);
  }
};

// The sequences of a window whose first token is at its first byte: where they begin, in order, in sh.tokens. `after` is
// the position behind the last one, and `stops` says that the sequence there is left to others.
__device__ inline std::uint32_t find_tokens(const WindowBytes& bytes, std::uint32_t end, WarpMemory& sh,
                                            std::uint32_t& after, bool& stops, unsigned lane) {
  const std::uint32_t segment_begin = lane * kLz4SegmentBytes;
  const SegmentBytes segment{bytes.sh_window + segment_begin};
  SegmentExits exits{&sh.exits[0][lane]};
  find_lz4_exits(segment, bytes.staged_bytes - segment_begin, end > segment_begin ? end - segment_begin : 0,
                 exits);
  __syncwarp();
  std::uint32_t entry = 0;
#pragma unroll 8
  for (std::uint32_t i = 0; i < kLz4SegmentsPerWindow; ++i) {
    if (lane == 0) sh.entries[i] = static_cast<std::uint16_t>(entry);
    entry = entry < kLz4SegmentBytes ? sh.exits[entry][i] & kLz4ExitMask : entry - kLz4SegmentBytes;
  }
  __syncwarp();
  std::uint32_t position = sh.entries[lane];
  const std::uint32_t exit = position < kLz4SegmentBytes ? exits.get(position) : 0;
  const unsigned stopped = __ballot_sync(kAllLanes, (exit & kLz4ExitStops) != 0);
  stops = stopped != 0;
  after = kLz4WindowBytes + entry;
  if (stops) {
    const int last = __ffs(static_cast<int>(stopped)) - 1;
    after = __shfl_sync(kAllLanes, segment_begin + (exit & (kLz4ExitStops - 1)), last);
  }
  std::uint32_t count = exit >> kLz4ExitBits;
  const std::uint32_t up_to_lane = sum_up_to_lane(count, lane);
  for (std::uint16_t* sh_token = sh.tokens + (up_to_lane - count); count != 0; --count) {
    *sh_token++ = static_cast<std::uint16_t>(segment_begin + position);
    position = next_lz4_sequence(segment, position);
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
// `value` of the others is there already.
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

// Writes a tile of a part: kStripes stripes from sh_stripes on, of which `bytes` bytes are there.
template <unsigned kStripes>
__device__ inline void write_tile(std::uint8_t* d_tile, std::uint32_t bytes, const Stripe* sh_stripes,
                                  const std::int64_t* sh_pieces, std::uint8_t* sh_tile, unsigned lane) {
  const std::uint32_t up_to_lane = 0xFFFFFFFFu >> (31 - lane);
  std::uint8_t* d_lane = d_tile + lane;
  std::uint32_t value[kStripes];
  std::int32_t source[kStripes];
  bool waits = false;
#pragma unroll
  for (unsigned s = 0; s < kStripes; ++s) {
    const Stripe stripe = sh_stripes[s];
    const std::int64_t distance =
        sh_pieces[stripe.pieces_before + static_cast<std::uint32_t>(__popc(stripe.starts & up_to_lane))];
    const bool is_inside = 32 * s + lane < bytes;
    // Literals never lie in the output, so what points between the tile's first byte and this one is a match.
    const std::uint64_t at = 32 * s + lane, in_tile = at + static_cast<std::uint64_t>(distance);
    const bool is_waiting = is_inside && in_tile < at;
    source[s] = is_waiting ? static_cast<std::int32_t>(in_tile) : -1;
    value[s] = 0;
    if (is_inside && !is_waiting) value[s] = load_byte(d_lane + 32 * s + distance);
    waits |= is_waiting;
  }
  if (__any_sync(kAllLanes, waits)) resolve_tile<kStripes>(sh_tile, value, source, lane);
#pragma unroll
  for (unsigned s = 0; s < kStripes; ++s)
    if (32 * s + lane < bytes) store_byte(d_lane + 32 * s, value[s]);
  __syncwarp();
}

// Writes what the group's pieces say, in parts, for each of which the stripes are prepared first.
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
    for (; begin + kTileBytes / 2 < part_bytes; begin += kTileBytes)
      write_tile<kLz4TileStripes>(d_part + begin, part_bytes - begin, sh.stripes + begin / 32, sh.pieces,
                                  sh.tile, lane);
    if (begin < part_bytes)
      write_tile<kLz4TileStripes / 2>(d_part + begin, part_bytes - begin, sh.stripes + begin / 32, sh.pieces,
                                      sh.tile, lane);
  }
}

// Restores what of a window can be restored by groups; `place` moves on. True where the sequence at `place` is left to
// restore_lz4_sequence.
__device__ bool restore_window(const Lz4Chunk& chunk, WarpMemory& sh, Lz4Place& place, unsigned lane) {
  const std::uint32_t window_begin = place.read, end = chunk.block_bytes - window_begin;
  const WindowBytes bytes = load_window(chunk, window_begin, sh.stage, lane);
  std::uint32_t after;
  bool stops;
  const std::uint32_t count = find_tokens(bytes, end, sh, after, stops, lane);
  const std::uint32_t reach_before = min(chunk.history_bytes, kMaxOffset);
  for (std::uint32_t first = 0; first < count; first += kGroupSequences) {
    const std::uint32_t own_first = first + lane * kLaneSequences;
    Lz4LinkedSequence sequences[kLaneSequences];
    // What is written, and the number of pieces, in one sum.
    std::uint32_t own_sums = 0;
#pragma unroll
    for (unsigned i = 0; i < kLaneSequences; ++i) {
      if (own_first + i < count) sequences[i] = read_lz4_sequence(bytes, sh.tokens[own_first + i]);
      own_sums += (sequences[i].literal_count + sequences[i].match_length) << kPieceBits |
                  (sequences[i].literal_count == 0 ? 1u : 2u);
    }
    const std::uint32_t sums_up_to_lane = sum_up_to_lane(own_sums, lane);

    std::uint8_t* d_output = chunk.d_output + place.written;
    Group group{d_output, 0, {}, {}};
    std::uint32_t sums = sums_up_to_lane - own_sums;
    // The first sequence that does not fit or reaches too far.
    bool is_wrong = false;
    std::uint32_t wrong_begin = 0, wrong_index = 0;
#pragma unroll
    for (unsigned i = 0; i < kLaneSequences; ++i) {
      const Lz4LinkedSequence& sequence = sequences[i];
      const std::uint32_t literal_begin = sums >> kPieceBits;
      const std::uint32_t match_begin = literal_begin + sequence.literal_count;
      const std::uint32_t piece = sums % (1u << kPieceBits);
      group.literal_begins[i] = literal_begin;
      group.match_begins[i] = match_begin;
      // Sums stay below 2^31: what was written and the history's reach are at most 2^30 + 2^16, a group 2^18.
      if (!is_wrong && own_first + i < count &&
          (sequence.offset - 1 >= reach_before + place.written + match_begin ||
           place.written + match_begin + sequence.match_length > chunk.capacity)) {
        is_wrong = true;
        wrong_begin = literal_begin;
        wrong_index = own_first + i;
      }
      if (sequence.literal_count != 0)
        sh.pieces[piece] = (bytes.d_window + sequence.literal_begin) - (d_output + literal_begin);
      sh.pieces[piece + (sequence.literal_count == 0 ? 0 : 1)] = -static_cast<std::int64_t>(sequence.offset);
      sums += (sequence.literal_count + sequence.match_length) << kPieceBits |
              (sequence.literal_count == 0 ? 1u : 2u);
    }
    const unsigned wrongs = __ballot_sync(kAllLanes, is_wrong);
    const int first_wrong = wrongs == 0 ? 31 : __ffs(static_cast<int>(wrongs)) - 1;
    group.bytes =
        __shfl_sync(kAllLanes, wrongs == 0 ? sums_up_to_lane >> kPieceBits : wrong_begin, first_wrong);
    if (chunk.d_output != nullptr) write_group(group, sh, lane);
    place.written += group.bytes;
    if (wrongs != 0) {
      place.read = window_begin + sh.tokens[__shfl_sync(kAllLanes, wrong_index, first_wrong)];
      return true;
    }
  }
  place.read = window_begin + after;
  return stops;
}

// Mapping: a warp a block. Shared memory: 4 KB a warp. Synchronisation: inside of warps alone. Work: linear in bytes
// read and written. CPU twin: decode_lz4_block_reference.
__global__ void __launch_bounds__(32 * kLz4BlockWarps, kLz4BlockResidency)
    restore_blocks(const DeviceLz4Restore batch) {
  __shared__ WarpMemory sh_memory[kLz4BlockWarps];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kLz4BlockWarps + threadIdx.x / 32;
  if (index >= batch.count) return;
  Lz4Chunk chunk;
  if (!open_chunk(batch, index, chunk, lane == 0)) return;
  Lz4Place place;
  Lz4Progress progress = Lz4Progress::kGoesOn;
  while (progress == Lz4Progress::kGoesOn) {
    const bool is_left = restore_window(chunk, sh_memory[threadIdx.x / 32], place, lane);
    __syncwarp();
    if (is_left) progress = restore_lz4_sequence(chunk, place, lane);
  }
  if (lane == 0) close_chunk(batch, index, progress, place.written);
}

constexpr KernelBudget kBlocksBudget("lz4_restore.blocks", "restore_blocks",
                                     {.threads = 32 * kLz4BlockWarps,
                                      .registers = 65536 / (32 * kLz4BlockWarps * kLz4BlockResidency),
                                      .shared_bytes = sizeof(WarpMemory) * kLz4BlockWarps});
const KernelRegistration kBlocksRegistration(kBlocksBudget, restore_blocks);

}  // namespace

void restore_lz4_blocks_cuda(const DeviceLz4Restore& batch, cudaStream_t stream) {
  const auto grid = static_cast<unsigned>((batch.count + kLz4BlockWarps - 1) / kLz4BlockWarps);
  launch({.kernel = kBlocksBudget, .grid = grid, .stream = stream}, restore_blocks, batch);
}

}  // namespace hemstitch::cuda
