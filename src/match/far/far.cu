// The far finder's table on a device: its entries, its look-ups, and the comparing of candidates. The stitch is in far_stitch.cu.
//
// Mapping. A *group* of thread blocks searches a span (far_cuda.hpp), generation by generation: it enters the grid's positions before the generation, one
// atomic maximum each, then looks up the generation's positions; thread blocks of the group wait for each other in between. 16 groups have their
// tables of 4 MB in the cache of the second level at once, which matters more than anything else: one thread block a span takes nearly
// half as long again. Spans are taken in order by the groups that have none.
//
// Waiting is safe on a device that others use too. Which group a thread block belongs to is not its index but the order in which it begins. So of the thread
// blocks that have begun, only those of the last group may lack others; all others go on, and make room. A kernel
// holds at most a group less one thread block while it waits for room, and a group is at most an eighth of the multiprocessors.
//
// An entry is a place on the grid, plus one, above some bits of the product that the bucket leaves over (the tag). Places count on from span to span in a table
// that is used again. So entries of earlier spans seem to be farther back than the data reaches, as the zeros of a cleared table do,
// and a table is cleared only when the places run out: a batch of small files would otherwise mostly clear tables.
//
// Look-up. A warp takes 128 positions (64 with eight ways), a row of 32 after the other. Their bytes, and those behind them that are compared, wait in shared memory,
// loaded before the barrier. Candidates are those entries whose tag is the position's and that are near enough; the others cost no read.
// They are put in a queue, so that all lanes have one to compare, 16 bytes a round. What agrees goes on in the queue, unless the candidate 16 bytes on
// is there too: for position p + 16 the place 16 bytes after p's, which can only be in one way. Then p's length is known from that one's:
// in a long repeat every 16 bytes are compared once, not eight times.
//
// Bounds of work: for each position `ways` comparisons of up to `cap_bytes`, for each place of the grid one atomic maximum a span that enters it. Shared
// memory: 4 KB a warp; a device with less than 127 KB has 16 warps a thread block. Registers: at most 64. CPU twin: far_reference.cpp, up to the stitch.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "core/status.hpp"
#include "gpu/cuda/between_blocks.cuh"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/shared_memory.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/far/far_cuda.hpp"
#include "match/far/far_hash.hpp"
#include "match/far/far_text.cuh"
#include "match/far/far_work.cuh"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kFarThreads = 1024;  // or half of that
constexpr std::uint32_t kSpanThreads = 1024;
constexpr std::uint32_t kFarGroupShare = 8;  // a group is at most such a part of the device
constexpr std::size_t kMostFarTableBytes = std::size_t{256} << 20;
constexpr std::uint32_t kRoundBytes = 16;  // compared at once
constexpr std::uint32_t kTextPairs =
    48;  // of eight bytes, of a warp's text: a tile, and what is compared behind it
constexpr unsigned kTextLoads = (kTextPairs + 31) / 32;
constexpr std::uint32_t kFarSlots = 512;  // candidates of a tile
constexpr std::uint32_t kChained = 255;   // in place of a length: that of the candidate 16 bytes on, and 16
static_assert(kMostFarDeviceCapBytes + kRoundBytes <= kChained + 1);
static_assert(kMostFarDeviceGridBytes <= kRoundBytes, "a candidate 16 bytes on is on the grid");

// ---- Spans ----

// Whether piece `index` goes on where the one before it ends, on its grid, and with all of its history.
__device__ bool continues_span(const FarWork& work, std::uint32_t index) {
  const DeviceBlock before = work.pieces.d_blocks[index - 1], piece = work.pieces.d_blocks[index];
  const std::uint64_t behind = std::uint64_t{before.history_bytes} + before.block_bytes;
  return piece.d_block == before.d_block + before.block_bytes &&
         before.block_bytes % (1u << work.grid_shift) == 0 &&
         min(piece.history_bytes, work.window_bytes) == min(behind, std::uint64_t{work.window_bytes});
}

// One thread block. A run of pieces that go on is cut after every `pieces_in_span`.
__global__ void __launch_bounds__(kSpanThreads) cut_far_spans(const FarWork work) {
  constexpr std::uint32_t kWarps = kSpanThreads / 32;
  __shared__ std::uint32_t sh_runs[kWarps], sh_spans[kWarps];  // what begins at a warp's pieces, as bits
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t up_to_lane = ~0u >> (31 - lane);
  const auto highest = [](std::uint32_t bits) {
    return 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(bits)));
  };
  std::uint32_t run_begin = 0, spans = 0;
  for (std::uint32_t first = 0; first < work.pieces.block_count; first += kSpanThreads) {
    const std::uint32_t piece = first + threadIdx.x;
    const bool is_piece = piece < work.pieces.block_count;
    const std::uint32_t runs =
        __ballot_sync(kAllLanes, is_piece && (piece == 0 || !continues_span(work, piece)));
    if (lane == 0) sh_runs[warp] = runs;
    __syncthreads();
    std::uint32_t own_run = run_begin;
    for (std::uint32_t i = 0; i <= warp; ++i) {
      const std::uint32_t begun = i < warp ? sh_runs[i] : runs & up_to_lane;
      if (begun != 0) own_run = first + 32 * i + highest(begun);
    }
    const bool begins = is_piece && (piece - own_run) % work.pieces_in_span == 0;
    const std::uint32_t begun = __ballot_sync(kAllLanes, begins);
    if (lane == 0) sh_spans[warp] = begun;
    __syncthreads();
    std::uint32_t place = spans + static_cast<std::uint32_t>(__popc(begun & (up_to_lane >> 1)));
    for (std::uint32_t i = 0; i < kWarps; ++i) {
      if (sh_runs[i] != 0) run_begin = first + 32 * i + highest(sh_runs[i]);
      const auto count = static_cast<std::uint32_t>(__popc(sh_spans[i]));
      spans += count;
      if (i < warp) place += count;
    }
    if (begins) work.d_spans[place] = piece;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    work.d_spans[spans] = work.pieces.block_count;
    work.d_state->span_count = spans;
  }
}

// ---- Search ----

template <unsigned kWays>
struct FarWarpMemory {
  static constexpr unsigned kRows = kWays == 8 ? 2 : 4;
  static constexpr std::uint32_t kPositions = 32 * kRows, kSlots = kPositions * kWays;
  static_assert(kSlots <= kFarSlots);
  // The last position's words in the last round, with the text shifted by up to 7 bytes.
  static_assert((7 + kPositions - 1 + (kMostFarDeviceCapBytes - 1) / kRoundBytes * kRoundBytes) / 4 + 5 <=
                2 * kTextPairs);

  alignas(16) std::uint32_t candidates[kSlots];  // by position and way: where in the text, or 0
  alignas(8) uint2 text[kTextPairs];
  std::uint16_t queue[kSlots];   // slots
  std::uint8_t lengths[kSlots];  // of candidates: not yet cut to the cap, nor at the piece's end
};

// A generation, as indices of the span's text.
struct FarGeneration {
  std::uint32_t begin, end;  // end is 0 behind the span's last generation
  std::uint32_t piece_begin, piece_end;
  std::uint32_t data_begin;              // of the piece's history
  std::uint32_t enter_begin, enter_end;  // places of the grid that are entered before
  std::uint64_t position;                // of the piece's first record
};

// What a thread block knows of its span: thread 0 writes it, and all read it behind a barrier. In registers it would take those that the
// look-ups need.
struct FarBlockMemory {
  std::uint32_t group, rank, group_blocks;
  std::uint32_t all_arrived;              // thread blocks of the group, at its barriers so far
  const std::byte* d_first;               // of the span, history included
  std::uint32_t bytes;                    // likewise
  std::uint32_t hashed_end;               // behind the last position with a hash
  std::uint32_t grid_begin;               // the grid's first place, in the text
  std::uint32_t first_place, next_place;  // in the table: of this span, and behind it
  bool clears_table;
  std::uint32_t piece, end_piece;  // those that are left
  std::uint32_t entered;           // places of the grid, up to the last generation that was found
  FarGeneration generations[2];    // this one and the next one, in turn
};

// The entries of a bucket.
template <unsigned kWays>
__device__ __forceinline__ void load_bucket(const std::uint32_t* d_bucket, std::uint32_t (&entries)[kWays]) {
  if constexpr (kWays == 1) {
    entries[0] = __ldcg(d_bucket);
  } else if constexpr (kWays == 2) {
    const uint2 pair = __ldcg(reinterpret_cast<const uint2*>(d_bucket));
    entries[0] = pair.x, entries[1] = pair.y;
  } else {
#pragma unroll
    for (unsigned i = 0; i < kWays; i += 4) {
      const uint4 four = __ldcg(reinterpret_cast<const uint4*>(d_bucket + i));
      entries[i] = four.x, entries[i + 1] = four.y, entries[i + 2] = four.z, entries[i + 3] = four.w;
    }
  }
}

// Values of a position's ways.
template <unsigned kWays>
__device__ __forceinline__ void store_ways(std::uint32_t* sh_to, const std::uint32_t (&values)[kWays]) {
  if constexpr (kWays % 4 == 0) {
#pragma unroll
    for (unsigned i = 0; i < kWays; i += 4)
      *reinterpret_cast<uint4*>(sh_to + i) = {values[i], values[i + 1], values[i + 2], values[i + 3]};
  } else {
#pragma unroll
    for (unsigned i = 0; i < kWays; ++i) sh_to[i] = values[i];
  }
}

// How many of 16 bytes agree, from the first on.
__device__ __forceinline__ std::uint32_t agreeing(const uint4& one, const uint4& other) {
  const std::uint32_t x = one.x ^ other.x, y = one.y ^ other.y, z = one.z ^ other.z, w = one.w ^ other.w;
  const std::uint32_t first = x != 0 ? x : y != 0 ? y : z != 0 ? z : w;
  const std::uint32_t before = x != 0 ? 0 : y != 0 ? 4 : z != 0 ? 8 : 12;
  return first == 0 ? 16 : before + static_cast<std::uint32_t>(__ffs(static_cast<int>(first)) - 1) / 8;
}

// A thread of a group, and the span that the group searches. Positions of the span count from its first byte, which may be history.
template <unsigned kWays>
class FarSearcher {
  using Memory = FarWarpMemory<kWays>;
  static constexpr unsigned kRows = Memory::kRows;
  static constexpr std::uint32_t kPositions = Memory::kPositions;
  static constexpr unsigned kEntriesAtOnce = 4;

 public:
  __device__ FarSearcher(const FarWork& work, FarBlockMemory& sh_block, Memory& sh)
      : work_(work), sh_block_(sh_block), sh_(sh), lane_(threadIdx.x % 32) {}

  __device__ void search_spans() {
    if (threadIdx.x == 0) {
      sh_block_.all_arrived = 0;
      sh_block_.next_place = most_places();  // a table is cleared before its first use
    }
    for (unsigned turn = 0;; turn ^= 1) {
      std::uint32_t* const d_span = &work_.d_groups[sh_block_.group].span[turn];
      if (sh_block_.rank == 0 && threadIdx.x == 0) *d_span = atomicAdd(&work_.d_state->next_span, 1u);
      wait_for_group();
      const std::uint32_t span = __ldcg(d_span);
      if (span >= work_.d_state->span_count) return;
      if (threadIdx.x == 0) open_span(work_.d_spans[span], work_.d_spans[span + 1]);
      __syncthreads();
      if (sh_block_.clears_table) clear_table();
      for (unsigned step = 0; sh_block_.generations[step].end != 0; step ^= 1) {
        enter(sh_block_.generations[step]);
        if (threadIdx.x == 0) find_generation(sh_block_.generations[step], sh_block_.generations[step ^ 1]);
        look_up(sh_block_.generations[step]);
      }
    }
  }

 private:
  // Until all threads of the group's thread blocks are here, and what they have written can be read.
  __device__ void wait_for_group() {
    __syncthreads();
    if (sh_block_.group_blocks == 1) return;
    if (threadIdx.x == 0) {
      std::uint32_t* const d_arrived = &work_.d_groups[sh_block_.group].arrived;
      const std::uint32_t all = sh_block_.all_arrived += sh_block_.group_blocks;
      add_release(d_arrived, 1);
      while (static_cast<std::int32_t>(load_acquire(d_arrived) - all) < 0) {
      }
    }
    __syncthreads();
  }

  __device__ std::uint32_t grid_bytes() const { return 1u << work_.grid_shift; }
  __device__ std::uint32_t most_places() const { return ~0u >> work_.tag_bits; }
  __device__ FarText text() const { return {sh_block_.d_first, sh_block_.bytes}; }
  __device__ std::uint32_t* table() const {
    return work_.d_tables + ((std::size_t{sh_block_.group} * kWays) << work_.hash_bits);
  }

  // By thread 0 alone: what all need of a span, and its first generation.
  __device__ void open_span(std::uint32_t first_piece, std::uint32_t end_piece) {
    FarBlockMemory& sh = sh_block_;
    const DeviceBlock first = work_.pieces.d_blocks[first_piece], last = work_.pieces.d_blocks[end_piece - 1];
    const std::uint32_t history = min(first.history_bytes, work_.window_bytes);
    sh.d_first = first.d_block - history;
    sh.bytes = static_cast<std::uint32_t>(last.d_block + last.block_bytes - sh.d_first);
    const FarText text = this->text();
    sh.hashed_end = text.end() - min(text.end(), work_.hash_bytes - 1);
    sh.grid_begin = text.begin() + history % grid_bytes();

    const std::uint32_t places = (sh.bytes >> work_.grid_shift) + 1;
    sh.clears_table = places > most_places() - sh.next_place;
    sh.first_place = sh.clears_table ? 0 : sh.next_place;
    sh.next_place = sh.first_place + places;

    sh.piece = first_piece;
    sh.end_piece = end_piece;
    sh.entered = 0;
    FarGeneration& generation = sh.generations[0];
    generation.end = generation.piece_end = 0;
    find_generation(generation, generation);
  }

  // By thread 0 alone: the generation behind `now`.
  __device__ void find_generation(const FarGeneration& now, FarGeneration& next) {
    FarBlockMemory& sh = sh_block_;
    next = now;
    next.begin = now.end;
    const std::uint32_t text_begin = text().begin();
    while (next.begin == next.piece_end) {
      next.end = 0;
      if (sh.piece == sh.end_piece) return;
      const DeviceBlock piece = work_.pieces.d_blocks[sh.piece++];
      next.piece_begin = next.begin = text_begin + static_cast<std::uint32_t>(piece.d_block - sh.d_first);
      next.piece_end = next.piece_begin + piece.block_bytes;
      next.data_begin = next.piece_begin - min(piece.history_bytes, next.piece_begin - text_begin);
      next.position = piece.position;
    }
    next.end = next.begin + min(work_.generation_bytes, next.piece_end - next.begin);
    // The grid's places before the generation that have a hash.
    const std::uint32_t until = min(next.begin, sh.hashed_end);
    next.enter_begin = sh.entered;
    if (until > sh.grid_begin)
      sh.entered = max(sh.entered, (until - sh.grid_begin + grid_bytes() - 1) >> work_.grid_shift);
    next.enter_end = sh.entered;
  }

  __device__ void clear_table() {
    const std::size_t words = std::size_t{kWays} << work_.hash_bits;
    auto* const d_vectors = reinterpret_cast<uint4*>(table());
    for (std::size_t i = std::size_t{sh_block_.rank} * blockDim.x + threadIdx.x; i < words / 4;
         i += std::size_t{sh_block_.group_blocks} * blockDim.x)
      d_vectors[i] = {0, 0, 0, 0};
  }

  struct Hash {
    std::uint32_t bucket;  // the place of its first entry
    std::uint32_t tag;
  };
  __device__ __forceinline__ Hash hash_of(std::uint32_t low, std::uint32_t high) const {
    const std::uint64_t product = far_product((std::uint64_t{high} << 32 | low) & far_mask(work_.hash_bytes));
    return {static_cast<std::uint32_t>(product >> (64 - work_.hash_bits)) * kWays,
            static_cast<std::uint32_t>(product >> (64 - work_.hash_bits - work_.tag_bits)) & tag_mask()};
  }
  __device__ std::uint32_t tag_mask() const { return (1u << work_.tag_bits) - 1; }

  // Enters the grid's places before a generation, once the group has looked up those of the one before. Their bytes are loaded before that.
  __device__ void enter(const FarGeneration& sh_generation) {
    const std::uint32_t end = sh_generation.enter_end, step = sh_block_.group_blocks * blockDim.x;
    std::uint32_t place = sh_generation.enter_begin + sh_block_.rank * blockDim.x + threadIdx.x;
    uint2 words[kEntriesAtOnce];
    load_places(place, end, words);
    wait_for_group();
    std::uint32_t* const d_table = table();
    const std::uint32_t first_place = sh_block_.first_place;
    while (place - lane_ < end) {
#pragma unroll
      for (unsigned i = 0; i < kEntriesAtOnce; ++i) {
        const std::uint32_t own = place + i * step;
        const Hash hash = hash_of(words[i].x, words[i].y);
        const std::uint32_t slot = own < end ? hash.bucket + own % kWays : ~0u;
        // In a run of equal bytes the next place of this way has the same slot, and takes it.
        const std::uint32_t next_slot = __shfl_down_sync(kAllLanes, slot, kWays);
        if (own < end && (next_slot != slot || lane_ + kWays > 31))
          atomicMax(d_table + slot, (first_place + own + 1) << work_.tag_bits | hash.tag);
      }
      place += kEntriesAtOnce * step;
      load_places(place, end, words);
    }
  }
  __device__ __forceinline__ void load_places(std::uint32_t place, std::uint32_t end,
                                              uint2 (&words)[kEntriesAtOnce]) const {
    const FarText text = this->text();
    const std::uint32_t step = sh_block_.group_blocks * blockDim.x, grid_begin = sh_block_.grid_begin;
#pragma unroll
    for (unsigned i = 0; i < kEntriesAtOnce; ++i) {
      const std::uint32_t own = place + i * step;
      words[i] = own < end ? text.pair(grid_begin + (own << work_.grid_shift)) : uint2{0, 0};
    }
  }

  // Finds the records of a generation's positions, when the group has entered what comes before.
  __device__ void look_up(const FarGeneration& sh_generation) {
    const std::uint32_t warps = blockDim.x / 32;
    std::uint32_t tile = sh_generation.begin + (sh_block_.rank * warps + threadIdx.x / 32) * kPositions;
    uint2 ahead[kTextLoads];
    load_tile(sh_generation, tile, ahead);
    wait_for_group();
    while (tile < sh_generation.end) {
      __syncwarp();
#pragma unroll
      for (unsigned i = 0; i < kTextLoads; ++i)
        if (i * 32 + lane_ < kTextPairs) sh_.text[i * 32 + lane_] = ahead[i];
      __syncwarp();
      const std::uint32_t next = tile + sh_block_.group_blocks * warps * kPositions;
      load_tile(sh_generation, next, ahead);
      const std::uint32_t candidates = find_candidates(sh_generation, tile);
      if (candidates != 0) compare_candidates(tile, candidates);
      choose(sh_generation, tile, candidates != 0);
      tile = next;
    }
  }

  // What a lane brings of a tile's text, from a multiple of 8 on.
  __device__ __forceinline__ void load_tile(const FarGeneration& sh_generation, std::uint32_t tile,
                                            uint2 (&ahead)[kTextLoads]) const {
    const FarText text = this->text();
#pragma unroll
    for (unsigned i = 0; i < kTextLoads; ++i) {
      const std::uint32_t pair = i * 32 + lane_;
      ahead[i] =
          tile < sh_generation.end && pair < kTextPairs ? text.pair((tile & ~7u) + 8 * pair) : uint2{0, 0};
    }
  }
  // The word that holds byte `at` of the warp's text, and those behind it.
  __device__ __forceinline__ const std::uint32_t* text_words(std::uint32_t at) const {
    return reinterpret_cast<const std::uint32_t*>(sh_.text) + at / 4;
  }

  // Looks up a tile's positions; how many candidates are in the queue.
  __device__ __forceinline__ std::uint32_t find_candidates(const FarGeneration& generation,
                                                           std::uint32_t tile) {
    const std::uint32_t* const d_table = table();
    std::uint32_t entries[kRows][kWays], tags[kRows];
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
      const std::uint32_t at = (tile & 7) + row * 32 + lane_, shift = 8 * (at & 3);
      const std::uint32_t* const words = text_words(at);
      const Hash hash =
          hash_of(__funnelshift_r(words[0], words[1], shift), __funnelshift_r(words[1], words[2], shift));
      tags[row] = hash.tag;
      const std::uint32_t here = tile + row * 32 + lane_;
      if (here < generation.end) {
        load_bucket<kWays>(d_table + hash.bucket, entries[row]);
      } else {
#pragma unroll
        for (unsigned way = 0; way < kWays; ++way) entries[row][way] = 0;
      }
    }
    const std::uint32_t below_lane = (1u << lane_) - 1;
    std::uint32_t queued = 0;
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
      const std::uint32_t position = row * 32 + lane_, here = tile + position;
      const std::uint32_t reach = min(work_.window_bytes, here - generation.data_begin);
      // An offset is `far_behind` less the entry's place times the grid.
      const std::uint32_t far_behind =
          here - sh_block_.grid_begin + ((sh_block_.first_place + 1) << work_.grid_shift);
#pragma unroll
      for (unsigned way = 0; way < kWays; ++way) {
        const std::uint32_t entry = entries[row][way];
        const std::uint32_t offset = far_behind - ((entry >> work_.tag_bits) << work_.grid_shift);
        const bool is_candidate = ((entry ^ tags[row]) & tag_mask()) == 0 && offset - 1 < reach;
        const std::uint32_t slot = position * kWays + way;
        entries[row][way] = is_candidate ? here - offset : 0;
        const std::uint32_t all = __ballot_sync(kAllLanes, is_candidate);
        if (is_candidate)
          sh_.queue[queued + static_cast<std::uint32_t>(__popc(all & below_lane))] =
              static_cast<std::uint16_t>(slot);
        queued += static_cast<std::uint32_t>(__popc(all));
      }
      store_ways<kWays>(sh_.candidates + position * kWays, entries[row]);
    }
    __syncwarp();
    return queued;
  }

  // Where the candidate 16 bytes behind this one would be.
  __device__ __forceinline__ std::uint32_t chained_slot(std::uint32_t slot) const {
    const std::uint32_t way = (slot + (kRoundBytes >> work_.grid_shift)) % kWays;
    return slot - slot % kWays + kRoundBytes * kWays + way;
  }

  // Finds the lengths of the candidates in the queue.
  __device__ __forceinline__ void compare_candidates(std::uint32_t tile, std::uint32_t queued) {
    const FarText text = this->text();
    constexpr unsigned kAtOnce = 2;
    const std::uint32_t below_lane = (1u << lane_) - 1;
    for (std::uint32_t done = 0; queued != 0; done += kRoundBytes) {
      const bool is_last = done + kRoundBytes >= work_.cap_bytes;
      std::uint32_t kept = 0;
      for (std::uint32_t first = 0; first < queued; first += 32 * kAtOnce) {
        std::uint32_t slots[kAtOnce];
        bool compares[kAtOnce];
        uint4 there[kAtOnce];
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) {
          const std::uint32_t at = first + i * 32 + lane_;
          compares[i] = at < queued;
          slots[i] = compares[i] ? sh_.queue[at] : 0;
          const std::uint32_t candidate = sh_.candidates[slots[i]];
          if (compares[i] && done == kRoundBytes) {
            const std::uint32_t chained = chained_slot(slots[i]);
            if (chained < Memory::kSlots && sh_.candidates[chained] == candidate + kRoundBytes) {
              sh_.lengths[slots[i]] = kChained;
              compares[i] = false;
            }
          }
          if (compares[i]) there[i] = text.words(candidate + done);
        }
        __syncwarp();
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) {
          bool goes_on = false;
          if (compares[i]) {
            const std::uint32_t length = agreeing(own_words((tile & 7) + slots[i] / kWays + done), there[i]);
            goes_on = length == kRoundBytes && !is_last;
            if (!goes_on) sh_.lengths[slots[i]] = static_cast<std::uint8_t>(done + length);
          }
          const std::uint32_t all = __ballot_sync(kAllLanes, goes_on);
          if (goes_on)
            sh_.queue[kept + static_cast<std::uint32_t>(__popc(all & below_lane))] =
                static_cast<std::uint16_t>(slots[i]);
          kept += static_cast<std::uint32_t>(__popc(all));
        }
        __syncwarp();
      }
      queued = kept;
    }
  }
  // The 16 bytes of the warp's text from byte `at` on.
  __device__ __forceinline__ uint4 own_words(std::uint32_t at) const {
    const std::uint32_t shift = 8 * (at & 3);
    const std::uint32_t* const words = text_words(at);
    return {__funnelshift_r(words[0], words[1], shift), __funnelshift_r(words[1], words[2], shift),
            __funnelshift_r(words[2], words[3], shift), __funnelshift_r(words[3], words[4], shift)};
  }

  // Writes the best match of each position.
  __device__ __forceinline__ void choose(const FarGeneration& generation, std::uint32_t tile,
                                         bool has_candidates) const {
#pragma unroll 1
    for (unsigned row = 0; row < kRows; ++row) {
      const std::uint32_t position = row * 32 + lane_, here = tile + position;
      if (here >= generation.end) continue;
      std::uint32_t best = 0;  // length, then nearness
      if (has_candidates) {
        const std::uint32_t most = min(work_.cap_bytes, generation.piece_end - here);
#pragma unroll
        for (unsigned way = 0; way < kWays; ++way) {
          std::uint32_t slot = position * kWays + way;
          const std::uint32_t candidate = sh_.candidates[slot];
          if (candidate == 0) continue;
          std::uint32_t length = sh_.lengths[slot];
          if (length == kChained) {
            length = 0;
            std::uint32_t more = kChained;
            for (; more == kChained; length += kRoundBytes) {
              slot = chained_slot(slot);
              more = sh_.lengths[slot];
            }
            length += more;
          }
          length = min(length, most);
          if (length >= work_.hash_bytes)
            best = max(best, length << 24 | (kMostFarRecordOffset - (here - candidate)));
        }
      }
      const std::uint32_t offset = kMostFarRecordOffset - (best & kMostFarRecordOffset);
      // Not to be read soon: the tables need the cache.
      __stcs(&work_.d_records[generation.position + (here - generation.piece_begin)].bits,
             pack_far_record(offset, best >> 24).bits);
    }
  }

  const FarWork& work_;
  FarBlockMemory& sh_block_;
  Memory& sh_;  // the warp's
  const std::uint32_t lane_;
};

template <unsigned kWays>
__global__ void __launch_bounds__(kFarThreads, 1) find_far_matches(const FarWork work) {
  extern __shared__ uint4 sh_memory[];
  __shared__ FarBlockMemory sh_block;
  const std::uint32_t groups = min(work.d_state->span_count, work.group_count);
  if (groups == 0) return;
  if (threadIdx.x == 0) {
    const std::uint32_t ticket = atomicAdd(&work.d_state->tickets, 1u);
    sh_block.group_blocks = min(gridDim.x / groups, work.most_group_blocks);
    sh_block.group = ticket / sh_block.group_blocks;
    sh_block.rank = ticket % sh_block.group_blocks;
  }
  __syncthreads();
  if (sh_block.group >= groups) return;
  auto* const memory = reinterpret_cast<FarWarpMemory<kWays>*>(sh_memory);
  FarSearcher<kWays>(work, sh_block, memory[threadIdx.x / 32]).search_spans();
}

// ---- Launches ----

constexpr KernelBudget kSpansBudget("far.spans", "cut_far_spans",
                                    {.threads = kSpanThreads, .registers = 64, .shared_bytes = 1024});
const KernelRegistration kSpansRegistration(kSpansBudget, cut_far_spans);

template <unsigned kWays>
consteval KernelBudget find_budget(std::string_view name, std::string_view function, std::uint32_t threads) {
  constexpr std::uint32_t kWarpBytes = sizeof(FarWarpMemory<kWays>);
  return {name,
          function,
          {.threads = threads,
           .dynamic_shared_bytes = threads / 32 * kWarpBytes,
           .registers = 64,
           .shared_bytes = threads / 32 * kWarpBytes + 256}};
}
constexpr KernelBudget kOneWayBudget = find_budget<1>("far.find_1_way", "find_far_matches<1>", kFarThreads);
constexpr KernelBudget kTwoWaysBudget = find_budget<2>("far.find_2_ways", "find_far_matches<2>", kFarThreads);
constexpr KernelBudget kFourWaysBudget =
    find_budget<4>("far.find_4_ways", "find_far_matches<4>", kFarThreads);
constexpr KernelBudget kEightWaysBudget =
    find_budget<8>("far.find_8_ways", "find_far_matches<8>", kFarThreads);
const KernelRegistration kOneWayRegistration(kOneWayBudget, find_far_matches<1>);
const KernelRegistration kTwoWaysRegistration(kTwoWaysBudget, find_far_matches<2>);
const KernelRegistration kFourWaysRegistration(kFourWaysBudget, find_far_matches<4>);
const KernelRegistration kEightWaysRegistration(kEightWaysBudget, find_far_matches<8>);

template <unsigned kWays>
void launch_find(const KernelBudget& budget, const FarWork& work, std::uint32_t thread_blocks,
                 cudaStream_t stream) {
  KernelBudget fitting = budget;
  if (!fits_shared_memory(budget)) {
    fitting.limits.threads /= 2;
    fitting.limits.dynamic_shared_bytes /= 2;
  }
  launch({.kernel = fitting, .grid = thread_blocks, .stream = stream, .work = work_of(work.pieces)},
         find_far_matches<kWays>, work);
}

void check_at_most(const char* field, std::uint64_t value, std::uint64_t most) {
  if (value > most)
    throw Error(Status::kInvalidOption, std::string("far: ") + field + " is " + std::to_string(value) +
                                            ", must be at most " + std::to_string(most) +
                                            " on a CUDA device");
}

void check_parameters(const DeviceBlocks& pieces, const FarParameters& parameters) {
  check_far_parameters(parameters);
  check_at_most("window_bytes", parameters.window_bytes, kMostFarDeviceWindowBytes);
  check_at_most("ways", parameters.ways, kMostFarDeviceWays);
  check_at_most("grid_bytes", parameters.grid_bytes, kMostFarDeviceGridBytes);
  check_at_most("cap_bytes", parameters.cap_bytes, kMostFarDeviceCapBytes);
  check_at_most("max_block_bytes", pieces.max_block_bytes, kMostFarPieceBytes);
}

std::uint32_t table_words(const FarParameters& parameters) { return parameters.ways << parameters.hash_bits; }

std::uint32_t most_groups(const DeviceBlocks& pieces, const FarParameters& parameters,
                          const FarSpeed& speed) {
  const std::size_t tables =
      std::max<std::size_t>(kMostFarTableBytes / (table_words(parameters) * sizeof(std::uint32_t)), 1);
  return static_cast<std::uint32_t>(std::min<std::size_t>({pieces.block_count, speed.most_tables, tables}));
}

struct Scratch {
  Scratch(Carver& carve, const DeviceBlocks& pieces, const FarParameters& parameters, const FarSpeed& speed)
      : groups(most_groups(pieces, parameters, speed)),
        // The state stands behind the groups, and begins as zeros like them.
        d_groups(carve.take<FarGroup>(groups + 1)),
        d_spans(carve.take<std::uint32_t>(std::size_t{pieces.block_count} + 1)),
        d_tables(carve.take<std::uint32_t>(groups * table_words(parameters))),
        d_found(carve.take<FarRecord>(pieces.total_block_bytes)) {}

  std::uint32_t groups;
  FarGroup* d_groups;
  std::uint32_t* d_spans;
  std::uint32_t* d_tables;
  FarRecord* d_found;
};

std::uint32_t multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(count);
}

void find_unstitched(const DeviceBlocks& pieces, const FarParameters& parameters, const Scratch& scratch,
                     FarRecord* d_records, const FarSpeed& speed, cudaStream_t stream) {
  static_assert(sizeof(FarState) <= sizeof(FarGroup));
  FarWork work{.pieces = pieces,
               .d_spans = scratch.d_spans,
               .d_state = reinterpret_cast<FarState*>(scratch.d_groups + scratch.groups),
               .d_groups = scratch.d_groups,
               .d_tables = scratch.d_tables,
               .d_records = d_records,
               .group_count = scratch.groups};
  const std::uint32_t device_blocks = multiprocessors();
  work.most_group_blocks = std::max(device_blocks / kFarGroupShare, 1u);
  work.pieces_in_span = std::max(speed.span_bytes / std::max(pieces.max_block_bytes, 1u), 1u);
  work.hash_bits = parameters.hash_bits;
  work.hash_bytes = parameters.hash_bytes;
  work.grid_shift = static_cast<std::uint32_t>(std::countr_zero(parameters.grid_bytes));
  work.generation_bytes = parameters.generation_bytes;
  work.window_bytes = parameters.window_bytes;
  work.cap_bytes = parameters.cap_bytes;
  // An entry's place takes as many bits as the longest span needs, the tag the rest.
  const std::uint32_t most_span_bytes = std::max(speed.span_bytes, pieces.max_block_bytes) +
                                        std::min(pieces.max_history_bytes, parameters.window_bytes);
  work.tag_bits = 32 - static_cast<std::uint32_t>(std::bit_width((most_span_bytes >> work.grid_shift) + 1));

  check(cudaMemsetAsync(scratch.d_groups, 0, (scratch.groups + 1) * sizeof(FarGroup), stream),
        "cudaMemsetAsync");
  launch({.kernel = kSpansBudget, .grid = 1, .stream = stream, .work = work_of(pieces)}, cut_far_spans, work);
  const std::uint32_t grid = std::max(device_blocks, scratch.groups);
  switch (parameters.ways) {
    case 1:
      return launch_find<1>(kOneWayBudget, work, grid, stream);
    case 2:
      return launch_find<2>(kTwoWaysBudget, work, grid, stream);
    case 4:
      return launch_find<4>(kFourWaysBudget, work, grid, stream);
    default:
      return launch_find<8>(kEightWaysBudget, work, grid, stream);
  }
}

}  // namespace

std::size_t find_far_cuda_scratch_bytes(const DeviceBlocks& pieces, const FarParameters& parameters,
                                        const FarSpeed& speed) {
  check_parameters(pieces, parameters);
  Carver carve(nullptr);
  Scratch(carve, pieces, parameters, speed);
  return carve.bytes();
}

void find_unstitched_far_cuda(const DeviceBlocks& pieces, const FarParameters& parameters,
                              FarRecord* d_records, void* d_scratch, std::size_t scratch_bytes,
                              cudaStream_t stream, const FarSpeed& speed) {
  check_scratch("find_far_cuda", find_far_cuda_scratch_bytes(pieces, parameters, speed), d_scratch,
                scratch_bytes);
  if (pieces.total_block_bytes == 0) return;
  Carver carve(d_scratch);
  find_unstitched(pieces, parameters, Scratch(carve, pieces, parameters, speed), d_records, speed, stream);
}

void find_far_cuda(const DeviceBlocks& pieces, const FarParameters& parameters, FarRecord* d_records,
                   void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const FarSpeed speed;
  check_scratch("find_far_cuda", find_far_cuda_scratch_bytes(pieces, parameters, speed), d_scratch,
                scratch_bytes);
  if (pieces.total_block_bytes == 0) return;
  Carver carve(d_scratch);
  const Scratch scratch(carve, pieces, parameters, speed);
  find_unstitched(pieces, parameters, scratch, scratch.d_found, speed, stream);
  stitch_far_cuda(pieces, parameters, scratch.d_found, d_records, stream);
}

}  // namespace hemstitch::cuda
