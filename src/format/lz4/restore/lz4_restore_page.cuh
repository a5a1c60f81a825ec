// Restores a page by a warp, wholly in shared memory.
//
// The block is loaded behind the place of the output, in one buffer, so that the output grows toward what is still to be
// read and never reaches it: a sequence restores at least as many bytes as it takes, except for one byte in every 255 literals and
// two at the end, and the buffer leaves more room than that.
//
//   buffer   | output .......................... |
//            |         | block .................... |
//
// 1. Walk (lz4_walk.hpp): 32 segments, one a lane, begun where sequences seem to begin, or where tables say. A page that
//    consists of literals has few sequences, and guesses there are useless: its sequences are read one after the other, 32 at a
//    time.
// 2. Unfold: each lane goes over its sequences again, now knowing where they write. Of every piece (a literal run or a
//    match) it keeps the distance from where it writes to where it reads, which for literals is negative, and sets the
//    bit of its first byte in a bitmap of the output. Here every offset and every length is checked.
// 3. Copy, 32 bytes of the output (a window) at a time, one a lane: a population count of the bitmap up to the lane's bit tells
//    to which piece the byte belongs, and the piece's distance tells where to read. Where some byte reads from its own window,
//    lanes first follow each other's sources to one outside of it, by pointer doubling: five rounds at most, whatever the period.
//    Where pieces are long, groups of windows in which none begins are copied in words.
// 4. Store.
//
// The page's last sequence goes through restore_lz4_sequence, which alone decides on statuses. A damaged page goes through
// it from its start, sequence by sequence; so does a block that is too large for any page, since it must be damaged.
#pragma once

#include <cuda_pipeline.h>

#include "core/page.hpp"
#include "format/lz4/block/lz4_walk.hpp"
#include "format/lz4/restore/lz4_restore_sequence.cuh"
#include "format/lz4/restore/lz4_restore_tuning.hpp"
#include "gpu/cuda/instructions.cuh"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kWindowBytes = 32;
inline constexpr std::uint32_t kPageWindows = kPageBytes / kWindowBytes;

// A block that restores to n bytes has at most n + n / 255 + 2 of them.
inline constexpr std::uint32_t kMostPageBlockBytes = kPageBytes + 32;
static_assert(kPageBytes + kPageBytes / 255 + 2 <= kMostPageBlockBytes);
static_assert(kMostPageBlockBytes <= kLz4MostWalkedBytes);

// The distance from the output's end to the block's end. Literals are read at least a window after the place where they are
// written, so that a window's bytes can be read and written in any order.
inline constexpr std::uint32_t kPageMarginBytes = 64;
static_assert(kPageBytes / 255 + 2 + kWindowBytes <= kPageMarginBytes);

// Where the pieces of a window are found.
struct Lz4Window {
  std::uint32_t begins;       // bit i: a piece begins with byte i
  std::int32_t piece_before;  // the piece that its first byte would belong to if none began there
};

template <std::uint32_t kPieces>
struct alignas(16) Lz4PageMemory {
  // The block's end is at most 15 bytes after its place, for its alignment. (Lanes after the output's end read bytes after the
  // buffer, and discard them.)
  std::uint8_t buffer[kPageBytes + kPageMarginBytes + 16];
  std::int16_t distances[kPieces];  // from where a piece is written back to where it is read, less one
  Lz4Window windows[kPageWindows];
};

// Adds up over the lanes before this one, and over all.
__device__ inline std::uint32_t sum_before(std::uint32_t value, std::uint32_t& total, unsigned lane) {
  std::uint32_t sum = value;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += below;
  }
  total = __shfl_sync(kAllLanes, sum, 31);
  return sum - value;
}

// Loads a page's block, or less, to shared memory of the same alignment modulo 16. Reads no byte outside the range.
__device__ inline void load_lz4_bytes(const std::uint8_t* d_from, std::uint8_t* sh_to, std::uint32_t count,
                                      unsigned lane) {
  const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_from) % 16);
  const std::uint32_t head = min((16 - misaligned) % 16, count);
  const std::uint32_t vectors = (count - head) / 16;
  const std::uint8_t* d_vectors = d_from + head + 16 * lane;
  std::uint8_t* sh_vectors = sh_to + head + 16 * lane;
  // Otherwise the compiler computes each address anew.
  asm("" : "+l"(d_vectors), "+l"(sh_vectors));
  const auto left = static_cast<std::int32_t>(lz4_opaque(vectors - lane));
#pragma unroll
  for (int i = 0; 16 * i < static_cast<int>(kMostPageBlockBytes); i += 32)
    if (i < left) __pipeline_memcpy_async(sh_vectors + 16 * i, d_vectors + 16 * i, 16);
  __pipeline_commit();
  if (lane < head) sh_to[lane] = d_from[lane];
  const std::uint32_t tail_begin = head + 16 * vectors;
  if (tail_begin + lane < count && lane < 16) sh_to[tail_begin + lane] = d_from[tail_begin + lane];
  __pipeline_wait_prior(0);
  __syncwarp();
}

// Stores at most a page's bytes, from a multiple of 16 in shared memory to global memory of any alignment. Writes no byte outside
// the range.
__device__ inline void store_lz4_bytes(const std::uint8_t* sh_from, std::uint8_t* d_to, std::uint32_t count,
                                       unsigned lane) {
  const auto address = reinterpret_cast<std::uintptr_t>(d_to);
  if (address % 16 == 0) {
    const std::uint32_t vectors = count / 16;
    const auto left = static_cast<std::int32_t>(lz4_opaque(vectors - lane));
    const auto* sh_vectors = reinterpret_cast<const uint4*>(sh_from) + lane;
    uint4* const d_vectors = reinterpret_cast<uint4*>(d_to) + lane;
#pragma unroll
    for (int i = 0; 16 * i < static_cast<int>(kPageBytes); i += 32)
      if (i < left) d_vectors[i] = sh_vectors[i];
    const std::uint32_t tail = 16 * vectors + lane;
    if (tail < count) d_to[tail] = sh_from[tail];
    return;
  }
  const std::uint32_t head = min(static_cast<std::uint32_t>(-address % 4), count);
  const std::uint32_t words = (count - head) / 4;
  const auto* sh_words = reinterpret_cast<const std::uint32_t*>(sh_from);
  auto* d_words = reinterpret_cast<std::uint32_t*>(d_to + head);
  for (std::uint32_t i = lane; i < words; i += 32)
    d_words[i] = __funnelshift_r(sh_words[i], sh_words[i + 1], 8 * head);
  if (lane < head) d_to[lane] = sh_from[lane];
  const std::uint32_t tail = head + 4 * words + lane;
  if (tail < count) d_to[tail] = sh_from[tail];
}

// Step 1: where each lane begins and what it walks over.
struct Lz4LaneWalk {
  std::uint32_t entry;
  Lz4Walk walk;
};

__device__ inline Lz4LaneWalk walk_lz4_together(const std::uint8_t* sh_bytes, std::uint32_t segment_bytes,
                                                std::uint32_t limit, unsigned lane) {
  const std::uint32_t segment_end = (lane + 1) * segment_bytes;
  const std::uint32_t end =
      lz4_opaque(min(segment_end, limit));  // otherwise it is computed anew in every step
  Lz4LaneWalk mine;
  mine.entry = lane * segment_bytes;
  if (lane != 0) mine.entry = likely_lz4_begin(sh_bytes, mine.entry, kPageBytes);
  bool walks = true;
  for (unsigned round = 0;; ++round) {
    if (walks) mine.walk = walk_lz4(sh_bytes, mine.entry, end, limit);
    const std::uint32_t entry = __shfl_up_sync(kAllLanes, mine.walk.left_at, 1);
    const bool began_wrong = lane != 0 && entry != mine.entry;
    const unsigned wrong = __ballot_sync(kAllLanes, began_wrong);
    if (wrong == 0) return mine;
    // All lanes before the first wrong one are right. Lanes after it whose segments end before the place where it should begin are
    // done: a literal run covers them, or the walk has stopped.
    const auto first = static_cast<unsigned>(__ffs(static_cast<int>(wrong))) - 1;
    const std::uint32_t right_entry = __shfl_sync(kAllLanes, entry, static_cast<int>(first));
    const bool is_covered = lane >= first && segment_end <= right_entry;
    walks = began_wrong && !is_covered && (round < kLz4GuessingRounds || lane == first);
    if (is_covered) {
      mine = {right_entry, {right_entry, 0}};
    } else if (walks) {
      mine.entry = entry;
    }
  }
}

// Step 1 by tables: a column a segment.
struct Lz4PageExits {
  static constexpr std::uint32_t kRows = lz4_exit_entries((kMostPageBlockBytes + 31) / 32);
  static constexpr std::uint32_t kRowBytes = 32 * sizeof(std::uint16_t);
  std::uint16_t exits[kRows][32];

  struct Column {
    std::uint32_t address;
    __device__ std::uint32_t get(std::uint32_t byte) const { return get_if(true, byte, 0); }
    __device__ std::uint32_t get_if(bool condition, std::uint32_t byte, std::uint32_t otherwise) const {
      return load_shared_if<std::uint16_t>(condition, address + kRowBytes * byte, otherwise);
    }
    __device__ void set(std::uint32_t byte, std::uint32_t exit) const {
      store_shared<std::uint16_t>(address + kRowBytes * byte, exit);
    }
  };
  __device__ Column column(unsigned segment) { return {shared_address(&exits[0][segment])}; }
};

__device__ inline Lz4LaneWalk walk_lz4_by_tables(const std::uint8_t* sh_bytes, std::uint32_t segment_bytes,
                                                 std::uint32_t limit, Lz4PageExits& sh_exits, unsigned lane) {
  tabulate_lz4_exits(sh_bytes, lane * segment_bytes, segment_bytes, limit, sh_exits.column(lane));
  __syncwarp();
  std::uint32_t entry = 0, own_entry = 0;
#pragma unroll 1
  for (unsigned segment = 0; segment < 32; ++segment) {
    if (segment == lane) own_entry = entry;
    entry = pass_lz4_segment(sh_bytes, entry, segment * segment_bytes, segment_bytes, limit,
                             sh_exits.column(segment));
  }
  return {own_entry, walk_lz4(sh_bytes, own_entry, min((lane + 1) * segment_bytes, limit), limit)};
}

// What a lane unfolds, and what all lanes have walked over so far.
struct Lz4PageWalk {
  std::uint32_t entry = 0, end = 0, sums_before = 0;  // sequences from `entry` on that begin before `end`
  std::uint32_t all_end = 0, all_sums = 0;            // the same in all lanes
};

// Step 1 for blocks of few, long sequences, where guesses would be useless: one after the other, the same in all lanes. Each lane
// gets one of the next 32; false if there are fewer.
__device__ inline bool walk_few_lz4(const std::uint8_t* sh_bytes, std::uint32_t limit, unsigned lane,
                                    Lz4PageWalk& walk) {
  walk.end = 0;
  for (unsigned count = 0; count < 32; ++count) {
    Lz4Step step;
    if (walk.all_end >= limit || !read_lz4_long_step(sh_bytes, walk.all_end, limit, step)) return false;
    if (count == lane) {
      walk.entry = walk.all_end;
      walk.end = step.next;
      walk.sums_before = walk.all_sums;
    }
    walk.all_end = step.next;
    walk.all_sums += lz4_sums(step.literal_count, step.match_length);
  }
  return true;
}

// Step 3 for groups of windows that belong wholly to one piece: at most kLz4GroupsTogether of them; a lane takes four bytes of each
// group. More bytes are read than written, but none after the page's memory.
template <unsigned kGroup>
__device__ inline void copy_lz4_groups(std::uint8_t* sh_buffer, std::uint32_t position, std::int32_t distance,
                                       std::uint32_t groups, unsigned lane) {
  static_assert(kGroup * kWindowBytes == 4 * 32);
  const std::uint32_t from = position + 4 * lane - static_cast<std::uint32_t>(distance) - 1;
  auto* sh_words = reinterpret_cast<std::uint32_t*>(sh_buffer);
  const std::uint32_t* const sh_from = sh_words + from / 4;
  std::uint32_t words[kLz4GroupsTogether];
#pragma unroll
  for (unsigned i = 0; i < kLz4GroupsTogether; ++i)
    words[i] = __funnelshift_r(sh_from[32 * i], sh_from[32 * i + 1], 8 * (from % 4));
  __syncwarp();
#pragma unroll
  for (unsigned i = 0; i < kLz4GroupsTogether; ++i)
    if (i < groups) sh_words[position / 4 + lane + 32 * i] = words[i];
  __syncwarp();
}

// The status of a chunk, and how far it is sound, without its bytes.
__device__ inline Lz4Progress check_lz4_chunk(const Lz4Chunk& chunk, Lz4Place& place, unsigned lane) {
  Lz4Chunk unwritten = chunk;
  unwritten.d_output = nullptr;
  place = {};
  Lz4Progress progress = Lz4Progress::kGoesOn;
  while (progress == Lz4Progress::kGoesOn) progress = restore_lz4_sequence(unwritten, place, lane);
  return progress;
}

// The warp's page. Windows are looked up kGroup at a time. Where there is room for tables, they alone find sequences.
template <std::uint32_t kPieces, unsigned kGroup>
__device__ Lz4Progress restore_lz4_page(const Lz4Chunk& chunk, Lz4PageMemory<kPieces>& sh,
                                        Lz4PageExits* sh_exits, Lz4Place& place, unsigned lane) {
  static_assert(kPageWindows % kGroup == 0 && kGroup <= 4 && kGroup * kWindowBytes < kPieces);
  if (chunk.block_bytes > kMostPageBlockBytes) return check_lz4_chunk(chunk, place, lane);

  // The block's place: where the margin puts it, then on to its alignment.
  const std::uint32_t output_end = chunk.capacity + kPageMarginBytes;
  const std::uint32_t earliest = output_end > chunk.block_bytes ? output_end - chunk.block_bytes : 0;
  const auto address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(chunk.d_block));
  const std::uint32_t block_begin = earliest + (address - earliest) % 16;
  std::uint8_t* const sh_block = sh.buffer + block_begin;
#pragma unroll
  for (std::uint32_t window = 0; window < kPageWindows; window += 32) sh.windows[window + lane].begins = 0;
  load_lz4_bytes(chunk.d_block, sh_block, chunk.block_bytes, lane);

  // Step 2. Kept are the pieces from number `first_piece` on.
  Lz4PageWalk walk;
  const auto unfold = [&](std::uint32_t first_piece) {
    std::uint32_t piece = (walk.sums_before >> kLz4PieceShift) - first_piece;
    std::uint32_t read = walk.entry, written = walk.sums_before & kLz4BytesMask;
    while (read < walk.end) {
      const Lz4Step step = read_lz4_step(sh_block, read, chunk.block_bytes);
      const std::uint32_t offset_begin = step.literals_begin + step.literal_count;
      const std::uint32_t offset_less_one =
          (sh_block[offset_begin] | static_cast<std::uint32_t>(sh_block[offset_begin + 1]) << 8) - 1;
      const std::uint32_t match_begin = written + step.literal_count;
      if (offset_less_one >= match_begin) return false;
      if (step.literal_count != 0) {
        if (piece < kPieces)
          sh.distances[piece] = static_cast<std::int16_t>(written - (block_begin + step.literals_begin) - 1);
        atomicOr(&sh.windows[written / kWindowBytes].begins, 1u << written % kWindowBytes);
        ++piece;
      }
      if (piece < kPieces) sh.distances[piece] = static_cast<std::int16_t>(offset_less_one);
      atomicOr(&sh.windows[match_begin / kWindowBytes].begins, 1u << match_begin % kWindowBytes);
      ++piece;
      read = step.next;
      written = match_begin + step.match_length;
    }
    return true;
  };

  // Few sequences are walked over and unfolded 32 at a time, unless they turn out to be many.
  bool goes_on = true;
  const bool may_be_few = sh_exits == nullptr && 16 * chunk.block_bytes >= kLz4FewSixteenths * chunk.capacity;
  for (unsigned round = may_be_few ? 0 : kLz4FewRounds; goes_on; ++round) {
    if (round < kLz4FewRounds) {
      goes_on = walk_few_lz4(sh_block, chunk.block_bytes, lane, walk);
      if (goes_on && walk.all_end < (round + 1) * chunk.block_bytes / kLz4FewRounds) round = kLz4FewRounds;
    }
    if (round >= kLz4FewRounds) {
      goes_on = false;
      const std::uint32_t segment_bytes = max((chunk.block_bytes + 31) / 32, 16u);
      const Lz4LaneWalk mine =
          sh_exits == nullptr
              ? walk_lz4_together(sh_block, segment_bytes, chunk.block_bytes, lane)
              : walk_lz4_by_tables(sh_block, segment_bytes, chunk.block_bytes, *sh_exits, lane);
      walk.entry = mine.entry & ~kLz4WalkStopped;
      walk.end = mine.walk.left_at & ~kLz4WalkStopped;
      walk.sums_before = sum_before(mine.walk.sums, walk.all_sums, lane);
      walk.all_end = __shfl_sync(kAllLanes, walk.end, 31);
    }
    // Guesses have read bytes after the block, where the distances may be.
    __syncwarp();
    if ((walk.all_sums & kLz4BytesMask) > chunk.capacity || !__all_sync(kAllLanes, unfold(0)))
      return check_lz4_chunk(chunk, place, lane);
  }
  const std::uint32_t walked_bytes = walk.all_sums & kLz4BytesMask;
  const std::uint32_t walked_pieces = walk.all_sums >> kLz4PieceShift;
  __syncwarp();
  place = {walk.all_end, walked_bytes};
  Lz4Chunk in_shared = chunk;
  in_shared.d_block = sh_block;
  in_shared.d_output = nullptr;
  const Lz4Progress progress = restore_lz4_sequence(in_shared, place, lane);
  if (progress != Lz4Progress::kDone || chunk.d_output == nullptr) return progress;

  // The last literals are one more piece.
  const std::uint32_t total = place.written;
  const auto keep_last_piece = [&](std::uint32_t first_piece) {
    if (total > walked_bytes && walked_pieces - first_piece < kPieces && lane == 0)
      sh.distances[walked_pieces - first_piece] =
          static_cast<std::int16_t>(total - (block_begin + chunk.block_bytes) - 1);
  };
  keep_last_piece(0);
  if (total > walked_bytes && lane == 0)
    sh.windows[walked_bytes / kWindowBytes].begins |= 1u << walked_bytes % kWindowBytes;
  __syncwarp();
  constexpr unsigned kWindowsEach = kPageWindows / 32;
  std::uint32_t begins[kWindowsEach], in_lane = 0;
#pragma unroll
  for (unsigned i = 0; i < kWindowsEach; ++i) {
    begins[i] = sh.windows[lane * kWindowsEach + i].begins;
    in_lane += static_cast<std::uint32_t>(__popc(begins[i]));
  }
  std::uint32_t piece_count;
  std::uint32_t before = sum_before(in_lane, piece_count, lane);
#pragma unroll
  for (unsigned i = 0; i < kWindowsEach; ++i) {
    sh.windows[lane * kWindowsEach + i].piece_before = static_cast<std::int32_t>(before) - 1;
    before += static_cast<std::uint32_t>(__popc(begins[i]));
  }
  __syncwarp();

  // Step 3.
  const unsigned up_to_lane = kAllLanes >> (31 - lane);
  const std::uint32_t window_count = (total + kWindowBytes - 1) / kWindowBytes;
  // Groups of windows in which no piece begins, if such groups are searched. Then all pieces are kept.
  static_assert(kWindowsEach == kGroup && kPageBytes / kLz4LongPieceBytes < kPieces);
  unsigned whole_groups = 0;
  if (kLz4LongPieceBytes * piece_count < total) whole_groups = __ballot_sync(kAllLanes, in_lane == 0);
  // The first window of the first such group; beyond all windows if there is none.
  const auto first_whole = [&] {
    return kGroup * static_cast<unsigned>(__ffs(static_cast<int>(whole_groups)) - 1);
  };
  std::uint32_t whole_at = first_whole();
  std::uint32_t first_piece = 0;
  for (std::uint32_t window = 0;;) {
    // Copies as far as pieces are kept. Numbers in `windows` count from the first kept piece.
    const std::uint32_t kept_pieces = min(piece_count - first_piece, kPieces);
    std::uint32_t end = window_count;
    if (kept_pieces < piece_count - first_piece)
      for (end = window + kGroup; end + kGroup < kPageWindows &&
                                  sh.windows[end + kGroup].piece_before + 1 <= static_cast<int>(kept_pieces);)
        end += kGroup;
    for (; window < end; window += kGroup) {
      if (window == whole_at) {
        // This group and those after it, up to the next one that is not whole.
        const unsigned rest = whole_groups & (whole_groups + (whole_groups & -whole_groups));
        unsigned groups =
            min(static_cast<unsigned>(__popc(whole_groups ^ rest)), (end - window + kGroup - 1) / kGroup);
        whole_groups = rest;
        whole_at = first_whole();
        const std::int32_t distance = sh.distances[sh.windows[window].piece_before];
        const auto distance_bytes = static_cast<unsigned>(distance);
        if (distance_bytes >= kGroup * kWindowBytes - 1) {
          const unsigned together =
              distance_bytes >= kLz4GroupsTogether * kGroup * kWindowBytes - 1 ? kLz4GroupsTogether : 1;
          for (;;) {
            copy_lz4_groups<kGroup>(sh.buffer, window * kWindowBytes, distance, min(groups, together), lane);
            if (groups <= together) break;
            groups -= together;
            window += kGroup * together;
          }
          window += kGroup * (groups - 1);
          continue;
        }
      }
      const std::uint32_t position = lz4_opaque(window * kWindowBytes + lane - 1);
      std::int32_t distances[kGroup];
      bool reads_window = false;
#pragma unroll
      for (unsigned g = 0; g < kGroup; ++g) {
        const Lz4Window here = sh.windows[window + g];
        distances[g] = sh.distances[here.piece_before + __popc(here.begins & up_to_lane)];
        reads_window |= static_cast<unsigned>(distances[g]) < lane;
      }
      if (!__any_sync(kAllLanes, reads_window)) {
        // A window reads neither from its own bytes, so lanes need no order...
#pragma unroll
        for (unsigned g = 0; g < kGroup; ++g) {
          sh.buffer[position + kWindowBytes * g + 1] =
              sh.buffer[position + kWindowBytes * g - static_cast<std::uint32_t>(distances[g])];
          __syncwarp();  // ...nor from bytes that are written later.
        }
      } else {
        // Bytes whose source is in their own window take their source's source, until it is before the window.
        unsigned source_lanes[kGroup];
#pragma unroll
        for (unsigned g = 0; g < kGroup; ++g)
          source_lanes[g] = static_cast<unsigned>(distances[g]) < lane
                                ? lane - 1 - static_cast<unsigned>(distances[g])
                                : lane;
        for (bool moves = true; moves;) {
          unsigned moved = 0;
#pragma unroll
          for (unsigned g = 0; g < kGroup; ++g) {
            const unsigned next = __shfl_sync(kAllLanes, source_lanes[g], static_cast<int>(source_lanes[g]));
            moved |= next ^ source_lanes[g];
            source_lanes[g] = next;
          }
          moves = __any_sync(kAllLanes, moved != 0);
        }
#pragma unroll
        for (unsigned g = 0; g < kGroup; ++g) {
          std::uint8_t* const sh_position = sh.buffer + (position + kWindowBytes * g + 1);
          const unsigned byte = *(sh_position - distances[g] - 1);
          const unsigned resolved = __shfl_sync(kAllLanes, byte, static_cast<int>(source_lanes[g]));
          __syncwarp();
          *sh_position = static_cast<std::uint8_t>(resolved);
          __syncwarp();
        }
      }
    }
    if (window >= window_count) break;

    // The pieces from this window's first byte on replace those that are done.
    const std::int32_t done = sh.windows[window].piece_before;
    first_piece += static_cast<std::uint32_t>(done);
    __syncwarp();
    for (std::uint32_t w = lane; w < kPageWindows; w += 32) sh.windows[w].piece_before -= done;
    unfold(first_piece);
    keep_last_piece(first_piece);
    __syncwarp();
  }

  store_lz4_bytes(sh.buffer, chunk.d_output, total, lane);
  return Lz4Progress::kDone;
}

}  // namespace hemstitch::cuda
