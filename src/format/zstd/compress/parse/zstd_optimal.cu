// The optimal parse of Zstandard: two kernels.
//
//   solve   the decision at each position, 4 bytes: 4 lanes a segment, from its last position of the look-ahead to its first one
//   walk    from decisions to sequences: a warp a block, whose lanes look at 32 decisions at once
//
// Solving, mapping. A warp, which is a thread block, solves 8 neighbouring segments of one block in step. Each lane of a segment has one of the candidates that finders give, and one of the offsets
// that come next. It compares the costs of their lengths, and the lanes find the cheapest together. What follows from a choice, all of them compute. What finders say of a few positions, a
// *chunk*, is prepared at once, divided among the lanes, and handed over in shared memory.
//
// Two or three positions are solved at once: a match has three bytes at least, so what it costs depends on none of them. So the latency of shared memory, and of
// exchanges between lanes, counts once for all of them.
//
// States. Those of the kSolveRing positions behind are in shared memory: no match is longer. Many segments have to be on a multiprocessor at once, since these steps wait for each other.
//
// Memory. What finders say is asked for two chunks ahead, and the words of near places one chunk ahead.
//
// Decisions lie where the block's list is written: a sequence takes the place of three decisions, and covers three positions or more, which the walk has read then.
//
// Shared memory: 22 KB a warp, 14 KB in a cheap pass. Work: 1.125 positions a position, each at most 28 comparisons of costs. CPU twin: zstd_optimal_reference.cpp.
#include <type_traits>

#include "core/cost_model.hpp"
#include "core/host_device.hpp"
#include "core/status.hpp"
#include "format/zstd/compress/entropy/zstd_huffman.hpp"
#include "format/zstd/compress/entropy/zstd_value_codes.hpp"
#include "format/zstd/compress/parse/zstd_parse_cuda.hpp"
#include "format/zstd/compress/parse/zstd_window.cuh"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/shared_access.cuh"
#include "match/common/cuda/device_text.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr auto kSegmentBytes = static_cast<std::uint32_t>(kZstdSegmentBytes);
constexpr auto kAheadBytes = static_cast<std::uint32_t>(kZstdLookAheadBytes);
constexpr auto kSolveRing = static_cast<std::uint32_t>(kZstdMostSolvedBytes);
constexpr std::uint32_t kLeastMatch = 3, kMostShorter = 3;
constexpr unsigned kMostFound = 2 + kZstdMostFarFinders;
constexpr unsigned kSolvingWarpsAtOnce = 10;  // at least, on a multiprocessor

// A decision has 24 bits of offset and 8 of length. From kFarCutBytes on the length says no more than that: the walk compares.
constexpr std::uint32_t kMostDecidedLength = 255;
static_assert(kMostDecidedLength >= kSolveRing && kSolveRing >= kFarCutBytes);

__device__ inline std::uint32_t pack_decision(std::uint32_t offset, std::uint32_t length) {
  return length == 0 ? 0 : offset << 8 | length;
}

static __device__ constexpr auto zstd_solved_run_codes = kZstdLiteralCodes;
static __device__ constexpr auto zstd_solved_match_codes = kZstdMatchCodes;

// Prices by value, with extra bits. From 64 literals on, codes are powers of two.
struct ZstdPriceTables {
  static constexpr std::uint32_t kRuns = 64, kPowers = 5;

  std::uint8_t literal[256];  // 12 bits at most
  std::int16_t run[kRuns + kPowers + 1];
  std::int16_t match[kSolveRing + 1];  // those below 3 cost as much as 3
  std::int16_t offset[kZstdMostOffsetCode + 1];

  // By all lanes of the warp.
  __device__ void fill(const ZstdDevicePrices& prices, unsigned lane) {
    const auto price = [](std::int32_t of_code, std::uint32_t bits) {
      return static_cast<std::int16_t>(of_code + static_cast<std::int32_t>(bits * kCostUnitsPerBit));
    };
    for (unsigned i = lane; i < 256; i += 32) literal[i] = static_cast<std::uint8_t>(prices.literal[i]);
    for (unsigned i = lane; i < kRuns + kPowers + 1; i += 32) {
      const std::uint32_t code = zstd_run_code(i < kRuns ? i : kRuns << (i - kRuns));
      run[i] = price(prices.run_code[code], zstd_solved_run_codes[code].bits);
    }
    for (unsigned i = lane; i <= kSolveRing; i += 32) {
      const std::uint32_t code = zstd_match_code(max(i, kLeastMatch));
      match[i] = price(prices.match_code[code], zstd_solved_match_codes[code].bits);
    }
    for (unsigned i = lane; i <= kZstdMostOffsetCode; i += 32) offset[i] = price(prices.offset_code[i], i);
  }
  __device__ std::int32_t of_run(std::uint32_t literals) const {
    return run[literals < kRuns ? literals : kRuns - zstd_floor_log2(kRuns) + zstd_floor_log2(literals)];
  }
  __device__ std::int32_t of_offset_value(std::uint32_t value) const {
    return offset[zstd_floor_log2(value)];
  }
};
static_assert(kZstdUnusedLiteralPrice < 256 && kZstdMostLiteralBits <= 12);
static_assert(kZstdMostPricedRun < ZstdPriceTables::kRuns << (ZstdPriceTables::kPowers + 1));

// A state as others read it. `x`: the cost above two flags; `y`, `z`, `w`: the next offsets, 0 where there are not so many. Of the third one
// it does not matter whether its match directly follows another: the values 2 and 3 have one code. Passes that know one offset keep no more than that.
constexpr std::uint32_t kTouches = 2;         // a match begins here
constexpr std::uint32_t kSecondDirectly = 1;  // the match of the second offset directly follows another one
constexpr unsigned kCostShift = 2;

// The segment of a group of lanes.
struct SolvedSegment {
  std::uint32_t begin, end, horizon;  // in the block; all its size if there is none
};

// What finders give a position, and the price of its literal. A candidate with another one's offset before it, or too short, has no offset and no length.
struct alignas(8) SolvedPosition {
  std::uint32_t offsets[kMostFound];
  std::uint8_t lengths[kMostFound];
  std::int32_t literal;  // the price above the byte
};
// Those that the lanes of a segment share. One more, so that groups have different banks.
template <unsigned kPositions>
struct SolvedChunk {
  SolvedPosition positions[kPositions];
  std::uint64_t unused;
};

// What finders say of a position, and its byte.
struct FoundHere {
  MatchRecord record = 0;
  std::uint32_t near = 0;
  FarRecord far[kZstdMostFarFinders] = {};
  std::uint32_t byte = 0;
};

template <unsigned kKnows, unsigned kTries, unsigned kShorter, unsigned kAtOnce>
class ZstdSolver {
 public:
  static constexpr unsigned kLanes = 4;  // of a segment
  static constexpr unsigned kGroups = 32 / kLanes;
  static constexpr std::uint32_t kSolvedByWarp = kGroups * kSegmentBytes;
  static constexpr unsigned kPositionsOfLane = kAtOnce, kChunkPositions = kLanes * kPositionsOfLane;
  static_assert(kMostFound == kLanes && kTries < kLanes && kShorter <= kMostShorter);
  static_assert(kAtOnce <= kLeastMatch, "a match reaches behind the positions that are solved at once");
  static_assert(kSolveRing % kAtOnce == 0 && (kTries == 0 || kAtOnce == kZstdTriedAtOnce));
  using State = std::conditional_t<kKnows == 1, uint2, uint4>;

  struct Shared {
    // Behind a copy of its last states, so that neighbouring ones stand in a row. An odd number, so that groups have different banks.
    State ring[kGroups][kMostShorter + kSolveRing];
    SolvedChunk<kChunkPositions> chunks[kGroups];
    ZstdPriceTables prices;
  };
  static_assert((kMostShorter + kSolveRing) % 2 == 1);

  __device__ ZstdSolver(Shared& sh, unsigned lane)
      : sh_prices_(sh.prices),
        sh_ring_(sh.ring[lane / kLanes] + kMostShorter),
        sh_chunk_(sh.chunks[lane / kLanes]),
        lane_(lane),
        own_(lane % kLanes) {}

  // Solves the segments of a warp from `warp_begin` in the block on. `d_decisions` are the block's.
  __device__ void solve(const DeviceBlock& block, std::uint32_t warp_begin, const ZstdFound& found,
                        std::uint32_t* d_decisions) {
    const std::uint32_t block_bytes = block.block_bytes;
    segment_.begin = min(warp_begin + lane_ / kLanes * kSegmentBytes, block_bytes);
    segment_.end = min(segment_.begin + kSegmentBytes, block_bytes);
    segment_.horizon = min(segment_.end + kAheadBytes, block_bytes);
    block_ = &block;
    first_price_ = sh_prices_.of_run(0);
    short_run_prices_[0] = sh_prices_.of_run(1);
    short_run_prices_[1] = sh_prices_.of_run(2);
    repeat_price_[0] = sh_prices_.of_offset_value(1);
    repeat_price_[1] = sh_prices_.of_offset_value(2);
    cost_ = 0;
    has_match_ = false;
    run_ = 0;
    run_price_ = first_price_;
    flags_ = 0;
    tried_ = 0;
#pragma unroll
    for (std::uint32_t& byte : tried_bytes_) byte = kNoByte;
    agreed_ = 0;
#pragma unroll
    for (std::uint32_t& next : next_) next = 0;
    // Behind the horizon all is as at the horizon.
    for (std::uint32_t i = own_; i < kMostShorter + kSolveRing; i += kLanes)
      *(sh_ring_ - kMostShorter + i) = State{};

    // No segment of the warp is longer than the first one.
    const std::uint32_t most = min(block_bytes - warp_begin, kSegmentBytes + kAheadBytes);
    const std::uint32_t chunks = (most + kChunkPositions - 1) / kChunkPositions;
    std::uint32_t begin = segment_.begin + (chunks - 1) * kChunkPositions;
    FoundHere coming[kPositionsOfLane], later[kPositionsOfLane];
    NearPair words[kPositionsOfLane];
    load(found, begin, coming);
    load_words(coming, begin, words);
    if (chunks > 1) load(found, begin - kChunkPositions, later);
    std::uint32_t place = chunks * kChunkPositions % kSolveRing;
    for (std::uint32_t chunk = chunks; chunk-- > 0; begin -= kChunkPositions) {
      prepare(coming, words, begin);
      if (chunk > 0) {
#pragma unroll
        for (unsigned i = 0; i < kPositionsOfLane; ++i) coming[i] = later[i];
        load_words(coming, begin - kChunkPositions, words);
        if (chunk > 1) load(found, begin - 2 * kChunkPositions, later);
      }
      __syncwarp();
#pragma unroll 1
      for (unsigned in_chunk = kChunkPositions; in_chunk != 0;) {
        in_chunk -= kAtOnce;
        place = (place == 0 ? kSolveRing : place) - kAtOnce;
        std::uint32_t decisions[kAtOnce];
        solve(begin + in_chunk, in_chunk, place, decisions);
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) {
          const std::uint32_t position = begin + in_chunk + i;
          if (own_ == i % kLanes && position < segment_.end) d_decisions[position] = decisions[i];
        }
      }
    }
  }

 private:
  // What finders say of the lane's positions of a chunk.
  __device__ void load(const ZstdFound& found, std::uint32_t begin,
                       FoundHere (&here)[kPositionsOfLane]) const {
#pragma unroll
    for (unsigned slot = 0; slot < kPositionsOfLane; ++slot) {
      const std::uint32_t position = begin + slot * kLanes + own_;
      here[slot] = {};
      if (position >= segment_.horizon) continue;
      const std::uint64_t at = block_->position + position;
      here[slot].record = found.d_records[at];
      here[slot].near = found.d_near_offsets[at];
#pragma unroll
      for (unsigned i = 0; i < kZstdMostFarFinders; ++i)
        if (found.d_far_records[i] != nullptr) here[slot].far[i] = found.d_far_records[i][at];
      here[slot].byte = std::to_integer<std::uint32_t>(block_->d_block[position]);
    }
  }
  __device__ void load_words(const FoundHere (&here)[kPositionsOfLane], std::uint32_t begin,
                             NearPair (&words)[kPositionsOfLane]) const {
#pragma unroll
    for (unsigned slot = 0; slot < kPositionsOfLane; ++slot) {
      const std::uint32_t position = begin + slot * kLanes + own_;
      words[slot] = {load_near_words(*block_, position, 0, here[slot].near != 0),
                     load_near_words(*block_, position, here[slot].near, here[slot].near != 0)};
    }
  }

  // The candidates of the lane's positions, for the lanes of the segment.
  __device__ void prepare(const FoundHere (&here)[kPositionsOfLane],
                          const NearPair (&words)[kPositionsOfLane], std::uint32_t begin) {
#pragma unroll
    for (unsigned slot = 0; slot < kPositionsOfLane; ++slot) {
      const std::uint32_t in_chunk = slot * kLanes + own_, position = begin + in_chunk;
      const FoundHere& found = here[slot];
      const bool is_solved = position < segment_.horizon;
      const std::uint32_t most = is_solved ? min(block_->block_bytes - position, kSolveRing) : 0;
      const Match matches[kMostFound] = {
          {record_offset(found.record), record_length(found.record)},
          {found.near, found.near == 0 ? 0 : zstd_near_length(*block_, position, found.near, words[slot])},
          {far_offset(found.far[0]), far_length(found.far[0])},
          {far_offset(found.far[1]), far_length(found.far[1])}};
      SolvedPosition& out = sh_chunk_.positions[in_chunk];
      std::uint32_t offsets[kMostFound];
#pragma unroll
      for (unsigned i = 0; i < kMostFound; ++i) {
        const std::uint32_t length = min(matches[i].length, most);
        bool is_new = length >= kLeastMatch;
#pragma unroll
        for (unsigned before = 0; before < i; ++before)
          is_new = is_new && offsets[before] != matches[i].offset;
        offsets[i] = is_new ? matches[i].offset : 0;
        out.offsets[i] = offsets[i];
        out.lengths[i] = static_cast<std::uint8_t>(is_new ? length : 0);
      }
      out.literal =
          is_solved ? sh_prices_.literal[found.byte] * 256 + static_cast<std::int32_t>(found.byte) : 0;
    }
  }

  // The lane's best candidate of a position; the cost above the bits for the choice.
  struct Choice {
    std::uint32_t cost = kTooMuch, offset = 0, length = 0;
  };

  // Solves the next positions in front, from `low` on, `in_chunk` of the chunk, whose states come to `place` and behind; their decisions. Matches reach behind all of them, so what these
  // cost is found of all at once. Behind the horizon there are no candidates, and literals cost nothing: what is stored there is the horizon's own state.
  __device__ void solve(std::uint32_t low, unsigned in_chunk, std::uint32_t place,
                        std::uint32_t (&decisions)[kAtOnce]) {
    // The cheapest: of equal ones the first candidate, then the longest length.
    std::int32_t literals[kAtOnce];
    Choice choices[kAtOnce];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const SolvedPosition& here = sh_chunk_.positions[in_chunk + i];
      literals[i] = here.literal;
      consider(own_, here.offsets[own_], here.lengths[own_], place + i, choices[i]);
    }
    if constexpr (kTries != 0) {
#pragma unroll
      for (unsigned i = kAtOnce; i-- > 0;) {
        count_agreeing(low + i, static_cast<std::uint32_t>(literals[i]) & 0xFF, tried_bytes_[i]);
        std::uint32_t is_found = 0;
#pragma unroll
        for (unsigned other = 0; other < kMostFound; ++other)
          is_found |= sh_chunk_.positions[in_chunk + i].offsets[other] == tried_ ? 1 : 0;
        consider(kLanes + own_, tried_, is_found != 0 ? 0 : static_cast<std::uint32_t>(max(agreed_, 0)),
                 place + i, choices[i]);
      }
    }
    std::uint32_t costs[kAtOnce], offsets[kAtOnce], lengths[kAtOnce];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) costs[i] = choices[i].cost;
#pragma unroll
    for (unsigned step = 1; step < kLanes; step *= 2) {
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i)
        costs[i] = min(costs[i], __shfl_xor_sync(kAllLanes, costs[i], step));
    }
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const auto winner = static_cast<int>(lane_ - own_ + costs[i] / (kMostShorter + 1) % kLanes);
      offsets[i] = __shfl_sync(kAllLanes, choices[i].offset, winner);
      const std::uint32_t length = __shfl_sync(kAllLanes, choices[i].length, winner);
      lengths[i] = costs[i] == kTooMuch ? 0 : length - costs[i] % (kMostShorter + 1);
    }
    State after[kAtOnce];
    std::int32_t run_prices[kAtOnce];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      if constexpr (kKnows > 1) after[i] = sh_ring_[place_behind(place + i, lengths[i])];
      run_prices[i] = has_match_ ? sh_prices_.of_run(run_ + kAtOnce - i) : first_price_;
    }
    __syncwarp();  // the states that are overwritten have been read

    // One position after the other: a match, or one literal more.
    std::uint32_t begun[kKnows];
#pragma unroll
    for (unsigned i = 0; i < kKnows; ++i) begun[i] = next_[i];
    bool has_begun = false;  // a match, at one of these positions
#pragma unroll
    for (unsigned i = kAtOnce; i-- > 0;) {
      const std::int32_t run_price = !has_begun  ? run_prices[i]
                                     : run_ == 0 ? short_run_prices_[0]
                                                 : short_run_prices_[1];
      const std::int32_t literal_cost = cost_ + (literals[i] >> 8) + run_price - run_price_;
      const auto match_cost = static_cast<std::int32_t>(costs[i] >> kChoiceBits);
      const bool is_match = match_cost < literal_cost;
      cost_ = is_match ? match_cost : literal_cost;
      run_price_ = is_match ? first_price_ : run_price;
      run_ = is_match ? 0 : run_ + 1;
      has_match_ = has_match_ || is_match;
      has_begun = has_begun || is_match;
      if (is_match) begin_match(offsets[i], after[i], begun);
      decisions[i] = is_match ? pack_decision(offsets[i], lengths[i]) : 0;
      if (own_ == i % kLanes) store(place + i, begun);
    }
    if constexpr (kTries != 0)
      try_next(begun, decisions[0] != 0 ? static_cast<std::int32_t>(lengths[0]) : 0, low);
#pragma unroll
    for (unsigned i = 0; i < kKnows; ++i) next_[i] = begun[i];
    __syncwarp();
  }

  // Without branches, so that what all candidates read is on its way together.
  __device__ __forceinline__ void consider(unsigned candidate, std::uint32_t offset, std::uint32_t length,
                                           std::uint32_t place, Choice& choice) const {
    const std::uint32_t cost =
        cost_of(offset, max(length, kLeastMatch), place) + candidate * (kMostShorter + 1);
    const bool is_better = length >= kLeastMatch && cost < choice.cost;
    choice.cost = is_better ? cost : choice.cost;
    choice.offset = is_better ? offset : choice.offset;
    choice.length = is_better ? length : choice.length;
  }

  // Where in the ring the state of a position is that many behind that of `place`: kSolveRing at most.
  static __device__ std::uint32_t place_behind(std::uint32_t place, std::uint32_t jump) {
    return min(place + jump, place + jump - kSolveRing);
  }

  __device__ void store(std::uint32_t place, const std::uint32_t (&next)[kKnows]) {
    State state;
    state.x =
        static_cast<std::uint32_t>(cost_) << kCostShift | flags_ | (has_match_ && run_ == 0 ? kTouches : 0);
    state.y = next[0];
    if constexpr (kKnows > 1) {
      state.z = next[1];
      state.w = next[2];
    }
    sh_ring_[place] = state;
    if (place >= kSolveRing - kMostShorter) *(sh_ring_ + place - kSolveRing) = state;
  }

  // What the cheapest length of a candidate of three bytes or more costs, above the bits for the choice: how much shorter it is.
  __device__ __forceinline__ std::uint32_t cost_of(std::uint32_t offset, std::uint32_t length,
                                                   std::uint32_t place) const {
    const State* const sh_after = sh_ring_ + place_behind(place, length);
    const std::int16_t* const sh_price = sh_prices_.match + length;
    const std::int32_t own_price = sh_prices_.of_offset_value(offset + kZstdRepeatCount);
    const std::int32_t entry_price = first_price_ + own_price;
    const std::int32_t credits[2] = {max(0, own_price - repeat_price_[0]),
                                     max(0, own_price - repeat_price_[1])};
    std::uint32_t best = kTooMuch;
#pragma unroll
    for (std::uint32_t shorter = 0; shorter <= kShorter; ++shorter) {
      const State state = *(sh_after - shorter);
      const auto cost_after = static_cast<std::int32_t>(state.x >> kCostShift);
      std::int32_t cost = cost_after + entry_price + *(sh_price - shorter);
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
  __device__ void begin_match(std::uint32_t offset, const State& after, std::uint32_t (&begun)[kKnows]) {
    begun[0] = offset;
    if constexpr (kKnows > 1) {
      const bool is_same = offset == after.y;
      begun[1] = is_same ? after.z : after.y;
      begun[2] = is_same || offset == after.z ? after.w : after.z;
      flags_ = is_same ? after.x & kSecondDirectly : (after.x & kTouches) != 0 ? kSecondDirectly : 0;
    }
  }

  // Counts the byte of a position for the offset that the lane tries.
  __device__ void count_agreeing(std::uint32_t position, std::uint32_t byte, std::uint32_t tried_byte) {
    const bool is_same = byte == tried_byte;
    agreed_ = is_same ? min(agreed_ + 1, static_cast<std::int32_t>(kSolveRing)) : 0;
    if (!is_same || agreed_ != 0) return;
    const DeviceText text(*block_);
    const std::uint32_t at = text.block() + position;
    agreed_ = static_cast<std::int32_t>(
        text.common_length(at, at - tried_, kLeastMatch, min(block_->block_bytes - position, kSolveRing)));
  }

  // What the lane tries at the next positions, those before `low`, and what is known of it: it may have been another lane's. `begins` is the length of the match that begins at `low`,
  // or 0. By all lanes.
  __device__ void try_next(const std::uint32_t (&begun)[kKnows], std::int32_t begins, std::uint32_t low) {
    tried_ = own_ == 0 ? begun[0] : own_ == 1 ? begun[1] : own_ == 2 ? begun[2] : 0;
    // Asked for early.
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const std::uint32_t back = kAtOnce - i;
      tried_bytes_[i] = kNoByte;
      if (tried_ != 0 && low >= back && tried_ <= block_->history_bytes + low - back)
        tried_bytes_[i] = std::to_integer<std::uint32_t>(*(block_->d_block + low - back - tried_));
    }
    unsigned before = 3;
#pragma unroll
    for (unsigned old = 0; old < 3; ++old)
      if (tried_ == next_[old]) before = old;
    const std::int32_t kept = __shfl_sync(kAllLanes, agreed_, static_cast<int>(lane_ - own_ + before));
    constexpr std::int32_t kNothingKnown = -static_cast<std::int32_t>(kLeastMatch);
    agreed_ = before != 3 ? kept : own_ == 0 && begins != 0 ? begins : kNothingKnown;
  }

  // Below a cost: the number of a candidate, and how much shorter the match is.
  static constexpr unsigned kChoiceBits = 5;
  static_assert(2 * kLanes * (kMostShorter + 1) <= 1u << kChoiceBits);
  static constexpr std::uint32_t kTooMuch = ~std::uint32_t{0};  // more than any way costs

  const ZstdPriceTables& sh_prices_;
  State* const sh_ring_;  // of the segment, as all of these
  SolvedChunk<kChunkPositions>& sh_chunk_;
  const unsigned lane_, own_;  // of the warp, of the segment

  const DeviceBlock* block_ = nullptr;
  SolvedSegment segment_{};
  std::int32_t first_price_ = 0, short_run_prices_[2] = {},
               repeat_price_[2] = {};  // of runs of 0, of 1 and 2

  // The state of the position that was solved last.
  std::int32_t cost_ = 0;
  bool has_match_ = false;
  std::uint32_t run_ = 0;  // literals before the next match, or the horizon
  std::int32_t run_price_ = 0;
  std::uint32_t next_[kKnows] = {};
  std::uint32_t flags_ = 0;
  static constexpr std::uint32_t kNoByte = 256;  // agrees with none
  std::uint32_t tried_ = 0;                      // the one of the next offsets that the lane tries
  std::uint32_t tried_bytes_[kAtOnce] = {};      // that far before the positions that are solved next
  // How many bytes agree with that offset, or three less where no more is known than the bytes counted so far.
  std::int32_t agreed_ = 0;
};

using CheapSolver = ZstdSolver<1, 0, 1, 3>;
using FullSolver = ZstdSolver<3, 3, 3, kZstdTriedAtOnce>;

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

template <class Solver>
__global__ void __launch_bounds__(32, kSolvingWarpsAtOnce)
    solve_zstd_segments(const DeviceBlocks blocks, const ZstdFound found, const ZstdDevicePrices* d_prices,
                        const DeviceSequences sequences) {
  __shared__ typename Solver::Shared sh_solver;
  const unsigned lane = threadIdx.x;
  Solver solver(kept_shared(sh_solver), lane);
  const std::uint32_t per_block = solving_warps_per_block<Solver>(blocks.max_block_bytes);
  const std::uint32_t block_index = blockIdx.x / per_block;
  const std::uint32_t warp_begin = blockIdx.x % per_block * Solver::kSolvedByWarp;
  const DeviceBlock block = blocks.d_blocks[block_index];
  if (warp_begin >= block.block_bytes) return;
  sh_solver.prices.fill(d_prices[block_index], lane);
  __syncwarp();
  solver.solve(block, warp_begin, found, zstd_decisions_of(block, block_index, sequences));
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
                                    {.threads = 32, .registers = 168, .shared_bytes = 22 * 1024});
const KernelRegistration kCheapRegistration(kSolveBudget, solve_zstd_segments<CheapSolver>);
const KernelRegistration kFullRegistration(kSolveBudget, solve_zstd_segments<FullSolver>);
constexpr KernelBudget kWalkDecisionsBudget("zstd.walk_decisions", "walk_zstd_decisions",
                                            {.threads = kWalkWarps * 32, .registers = 48});
const KernelRegistration kWalkDecisionsRegistration(kWalkDecisionsBudget, walk_zstd_decisions);

template <class Solver>
void solve(const DeviceBlocks& blocks, const ZstdFound& found, const ZstdDevicePrices* d_prices,
           const DeviceSequences& sequences, cudaStream_t stream) {
  launch({.kernel = kSolveBudget,
          .grid = blocks.block_count * solving_warps_per_block<Solver>(blocks.max_block_bytes),
          .stream = stream,
          .work = work_of(blocks)},
         solve_zstd_segments<Solver>, blocks, found, d_prices, sequences);
}

}  // namespace

void parse_zstd_optimal_cuda(const DeviceBlocks& blocks, const ZstdFound& found,
                             const ZstdDevicePrices* d_prices, const ZstdPass& pass,
                             const DeviceSequences& sequences, cudaStream_t stream) {
  const bool is_cheap = pass == kZstdCheapPass;
  if (blocks.max_block_bytes > kZstdOwnBlockBytes || !(is_cheap || pass == kZstdFullPass))
    throw Error(Status::kInvalidOption, "parse_zstd: blocks that are too large, or a pass that no level has");
  if (is_cheap)
    solve<CheapSolver>(blocks, found, d_prices, sequences, stream);
  else
    solve<FullSolver>(blocks, found, d_prices, sequences, stream);
  check(cudaMemsetAsync(sequences.d_total, 0, sizeof(std::uint64_t), stream), "parse_zstd: cudaMemsetAsync");
  launch({.kernel = kWalkDecisionsBudget,
          .grid = (blocks.block_count + kWalkWarps - 1) / kWalkWarps,
          .stream = stream,
          .work = work_of(blocks)},
         walk_zstd_decisions, blocks, sequences);
}

}  // namespace hemstitch::cuda
