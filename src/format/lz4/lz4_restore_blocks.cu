// Restoration of LZ4 blocks larger than pages.
//
// A warp works through a block by windows of about 1 KB of input. For each it
//   1. loads the window into shared memory,
//   2. finds where sequences begin, 32 segments at once (lz4_segment.hpp), and lists the places,
//   3. takes 32 sequences at a time, one a lane: sizes, checks, and a prefix sum of what they write,
//   4. writes what these 32 say, in tiles of 128 bytes, a byte a lane and stripe.
//
// A tile. Sequences cover the output in pieces: literals, match, literals, match, ... Every lane knows where its two
// pieces begin; one bit each, put together over the warp, gives for a stripe of 32 bytes a word of literal starts and
// one of match starts. The number of bits up to a byte is the number of its piece, and sh_pieces[piece] the distance to
// its source: in the block for literals (even), in the output for matches (odd). The sources of all stripes are
// gathered at once. Those inside of the tile itself wait: they are resolved stripe by stripe, and inside of a stripe by
// letting every byte point to its source's source until all point to bytes that are known.
//
// What a walk leaves out (the last sequence, long lengths) and what a check finds wrong is given to
// restore_lz4_sequence, which alone decides statuses.
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
constexpr std::uint32_t kMaxOffset = 65535;

// What a warp needs of shared memory.
struct WarpMemory {
  uint4 stage[kStageVectors];
  std::int32_t pieces[64];
  std::uint16_t tokens[kLz4WindowSequences];
  std::uint8_t tile[kTileBytes];
};

// The bytes of a window: staged, or where the stage ends, in the block itself.
struct WindowBytes {
  const std::uint8_t* sh_window;
  const std::uint8_t* d_window;
  std::uint32_t staged_bytes;

  __device__ std::uint32_t near(std::uint32_t position) const { return sh_window[position]; }
  __device__ std::uint32_t operator()(std::uint32_t position) const {
    return position < staged_bytes ? sh_window[position] : d_window[position];
  }
};

// Loads what follows `d_window`, up to d_end, in aligned vectors; only those at the ends of the block byte by byte.
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

__device__ inline std::uint32_t warp_or(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kAllLanes, value);
#else
  for (unsigned distance = 16; distance > 0; distance /= 2)
    value |= __shfl_xor_sync(kAllLanes, value, distance);
  return value;
#endif
}

// 1 << place, and 0 for a place outside of the word.
__device__ inline std::uint32_t bit_at(std::uint32_t place) {
  std::uint32_t bit;
  asm("shl.b32 %0, 1, %1;" : "=r"(bit) : "r"(place));
  return bit;
}

// The sequences of a window whose first token is at its first byte: where they begin, in order, in sh_tokens.
// Returns their number; `after` is the exit behind the last one.
__device__ std::uint32_t find_tokens(const WindowBytes& bytes, std::uint32_t end, std::uint16_t* sh_tokens,
                                     std::uint32_t& after, unsigned lane) {
  Lz4Segment segment;
  segment.begin = lane * kLz4SegmentBytes;
  segment.end = segment.begin + kLz4SegmentBytes;
  segment.entry = segment.begin;
  segment.starts = 0;
  walk_lz4_segment(bytes, end, segment);
  for (;;) {
    const std::uint32_t exit_before = __shfl_up_sync(kAllLanes, segment.exit, 1);
    const bool changes = lane != 0 && exit_before != segment.entry;
    if (__ballot_sync(kAllLanes, changes) == 0) break;
    if (changes) {
      segment.entry = exit_before;
      walk_lz4_segment(bytes, end, segment);
    }
    __syncwarp();
  }
  after = __shfl_sync(kAllLanes, segment.exit, 31);
  const auto count = static_cast<std::uint32_t>(__popc(segment.starts));
  const std::uint32_t up_to_lane = sum_up_to_lane(count, lane);
  std::uint32_t index = up_to_lane - count;
  for (std::uint32_t starts = segment.starts; starts != 0; starts &= starts - 1)
    sh_tokens[index++] = static_cast<std::uint16_t>(
        segment.begin + static_cast<std::uint32_t>(__ffs(static_cast<int>(starts))) - 1);
  __syncwarp();
  return __shfl_sync(kAllLanes, up_to_lane, 31);
}

// Where the pieces of 32 sequences, one a lane, lie in what these write together.
struct Group {
  const std::uint8_t* d_literals;  // sources of literals count from here
  std::uint8_t* d_output;          // where the first sequence writes
  std::uint32_t bytes;
  std::uint32_t literal_begin, match_begin;  // of this lane
};

// The bytes of a tile whose sources lie in it: `value` of the others is there.
__device__ inline void resolve_tile(std::uint8_t* sh_tile, std::uint32_t (&value)[kLz4TileStripes],
                                    const std::int32_t (&source)[kLz4TileStripes], unsigned lane) {
#pragma unroll
  for (unsigned stripe = 0; stripe < kLz4TileStripes; ++stripe) {
    const std::int32_t stripe_begin = 32 * static_cast<std::int32_t>(stripe);
    // Sources outside of the tile are marked by a negative number.
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

__device__ void write_group(const Group& group, const std::int32_t* sh_pieces, std::uint8_t* sh_tile,
                            unsigned lane) {
  const std::uint32_t up_to_lane = 0xFFFFFFFFu >> (31 - lane);
  int pieces_before = -1;
  for (std::uint32_t tile_begin = 0; tile_begin < group.bytes; tile_begin += kTileBytes) {
    std::uint32_t value[kLz4TileStripes];
    std::int32_t source[kLz4TileStripes];  // in the tile; negative: elsewhere, and loaded
    bool waits = false;
#pragma unroll
    for (unsigned stripe = 0; stripe < kLz4TileStripes; ++stripe) {
      const std::uint32_t begin = tile_begin + 32 * stripe;
      const std::uint32_t literal_starts = warp_or(bit_at(group.literal_begin - begin));
      const std::uint32_t match_starts = warp_or(bit_at(group.match_begin - begin));
      const int piece =
          pieces_before + __popc(literal_starts & up_to_lane) + __popc(match_starts & up_to_lane);
      pieces_before += __popc(literal_starts) + __popc(match_starts);
      const std::uint32_t at = begin + lane;
      source[stripe] = -1;
      value[stripe] = 0;
      if (at < group.bytes) {
        const std::int32_t from = static_cast<std::int32_t>(at) + sh_pieces[piece];
        const bool is_match = piece % 2 != 0;
        const std::int32_t in_tile = from - static_cast<std::int32_t>(tile_begin);
        if (is_match && in_tile >= 0) {
          source[stripe] = in_tile;
          waits = true;
        } else {
          value[stripe] = (is_match ? group.d_output : group.d_literals)[from];
        }
      }
    }
    if (__any_sync(kAllLanes, waits)) resolve_tile(sh_tile, value, source, lane);
#pragma unroll
    for (unsigned stripe = 0; stripe < kLz4TileStripes; ++stripe) {
      const std::uint32_t at = tile_begin + 32 * stripe + lane;
      if (at < group.bytes) group.d_output[at] = static_cast<std::uint8_t>(value[stripe]);
    }
    __syncwarp();
  }
}

// Restores what of a window can be restored by groups; `place` moves on. True where the sequence at `place` is left to
// restore_lz4_sequence.
__device__ bool restore_window(const Lz4Chunk& chunk, WarpMemory& sh, Lz4Place& place, unsigned lane) {
  const std::uint32_t window_begin = place.read, end = chunk.block_bytes - window_begin;
  const WindowBytes bytes = load_window(chunk, window_begin, sh.stage, lane);
  std::uint32_t after;
  const std::uint32_t count = find_tokens(bytes, end, sh.tokens, after, lane);
  const std::uint32_t reach_before = min(chunk.history_bytes, kMaxOffset);
  for (std::uint32_t first = 0; first < count; first += 32) {
    const bool active = first + lane < count;
    Lz4WalkedSequence sequence{};
    std::uint32_t token = 0, offset = 1;
    if (active) {
      token = sh.tokens[first + lane];
      walk_lz4_sequence(bytes, token, end, sequence);
      offset = bytes(sequence.offset_at) | bytes(sequence.offset_at + 1) << 8;
    }
    const std::uint32_t writes = sequence.literal_count + sequence.match_length;
    const std::uint32_t up_to_lane = sum_up_to_lane(writes, lane);
    const std::uint32_t literal_begin = up_to_lane - writes;
    const std::uint32_t match_begin = literal_begin + sequence.literal_count;
    // Sums stay below 2^31: what was written and the history's reach are at most 2^30 + 2^16, a group 2^18.
    const bool wrong = active && (offset - 1 >= reach_before + place.written + match_begin ||
                                  place.written + up_to_lane > chunk.capacity);
    const unsigned wrongs = __ballot_sync(kAllLanes, wrong);
    const unsigned last = wrongs == 0 ? 31 : static_cast<unsigned>(__ffs(static_cast<int>(wrongs))) - 1;
    const std::uint32_t group_bytes =
        __shfl_sync(kAllLanes, wrongs == 0 ? up_to_lane : literal_begin, static_cast<int>(last));
    if (chunk.d_output != nullptr) {
      sh.pieces[2 * lane] =
          static_cast<std::int32_t>(sequence.literal_begin) - static_cast<std::int32_t>(literal_begin);
      sh.pieces[2 * lane + 1] = -static_cast<std::int32_t>(offset);
      __syncwarp();
      write_group({bytes.d_window, chunk.d_output + place.written, group_bytes, literal_begin, match_begin},
                  sh.pieces, sh.tile, lane);
    }
    place.written += group_bytes;
    if (wrongs != 0) {
      place.read = window_begin + __shfl_sync(kAllLanes, token, static_cast<int>(last));
      return true;
    }
  }
  place.read = window_begin + (after & ~kLz4Stopped);
  return (after & kLz4Stopped) != 0;
}

// Mapping: a warp a block. Shared memory: 2 KB a warp. Synchronisation: inside of warps alone. Work: linear in bytes
// read and written, times at most 32 for the walks of a block that is made to mislead them. CPU twin:
// decode_lz4_block_reference.
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
