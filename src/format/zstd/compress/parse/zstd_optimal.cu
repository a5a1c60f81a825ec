// The optimal parse of Zstandard: two kernels.
//
//   solve   the decision at each position, 4 bytes: 8 lanes a segment, or 4 in a cheap pass, from its last position of the look-ahead to its first one
//   walk    from decisions to sequences: a warp a block, whose lanes look at 32 decisions at once
//
// Solving, mapping. A warp, which is a thread block, solves 4 or 8 neighbouring segments of one block in step, and goes on with others until there are no more. Each lane of a segment
// has one candidate: those found, then the offsets that come next. It compares the costs of its lengths, and the lanes find the cheapest together.
// What follows from a choice, all of them compute. Candidates of as many positions as a segment has lanes are prepared at once, a lane for each, and handed over in shared memory.
//
// States. Those of the kSolveRing positions behind the one that is solved are in shared memory. Longer matches read what is also written to device memory.
// Many segments have to be on a multiprocessor at once, since a position waits for the one behind it: so the ring is short.
//
// Tried offsets. How many bytes agree with one of the next offsets follows from the position behind: one byte more, or none. Only for an offset that was not
// among the next ones there are bytes compared on, and only if the first one agrees.
//
// Decisions lie where the block's list is written: a sequence takes the place of three decisions, and covers three positions or more, which the walk has read then.
//
// Shared memory: 12 KB a warp. Work: 1.25 positions a position, each at most 28 comparisons of costs. CPU twin: zstd_optimal_reference.cpp.
#include <algorithm>
#include <type_traits>

#include "core/cost_model.hpp"
#include "core/host_device.hpp"
#include "core/status.hpp"
#include "format/zstd/compress/entropy/zstd_value_codes.hpp"
#include "format/zstd/compress/parse/zstd_parse_cuda.hpp"
#include "format/zstd/compress/parse/zstd_window.cuh"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/shared_access.cuh"
#include "match/common/cuda/device_text.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/far/far_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr auto kSegmentBytes = static_cast<std::uint32_t>(kZstdSegmentBytes);
constexpr auto kAheadBytes = static_cast<std::uint32_t>(kZstdLookAheadBytes);
constexpr std::uint32_t kSolvedRows = kSegmentBytes + kAheadBytes + 1;  // with the horizon
// No far match is longer, nor one of the next offsets.
constexpr std::uint32_t kSolveRing = 148;
static_assert(kFarCapBytes + 16 <= kSolveRing);
constexpr std::uint32_t kLeastMatch = 3, kShorterLengths = 3;
constexpr auto kMostTried = static_cast<std::uint32_t>(kZstdTriedBytes);
static_assert(kMostTried <= kSolveRing);
constexpr unsigned kMostFound = 2 + kZstdMostFarFinders;
// What an H200's 132 multiprocessors hold. Each warp goes on with segments until there are no more.
constexpr unsigned kSolvingWarpsAtOnce = 18;  // on a multiprocessor
constexpr std::uint32_t kMostSolvingWarps = 132 * kSolvingWarpsAtOnce;

// A decision has 24 bits of offset and 8 of length. From kFarCutBytes on the length says no more than that: the walk compares.
constexpr std::uint32_t kMostDecidedLength = 255;
static_assert(kMostDecidedLength >= kFarCutBytes);

__device__ inline std::uint32_t pack_decision(std::uint32_t offset, std::uint32_t length) {
  return length == 0 ? 0 : offset << 8 | min(length, kMostDecidedLength);
}

static __device__ constexpr auto zstd_solved_run_codes = kZstdLiteralCodes;
static __device__ constexpr auto zstd_solved_match_codes = kZstdMatchCodes;

// Prices by value, with extra bits. From 64 literals on, and 131 bytes of a match, codes are powers of two.
struct ZstdPriceTables {
  static constexpr std::uint32_t kRuns = 64, kMatches = 128, kPowers = 4;
  static constexpr std::uint32_t kShortMatches =
      kSolveRing + 1;  // by their lengths; those below 3 cost as much as 3

  std::int16_t literal[256];
  std::int16_t run[kRuns + kPowers + 1];
  std::int16_t match[kShortMatches + kPowers];
  std::int16_t offset[kZstdMostOffsetCode + 1];

  // By all lanes of the warp.
  __device__ void fill(const ZstdDevicePrices& prices, unsigned lane) {
    const auto price = [](std::int32_t of_code, std::uint32_t bits) {
      return static_cast<std::int16_t>(of_code + static_cast<std::int32_t>(bits * kCostUnitsPerBit));
    };
    for (unsigned i = lane; i < 256; i += 32) literal[i] = prices.literal[i];
    for (unsigned i = lane; i < kRuns + kPowers + 1; i += 32) {
      const std::uint32_t code = zstd_run_code(i < kRuns ? i : kRuns << (i - kRuns));
      run[i] = price(prices.run_code[code], zstd_solved_run_codes[code].bits);
    }
    for (unsigned i = lane; i < kShortMatches + kPowers; i += 32) {
      const std::uint32_t power = i - min(i, kShortMatches);
      const std::uint32_t code =
          zstd_match_code(i < kShortMatches ? max(i, kLeastMatch) : (kMatches << power) + kLeastMatch);
      match[i] = price(prices.match_code[code], zstd_solved_match_codes[code].bits);
    }
    for (unsigned i = lane; i <= kZstdMostOffsetCode; i += 32) offset[i] = price(prices.offset_code[i], i);
  }
  __device__ std::int32_t of_run(std::uint32_t literals) const {
    return run[literals < kRuns ? literals : kRuns - zstd_floor_log2(kRuns) + zstd_floor_log2(literals)];
  }
  __device__ std::int32_t of_match(std::uint32_t length) const {
    const std::uint32_t power = zstd_floor_log2((length - min(length, kLeastMatch)) | 1);
    return match[length < kShortMatches ? length : kShortMatches - zstd_floor_log2(kMatches) + power];
  }
  __device__ std::int32_t of_offset_value(std::uint32_t value) const {
    return offset[zstd_floor_log2(value)];
  }
};
static_assert(ZstdPriceTables::kShortMatches >= ZstdPriceTables::kMatches + kLeastMatch);
static_assert(kZstdMostPricedBytes < ZstdPriceTables::kMatches << ZstdPriceTables::kPowers);
static_assert(kZstdMostPricedBytes < ZstdPriceTables::kRuns << (ZstdPriceTables::kPowers + 1));

// A state as others read it. `x`: the cost above two flags; `y`, `z`, `w`: the next offsets, 0 where there are not so many. Of the third one
// it does not matter whether its match directly follows another: the values 2 and 3 have one code. Passes that know one offset keep no more than that.
constexpr std::uint32_t kTouches = 2;         // a match begins here
constexpr std::uint32_t kSecondDirectly = 1;  // the match of the second offset directly follows another one
constexpr unsigned kCostShift = 2;

// The segment of a group of lanes.
struct SolvedSegment {
  std::uint32_t begin, end, horizon;  // in the block; all its size if there is none
};

constexpr std::uint32_t kNotCompared = ~std::uint32_t{0};

// What the lanes of a segment share of as many positions as they are: the candidates of each, in order, and the price of its literal. Without what another one before it
// has as offset, or what is too short: such have no length.
template <unsigned kPositions>
struct SolvedChunk {
  std::uint32_t offsets[kPositions][kMostFound];
  std::uint32_t lengths[kPositions][kMostFound];
  std::int32_t literals[kPositions];  // the price above the byte
};

// What finders say of a lane's position.
struct FoundHere {
  MatchRecord record = 0;
  std::uint32_t near = 0;
  FarRecord far[kZstdMostFarFinders] = {};
};

template <unsigned kKnows, unsigned kTries>
class ZstdSolver {
 public:
  static constexpr unsigned kLanes = kTries == 0 ? kMostFound : 8;  // of a segment
  static constexpr unsigned kGroups = 32 / kLanes;
  static constexpr std::uint32_t kSolvedByWarp = kGroups * kSegmentBytes;
  static_assert(kMostFound + kTries <= kLanes);
  using State = std::conditional_t<kKnows == 1, uint2, uint4>;

  struct Shared {
    // Behind a copy of its last states, so that four neighbouring ones stand in a row. One more, so that groups have different banks.
    State ring[kGroups][kShorterLengths + kSolveRing + 1];
    SolvedChunk<kLanes> chunks[kGroups];
    ZstdPriceTables prices;
  };

  __device__ ZstdSolver(Shared& sh, State* d_rows, unsigned lane)
      : sh_prices_(sh.prices),
        sh_ring_(sh.ring[lane / kLanes] + kShorterLengths),
        sh_chunk_(sh.chunks[lane / kLanes]),
        d_rows_(d_rows + std::size_t{lane / kLanes} * kSolvedRows),
        lane_(lane),
        candidate_(lane % kLanes) {}

  // Solves the segments of a warp from `warp_begin` in the block on. `d_decisions` are the block's.
  __device__ void solve(const DeviceBlock& block, std::uint32_t warp_begin, const ZstdFound& found,
                        std::uint32_t* d_decisions) {
    const std::uint32_t block_bytes = block.block_bytes;
    segment_.begin = min(warp_begin + lane_ / kLanes * kSegmentBytes, block_bytes);
    segment_.end = min(segment_.begin + kSegmentBytes, block_bytes);
    segment_.horizon = min(segment_.end + kAheadBytes, block_bytes);
    block_ = &block;
    first_price_ = sh_prices_.of_run(0);
    repeat_price_[0] = sh_prices_.of_offset_value(1);
    repeat_price_[1] = sh_prices_.of_offset_value(2);
    cost_ = 0;
    has_match_ = false;
    run_ = 0;
    run_price_ = first_price_;
    flags_ = 0;
    tried_ = 0;
    agreed_ = 0;
#pragma unroll
    for (std::uint32_t& next : next_) next = 0;
    store(segment_.horizon - segment_.begin, (segment_.horizon - segment_.begin) % kSolveRing);

    // No segment of the warp is longer than the first one.
    const std::uint32_t most = min(block_bytes - warp_begin, kSegmentBytes + kAheadBytes);
    const std::uint32_t chunks = (most + kLanes - 1) / kLanes;
    std::uint32_t own = segment_.begin + (chunks - 1) * kLanes + candidate_;
    FoundHere next_found = load(found, own);
    std::uint32_t place = (chunks * kLanes - 1) % kSolveRing;
    for (std::uint32_t chunk = chunks; chunk-- > 0; own -= kLanes) {
      prepare(next_found, own);
      if (chunk != 0) next_found = load(found, own - kLanes);
      __syncwarp();
      std::uint32_t decided = 0;
#pragma unroll 1
      for (unsigned i = kLanes; i-- > 0;) {
        const std::uint32_t decision = solve(own - candidate_ + i, i, place);
        place = (place == 0 ? kSolveRing : place) - 1;
        if (i == candidate_) decided = decision;
      }
      if (own < segment_.end) d_decisions[own] = decided;
    }
  }

 private:
  __device__ FoundHere load(const ZstdFound& found, std::uint32_t position) const {
    FoundHere here;
    if (position >= segment_.horizon) return here;
    const std::uint64_t at = block_->position + position;
    here.record = found.d_records[at];
    here.near = found.d_near_offsets[at];
#pragma unroll
    for (unsigned i = 0; i < kZstdMostFarFinders; ++i)
      if (found.d_far_records[i] != nullptr) here.far[i] = found.d_far_records[i][at];
    return here;
  }

  // The candidates of the lane's position, for the lanes of the segment.
  __device__ void prepare(const FoundHere& found, std::uint32_t position) {
    const bool is_solved = position < segment_.horizon;
    const std::uint32_t left = is_solved ? block_->block_bytes - position : 0;
    const std::byte* const here = block_->d_block + position;
    const Match matches[kMostFound] = {
        {record_offset(found.record), min(record_length(found.record), left)},
        {found.near, found.near == 0 ? 0 : zstd_near_length(here, found.near, left)},
        {far_offset(found.far[0]), min(far_length(found.far[0]), left)},
        {far_offset(found.far[1]), min(far_length(found.far[1]), left)}};
    std::uint32_t offsets[kMostFound];
#pragma unroll
    for (unsigned i = 0; i < kMostFound; ++i) {
      bool is_new = matches[i].length >= kLeastMatch;
#pragma unroll
      for (unsigned before = 0; before < i; ++before) is_new = is_new && offsets[before] != matches[i].offset;
      offsets[i] = is_new ? matches[i].offset : 0;
      sh_chunk_.offsets[candidate_][i] = offsets[i];
      sh_chunk_.lengths[candidate_][i] = is_new ? matches[i].length : 0;
    }
    const std::uint32_t literal = is_solved ? static_cast<std::uint32_t>(*here) : 0;
    sh_chunk_.literals[candidate_] =
        is_solved ? sh_prices_.literal[literal] * 256 + static_cast<std::int32_t>(literal) : 0;
  }

  // Solves the next position in front, `in_chunk` of the chunk, whose state comes to `place`; its decision. Behind the horizon there are no candidates, and literals cost nothing: what
  // is stored there is the horizon's own state.
  __device__ std::uint32_t solve(std::uint32_t position, unsigned in_chunk, std::uint32_t place) {
    const std::uint32_t row = position - segment_.begin;
    const std::uint32_t ahead = segment_.horizon - position;
    const std::int32_t literal = sh_chunk_.literals[in_chunk];
    // The lane's candidate.
    std::uint32_t offset = 0, length = 0;
    if (candidate_ < kMostFound) {
      offset = sh_chunk_.offsets[in_chunk][candidate_];
      length = sh_chunk_.lengths[in_chunk][candidate_];
    } else if constexpr (kTries != 0) {
      offset = tried_;
      length = agreed_ = agreement(position, static_cast<std::byte>(literal & 0xFF));
#pragma unroll
      for (unsigned i = 0; i < kMostFound; ++i)
        if (sh_chunk_.offsets[in_chunk][i] == offset) length = 0;
    }
    // The cheapest: of equal ones the first candidate, then the longest length.
    std::uint32_t cheapest = kTooMuch;
    if (length >= kLeastMatch)
      cheapest = cost_of(offset, length, row, place, ahead) + candidate_ * (kShorterLengths + 1);
#pragma unroll
    for (unsigned step = 1; step < kLanes; step *= 2)
      cheapest = min(cheapest, __shfl_xor_sync(kAllLanes, cheapest, step));
    const auto winner = static_cast<int>(lane_ - candidate_ + cheapest / (kShorterLengths + 1) % kLanes);
    const std::uint32_t taken_offset = __shfl_sync(kAllLanes, offset, winner);
    const std::uint32_t taken_length =
        __shfl_sync(kAllLanes, length, winner) - cheapest % (kShorterLengths + 1);

    // Without a match: one literal more.
    std::int32_t literal_cost = cost_ + (literal >> 8);
    std::int32_t literal_run_price = first_price_;
    if (has_match_) {
      literal_run_price = sh_prices_.of_run(run_ + 1);
      literal_cost += literal_run_price - run_price_;
    }
    const auto match_cost = static_cast<std::int32_t>(cheapest >> kChoiceBits);
    const bool is_match = match_cost < literal_cost;
    cost_ = is_match ? match_cost : literal_cost;
    run_price_ = is_match ? first_price_ : literal_run_price;
    run_ = is_match ? 0 : run_ + 1;
    has_match_ = has_match_ || is_match;
    if constexpr (kKnows == 1) {
      if (is_match) next_[0] = taken_offset;
    } else {
      std::uint32_t begun[3] = {next_[0], next_[1], next_[2]};
      if (is_match) begin_match(taken_offset, min(taken_length, ahead), row, place, begun);
      keep_agreement(begun);
#pragma unroll
      for (unsigned slot = 0; slot < 3; ++slot) next_[slot] = begun[slot];
    }
    __syncwarp();  // the state that is overwritten has been read
    store(row, place);
    __syncwarp();
    return is_match ? pack_decision(taken_offset, taken_length) : 0;
  }

  // Where in the ring the state of a position is that many behind that of `place`: kSolveRing at most.
  static __device__ std::uint32_t place_behind(std::uint32_t place, std::uint32_t jump) {
    return min(place + jump, place + jump - kSolveRing);
  }

  // One lane in shared memory, another one in the device's.
  __device__ void store(std::uint32_t row, std::uint32_t place) {
    State state;
    state.x =
        static_cast<std::uint32_t>(cost_) << kCostShift | flags_ | (has_match_ && run_ == 0 ? kTouches : 0);
    state.y = next_[0];
    if constexpr (kKnows > 1) {
      state.z = next_[1];
      state.w = next_[2];
    }
    if (candidate_ == 0) {
      sh_ring_[place] = state;
      if (place >= kSolveRing - kShorterLengths) *(sh_ring_ + place - kSolveRing) = state;
    }
    if (candidate_ == 1) d_rows_[row] = state;
  }

  // What the cheapest length of a candidate of three bytes or more costs, above the bits for the choice: how much shorter it is.
  __device__ std::uint32_t cost_of(std::uint32_t offset, std::uint32_t length, std::uint32_t row,
                                   std::uint32_t place, std::uint32_t ahead) const {
    State after[kShorterLengths + 1];
    std::int32_t match_price[kShorterLengths + 1];
    if (length <= min(ahead, kSolveRing)) {
      const State* const sh_after = sh_ring_ + place_behind(place, length);
      const std::int16_t* const sh_price = sh_prices_.match + length;
#pragma unroll
      for (std::uint32_t shorter = 0; shorter <= kShorterLengths; ++shorter) {
        after[shorter] = *(sh_after - shorter);
        match_price[shorter] = *(sh_price - shorter);
      }
    } else {
#pragma unroll
      for (std::uint32_t shorter = 0; shorter <= kShorterLengths; ++shorter) {
        const std::uint32_t jump = min(length - shorter, ahead);
        after[shorter] = d_rows_[row + jump];
        match_price[shorter] = sh_prices_.of_match(jump);
      }
    }
    const std::int32_t own_price = sh_prices_.of_offset_value(offset + kZstdRepeatCount);
    const std::int32_t entry_price = first_price_ + own_price;
    const std::int32_t credits[2] = {max(0, own_price - repeat_price_[0]),
                                     max(0, own_price - repeat_price_[1])};
    std::uint32_t best = kTooMuch;
#pragma unroll
    for (std::uint32_t shorter = 0; shorter <= kShorterLengths; ++shorter) {
      const State& state = after[shorter];
      const auto cost_after = static_cast<std::int32_t>(state.x >> kCostShift);
      std::int32_t cost = cost_after + entry_price + match_price[shorter];
      if constexpr (kKnows > 1) {
        if (offset == state.w) cost -= credits[1];
        if (offset == state.z) cost -= (state.x & kSecondDirectly) != 0 ? credits[0] : credits[1];
      }
      if (offset == state.y) cost = (state.x & kTouches) != 0 ? cost_after : cost - credits[0];
      const std::uint32_t choice = (static_cast<std::uint32_t>(cost) << kChoiceBits) + shorter;
      if (length >= kLeastMatch + shorter) best = min(best, choice);
    }
    return best;
  }

  // Takes a match: what comes next, from the state behind the match.
  __device__ void begin_match(std::uint32_t offset, std::uint32_t jump, std::uint32_t row,
                              std::uint32_t place, std::uint32_t (&begun)[3]) {
    const State after = jump <= kSolveRing ? sh_ring_[place_behind(place, jump)] : d_rows_[row + jump];
    const bool is_same = offset == after.y;
    begun[0] = offset;
    begun[1] = is_same ? after.z : after.y;
    begun[2] = is_same || offset == after.z ? after.w : after.z;
    flags_ = is_same ? after.x & kSecondDirectly : (after.x & kTouches) != 0 ? kSecondDirectly : 0;
  }

  // How many bytes agree with the offset that the lane tries, from what it was at the position behind.
  __device__ std::uint32_t agreement(std::uint32_t position, std::byte byte) const {
    if (tried_ == 0 || tried_ > block_->history_bytes + position) return 0;
    if (byte != *(block_->d_block + position - tried_)) return 0;
    if (agreed_ != kNotCompared) return min(agreed_ + 1, kMostTried);
    const DeviceText text(*block_);
    const std::uint32_t at = text.block() + position;
    return text.common_length(at, at - tried_, 1, min(block_->block_bytes - position, kMostTried));
  }

  // What the lane tries at the next position, and what is known of it: it may have been another lane's. By all lanes.
  __device__ void keep_agreement(const std::uint32_t (&begun)[3]) {
    const unsigned slot = candidate_ % kMostFound;
    tried_ = candidate_ < kMostFound || slot == kTries ? 0
             : slot == 0                               ? begun[0]
             : slot == 1                               ? begun[1]
                                                       : begun[2];
    unsigned before = 3;
#pragma unroll
    for (unsigned old = 0; old < 3; ++old)
      if (tried_ == next_[old]) before = old;
    const std::uint32_t kept =
        __shfl_sync(kAllLanes, agreed_, static_cast<int>(lane_ - candidate_ + kMostFound + before));
    agreed_ = before == 3 ? kNotCompared : kept;
  }

  // Below a cost: the number of a candidate, and how much shorter the match is.
  static constexpr unsigned kChoiceBits = 5;
  static_assert(kLanes * (kShorterLengths + 1) <= 1u << kChoiceBits);
  static constexpr std::uint32_t kTooMuch = ~std::uint32_t{0};  // more than any way costs

  const ZstdPriceTables& sh_prices_;
  State* const sh_ring_;  // of the segment, as all of these
  SolvedChunk<kLanes>& sh_chunk_;
  State* const d_rows_;
  const unsigned lane_, candidate_;

  const DeviceBlock* block_ = nullptr;
  SolvedSegment segment_{};
  std::int32_t first_price_ = 0, repeat_price_[2] = {};

  // The state of the position that was solved last.
  std::int32_t cost_ = 0;
  bool has_match_ = false;
  std::uint32_t run_ = 0;  // literals before the next match, or the horizon
  std::int32_t run_price_ = 0;
  std::uint32_t next_[kKnows] = {};
  std::uint32_t flags_ = 0;
  std::uint32_t tried_ = 0;   // the one of the next offsets that the lane tries
  std::uint32_t agreed_ = 0;  // how many bytes agree with the offset that the lane tries, or kNotCompared
};

template <class Solver>
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t solving_warps_per_block(std::uint32_t max_block_bytes) {
  return (max_block_bytes + Solver::kSolvedByWarp - 1) / Solver::kSolvedByWarp;
}

__device__ inline std::uint32_t* zstd_decisions_of(const DeviceBlock& block, std::uint32_t block_index,
                                                   const DeviceSequences& sequences) {
  static_assert(sizeof(Sequence) == kLeastMatch * sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(sequences.d_sequences +
                                          first_sequence(block.position, block_index, zstd_block_plan()));
}

template <unsigned kKnows, unsigned kTries>
__global__ void __launch_bounds__(32, kSolvingWarpsAtOnce)
    solve_zstd_segments(const DeviceBlocks blocks, const ZstdFound found, const ZstdDevicePrices* d_prices,
                        void* d_states, const DeviceSequences sequences) {
  using Solver = ZstdSolver<kKnows, kTries>;
  __shared__ typename Solver::Shared sh_solver;
  const unsigned lane = threadIdx.x;
  auto* const d_rows = static_cast<typename Solver::State*>(d_states);
  Solver solver(kept_shared(sh_solver), d_rows + std::size_t{blockIdx.x} * Solver::kGroups * kSolvedRows,
                lane);
  const std::uint32_t per_block = solving_warps_per_block<Solver>(blocks.max_block_bytes);
  const std::uint64_t warps = std::uint64_t{blocks.block_count} * per_block;
  for (std::uint64_t warp = blockIdx.x; warp < warps; warp += gridDim.x) {
    const auto block_index = static_cast<std::uint32_t>(warp / per_block);
    const std::uint32_t warp_begin = static_cast<std::uint32_t>(warp % per_block) * Solver::kSolvedByWarp;
    const DeviceBlock block = blocks.d_blocks[block_index];
    if (warp_begin >= block.block_bytes) continue;
    sh_solver.prices.fill(d_prices[block_index], lane);
    __syncwarp();
    solver.solve(block, warp_begin, found, zstd_decisions_of(block, block_index, sequences));
    __syncwarp();
  }
}

constexpr unsigned kWalkWarps = 4;

__global__ void __launch_bounds__(kWalkWarps * 32)
    walk_zstd_decisions(const DeviceBlocks blocks, const DeviceSequences sequences) {
  constexpr std::uint32_t kWindow = 32;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t block_index = blockIdx.x * kWalkWarps + threadIdx.x / 32;
  if (block_index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[block_index];
  const std::uint32_t end = block.block_bytes;
  const ZstdText text{block.d_block, end, lane};
  ZstdListWriter list(block, block_index, sequences, lane);
  // Those ahead of the list's end as it grows.
  const std::uint32_t* const d_decisions = zstd_decisions_of(block, block_index, sequences);
  const auto load = [&](std::uint32_t begin) { return begin + lane < end ? d_decisions[begin + lane] : 0; };
  std::uint32_t next_begin = 0, next = load(0);
  for (std::uint32_t begin = 0; begin < end;) {
    const std::uint32_t decision = next_begin == begin ? next : load(begin);
    next_begin = begin + kWindow;
    next = load(next_begin);
    std::uint32_t at = begin;
    std::uint32_t matches = __ballot_sync(kAllLanes, decision != 0);
    while (matches != 0) {
      const int taker = __ffs(static_cast<int>(matches)) - 1;
      const std::uint32_t taken = __shfl_sync(kAllLanes, decision, taker);
      const std::uint32_t position = begin + static_cast<std::uint32_t>(taker), offset = taken >> 8;
      std::uint32_t length = taken & kMostDecidedLength;
      if (length >= kFarCutBytes) length += text.agreement(position + length, offset);
      list.match(position, length, offset);
      at = position + length;
      matches &= at - begin < kWindow ? kAllLanes << (at - begin) : 0;
    }
    begin = max(begin + kWindow, at);
  }
  list.finish(end, block_index, sequences);
}

constexpr KernelBudget kSolveBudget("zstd.solve_segments", "solve_zstd_segments",
                                    {.threads = 32, .registers = 112, .shared_bytes = 12 * 1024});
const KernelRegistration kCheapRegistration(kSolveBudget, solve_zstd_segments<1, 0>);
const KernelRegistration kFullRegistration(kSolveBudget, solve_zstd_segments<3, 3>);
constexpr KernelBudget kWalkDecisionsBudget("zstd.walk_decisions", "walk_zstd_decisions",
                                            {.threads = kWalkWarps * 32, .registers = 48});
const KernelRegistration kWalkDecisionsRegistration(kWalkDecisionsBudget, walk_zstd_decisions);

using CheapSolver = ZstdSolver<1, 0>;
using FullSolver = ZstdSolver<3, 3>;

template <class Solver>
std::uint64_t solving_warps(const DeviceBlocks& blocks) {
  return std::uint64_t{blocks.block_count} * solving_warps_per_block<Solver>(blocks.max_block_bytes);
}

constexpr std::size_t kStateBytesOfWarp = std::max(CheapSolver::kGroups * sizeof(CheapSolver::State),
                                                   FullSolver::kGroups * sizeof(FullSolver::State)) *
                                          kSolvedRows;

}  // namespace

ZstdStates take_zstd_states(const DeviceBlocks& blocks, std::uint64_t most_bytes, Carver& carver) {
  const auto at_once = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {solving_warps<FullSolver>(blocks), std::max<std::uint64_t>(most_bytes / kStateBytesOfWarp, 1),
       kMostSolvingWarps}));
  return {carver.take<std::byte>(at_once * kStateBytesOfWarp), at_once};
}

void parse_zstd_optimal_cuda(const DeviceBlocks& blocks, const ZstdFound& found,
                             const ZstdDevicePrices* d_prices, const ZstdPass& pass, const ZstdStates& states,
                             const DeviceSequences& sequences, cudaStream_t stream) {
  const bool is_cheap = pass.knows == 1 && pass.tries == 0, is_full = pass.knows == 3 && pass.tries == 3;
  if (blocks.max_block_bytes > kZstdOwnBlockBytes || is_cheap == is_full)
    throw Error(Status::kInvalidOption, "parse_zstd: blocks that are too large, or a pass that no level has");
  const std::uint64_t warps =
      is_cheap ? solving_warps<CheapSolver>(blocks) : solving_warps<FullSolver>(blocks);
  launch({.kernel = kSolveBudget,
          .grid = static_cast<unsigned>(std::min<std::uint64_t>(states.warps_at_once, warps)),
          .stream = stream,
          .work = work_of(blocks)},
         is_cheap ? solve_zstd_segments<1, 0> : solve_zstd_segments<3, 3>, blocks, found, d_prices,
         static_cast<void*>(states.d_states), sequences);
  check(cudaMemsetAsync(sequences.d_total, 0, sizeof(std::uint64_t), stream), "parse_zstd: cudaMemsetAsync");
  launch({.kernel = kWalkDecisionsBudget,
          .grid = (blocks.block_count + kWalkWarps - 1) / kWalkWarps,
          .stream = stream,
          .work = work_of(blocks)},
         walk_zstd_decisions, blocks, sequences);
}

}  // namespace hemstitch::cuda
