// The optimal parse of Zstandard: two kernels.
//
//   solve   the decision at each position, 4 bytes: a lane a segment, from its last position of the look-ahead to its first one
//   walk    from decisions to sequences: a warp a block, whose lanes look at 32 decisions at once
//
// Solving, mapping. A warp, which is a thread block, takes up to 32 segments of one block, a lane for each. All lanes go through their segments in step, and
// need nothing of each other but the prices. A position's choice takes the states behind up to seven candidates of four lengths each, so the work is in comparing costs,
// and a lane does for its segment what the twin does.
//
// States. 16 bytes each: the cost above two flags, and the next three offsets. Those of the kRing positions behind the one that is solved are in shared memory, a row of all
// lanes a position; longer matches read what is also written to device memory, in rows as well. So the number of warps that are launched at
// once is limited, and the launches for a batch use that memory one after the other.
//
// Tried offsets. How many bytes agree with one of the next offsets follows from the position behind: one byte more, or none. Only for an offset that was not
// among the next ones there are bytes compared on, and only if the first one agrees.
//
// Positions are taken in fours that begin at multiples of 4 of the batch, so that what finders wrote is loaded, and decisions are stored, in words of 8 or 16 bytes.
//
// Shared memory: 17 KB a warp. Work: 1.25 positions a position, each at most 28 comparisons of costs. CPU twin: zstd_optimal_reference.cpp.
#include <algorithm>

#include "core/cost_model.hpp"
#include "core/status.hpp"
#include "format/zstd/compress/entropy/zstd_value_codes.hpp"
#include "format/zstd/compress/parse/zstd_parse_cuda.hpp"
#include "format/zstd/compress/parse/zstd_window.cuh"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_text.cuh"
#include "match/common/cuda/device_work.hpp"
#include "match/far/far_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr auto kSegmentBytes = static_cast<std::uint32_t>(kZstdSegmentBytes);
constexpr auto kAheadBytes = static_cast<std::uint32_t>(kZstdLookAheadBytes);
constexpr std::uint32_t kSolvedRows = kSegmentBytes + kAheadBytes + 1;  // with the horizon
constexpr std::uint32_t kSolveRing = 32;
constexpr std::uint32_t kLeastMatch = 3, kShorterLengths = 3;
constexpr auto kMostTried = static_cast<std::uint32_t>(kZstdTriedBytes);
constexpr std::uint32_t kSolvedByWarp = 32 * kSegmentBytes;
// More warps than this find no room on a device at once.
constexpr std::uint32_t kMostSolvingWarps = 2048;

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

  std::int16_t literal[256];
  std::int16_t run[kRuns + kPowers + 1];
  std::int16_t match[kMatches + kPowers];
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
    for (unsigned i = lane; i < kMatches + kPowers; i += 32) {
      const std::uint32_t code =
          zstd_match_code(kLeastMatch + (i < kMatches ? i : kMatches << (i - kMatches)));
      match[i] = price(prices.match_code[code], zstd_solved_match_codes[code].bits);
    }
    for (unsigned i = lane; i <= kZstdMostOffsetCode; i += 32) offset[i] = price(prices.offset_code[i], i);
  }
  __device__ std::int32_t of_run(std::uint32_t literals) const {
    return run[literals < kRuns ? literals : kRuns - zstd_floor_log2(kRuns) + zstd_floor_log2(literals)];
  }
  __device__ std::int32_t of_match(std::uint32_t length) const {
    const std::uint32_t more = length - kLeastMatch;
    return match[more < kMatches ? more : kMatches - zstd_floor_log2(kMatches) + zstd_floor_log2(more)];
  }
  __device__ std::int32_t of_offset_value(std::uint32_t value) const {
    return offset[zstd_floor_log2(value)];
  }
};
static_assert(kZstdMostPricedBytes < ZstdPriceTables::kMatches << ZstdPriceTables::kPowers);
static_assert(kZstdMostPricedBytes < ZstdPriceTables::kRuns << (ZstdPriceTables::kPowers + 1));

// A state as others read it. `x`: the cost above two flags; `y`, `z`, `w`: the next offsets, 0 where there are not so many. Of the third one
// it does not matter whether its match directly follows another: the values 2 and 3 have one code.
constexpr std::uint32_t kTouches = 2;         // a match begins here
constexpr std::uint32_t kSecondDirectly = 1;  // the match of the second offset directly follows another one
constexpr unsigned kCostShift = 2;

// The segment of a lane.
struct SolvedSegment {
  const std::byte* d_block;
  std::uint32_t block_bytes;
  std::uint32_t begin, end, horizon;  // in the block
};

constexpr std::uint32_t kNotCompared = ~std::uint32_t{0};

template <unsigned kKnows, unsigned kTries>
class ZstdSolver {
 public:
  static constexpr unsigned kSlots = kTries == 0 ? 1 : kTries;

  __device__ ZstdSolver(const DeviceBlock& block, const SolvedSegment& segment, const ZstdPriceTables& prices,
                        uint4* sh_ring, uint4* d_rows)
      : text_(block),
        segment_(segment),
        history_bytes_(block.history_bytes),
        prices_(prices),
        sh_ring_(sh_ring),
        d_rows_(d_rows),
        first_price_(prices.of_run(0)),
        run_price_(first_price_),
        repeat_price_{prices.of_offset_value(1), prices.of_offset_value(2)} {
    store(segment.horizon - segment.begin, {0, 0, 0, 0});
  }

  // Solves the next position in front; returns its decision.
  template <unsigned kFound>
  __device__ std::uint32_t solve(std::uint32_t position, const Match (&found)[kFound]) {
    position_ = position;
    // Without a match: one literal more.
    const auto literal = static_cast<std::uint32_t>(segment_.d_block[position]);
    std::int32_t literal_run_price = first_price_;
    best_cost_ = cost_ + prices_.literal[literal];
    if (has_match_) {
      literal_run_price = prices_.of_run(run_ + 1);
      best_cost_ += literal_run_price - run_price_;
    }
    best_ = {};

    bool is_new[kFound];
#pragma unroll
    for (unsigned i = 0; i < kFound; ++i) {
      is_new[i] = found[i].length >= kLeastMatch;
#pragma unroll
      for (unsigned before = 0; before < i; ++before)
        is_new[i] = is_new[i] && !(is_new[before] && found[before].offset == found[i].offset);
      if (is_new[i]) consider(found[i].offset, found[i].length);
    }
    if constexpr (kTries != 0) {
#pragma unroll
      for (unsigned slot = 0; slot < kTries; ++slot) {
        agreed_[slot] = agreement(slot);
        bool is_other = agreed_[slot] >= kLeastMatch;
#pragma unroll
        for (unsigned i = 0; i < kFound; ++i)
          is_other = is_other && !(is_new[i] && found[i].offset == next_[slot]);
        if (is_other) consider(next_[slot], agreed_[slot]);
      }
    }

    cost_ = best_cost_;
    if (best_.length == 0) {
      if (has_match_) ++run_;
      run_price_ = literal_run_price;
    } else {
      begin_match();
    }
    store(position - segment_.begin, {static_cast<std::uint32_t>(cost_) << kCostShift | flags_ |
                                          (has_match_ && run_ == 0 ? kTouches : 0),
                                      next_[0], next_[1], next_[2]});
    return pack_decision(best_.offset, best_.length);
  }

 private:
  __device__ void store(std::uint32_t row, const uint4& state) {
    sh_ring_[row % kSolveRing * 32] = state;
    d_rows_[std::size_t{row} * 32] = state;
  }
  // Of the position `jump` behind this one, 1 or more.
  __device__ uint4 state_behind(std::uint32_t jump) const {
    const std::uint32_t row = position_ - segment_.begin + jump;
    return jump <= kSolveRing ? sh_ring_[row % kSolveRing * 32] : d_rows_[std::size_t{row} * 32];
  }

  __device__ void consider(std::uint32_t offset, std::uint32_t length) {
    const std::int32_t own_price = prices_.of_offset_value(offset + kZstdRepeatCount);
    const std::int32_t entry_price = first_price_ + own_price;
    const std::int32_t credits[2] = {max(0, own_price - repeat_price_[0]),
                                     max(0, own_price - repeat_price_[1])};
    const std::uint32_t ahead = segment_.horizon - position_;
#pragma unroll
    for (std::uint32_t shorter = 0; shorter <= kShorterLengths; ++shorter) {
      if (length < kLeastMatch + shorter) break;
      const std::uint32_t jump = min(length - shorter, ahead);
      const uint4 after = state_behind(jump);
      const auto cost_after = static_cast<std::int32_t>(after.x >> kCostShift);
      std::int32_t cost = cost_after + entry_price + prices_.of_match(max(jump, kLeastMatch));
      if (offset == after.y)
        cost = (after.x & kTouches) != 0 ? cost_after : cost - credits[0];
      else if (kKnows > 1 && offset == after.z)
        cost -= (after.x & kSecondDirectly) != 0 ? credits[0] : credits[1];
      else if (kKnows > 2 && offset == after.w)
        cost -= credits[1];
      if (cost >= best_cost_) continue;
      best_cost_ = cost;
      best_ = {offset, length - shorter};
    }
  }

  // Takes the best match: this position's state from that behind the match.
  __device__ void begin_match() {
    const uint4 after = state_behind(min(best_.length, segment_.horizon - position_));
    std::uint32_t begun[3] = {after.y, after.z, after.w};
    flags_ = after.x & kSecondDirectly;
    if (best_.offset != after.y) {
      if (!(kKnows > 1 && best_.offset == after.z)) begun[2] = after.z;
      flags_ = (after.x & kTouches) != 0 ? kSecondDirectly : 0;
      begun[1] = after.y;
      begun[0] = best_.offset;
    }
    if constexpr (kTries != 0) {
      std::uint32_t kept[kTries];
#pragma unroll
      for (unsigned slot = 0; slot < kTries; ++slot) {
        kept[slot] = kNotCompared;
#pragma unroll
        for (unsigned old = 0; old < kTries; ++old)
          if (begun[slot] == next_[old]) kept[slot] = agreed_[old];
      }
#pragma unroll
      for (unsigned slot = 0; slot < kTries; ++slot) agreed_[slot] = kept[slot];
    }
#pragma unroll
    for (unsigned slot = 0; slot < 3; ++slot) next_[slot] = begun[slot];
    has_match_ = true;
    run_ = 0;
    run_price_ = first_price_;
  }

  // How many bytes agree with the next offset of that slot, from what it was at the position behind.
  __device__ std::uint32_t agreement(unsigned slot) const {
    const std::uint32_t offset = next_[slot];
    if (offset == 0 || offset > std::uint64_t{history_bytes_} + position_) return 0;
    const std::byte* const here = segment_.d_block + position_;
    if (*here != *(here - offset)) return 0;
    if (agreed_[slot] != kNotCompared) return min(agreed_[slot] + 1, kMostTried);
    const std::uint32_t at = text_.block() + position_;
    return text_.common_length(at, at - offset, 1, min(segment_.block_bytes - position_, kMostTried));
  }

  const DeviceText text_;
  const SolvedSegment& segment_;
  const std::uint32_t history_bytes_;
  const ZstdPriceTables& prices_;
  uint4* const sh_ring_;  // this lane's column
  uint4* const d_rows_;
  const std::int32_t first_price_;

  // The state of the position that was solved last.
  std::int32_t cost_ = 0;
  bool has_match_ = false;
  std::uint32_t run_ = 0;  // literals before the next match, if there is one
  std::int32_t run_price_;
  std::uint32_t next_[3] = {};
  std::uint32_t flags_ = 0;
  std::uint32_t agreed_[kSlots] = {};  // how many bytes agree with next_, or kNotCompared

  const std::int32_t repeat_price_[2];
  std::uint32_t position_ = 0;
  std::int32_t best_cost_ = 0;
  Match best_;
};

constexpr unsigned kTogether = 4;  // positions that are loaded and stored together

struct FourDecisions {
  std::uint32_t of[kTogether];
};

template <unsigned kKnows, unsigned kTries>
__global__ void __launch_bounds__(32)
    solve_zstd_segments(const DeviceBlocks blocks, const ZstdFound found, const ZstdDevicePrices* d_prices,
                        std::uint32_t first_warp, std::uint32_t warps_per_block, uint4* d_states,
                        std::uint32_t* d_decisions) {
  __shared__ uint4 sh_ring[kSolveRing * 32];
  __shared__ ZstdPriceTables sh_prices;
  const unsigned lane = threadIdx.x;
  const std::uint32_t warp = first_warp + blockIdx.x;
  const std::uint32_t block_index = warp / warps_per_block;
  const std::uint32_t warp_begin = warp % warps_per_block * kSolvedByWarp;
  const DeviceBlock block = blocks.d_blocks[block_index];
  if (warp_begin >= block.block_bytes) return;
  sh_prices.fill(d_prices[block_index], lane);
  __syncwarp();

  const std::uint32_t begin = warp_begin + lane * kSegmentBytes;
  if (begin >= block.block_bytes) return;
  const std::uint32_t end = min(begin + kSegmentBytes, block.block_bytes);
  const SolvedSegment segment{block.d_block, block.block_bytes, begin, end,
                              min(end + kAheadBytes, block.block_bytes)};
  ZstdSolver<kKnows, kTries> solver(block, segment, sh_prices, sh_ring + lane,
                                    d_states + std::size_t{blockIdx.x} * kSolvedRows * 32 + lane);

  // Fours count from the multiple of four of the batch at or before the segment.
  const std::uint64_t at_begin = block.position + begin;
  const auto lead = static_cast<std::uint32_t>(at_begin % kTogether);
  const std::uint64_t at_fours = at_begin - lead;
  const bool has_second_far = found.d_far_records[1] != nullptr, has_far = found.d_far_records[0] != nullptr;
  const std::uint32_t fours = (lead + segment.horizon - begin + kTogether - 1) / kTogether;
  for (std::uint32_t four = fours; four-- > 0;) {
    const std::uint64_t at = at_fours + four * kTogether;
    const uint4 records = *reinterpret_cast<const uint4*>(found.d_records + at);
    const uint2 near_pairs = *reinterpret_cast<const uint2*>(found.d_near_offsets + at);
    uint4 far{}, second_far{};
    if (has_far) far = *reinterpret_cast<const uint4*>(found.d_far_records[0] + at);
    if (has_second_far) second_far = *reinterpret_cast<const uint4*>(found.d_far_records[1] + at);
    const MatchRecord record_of[kTogether] = {records.x, records.y, records.z, records.w};
    const std::uint32_t near_of[kTogether] = {near_pairs.x & 0xFFFF, near_pairs.x >> 16,
                                              near_pairs.y & 0xFFFF, near_pairs.y >> 16};
    const FarRecord far_of[kTogether] = {{far.x}, {far.y}, {far.z}, {far.w}};
    const FarRecord second_far_of[kTogether] = {
        {second_far.x}, {second_far.y}, {second_far.z}, {second_far.w}};
    FourDecisions decided{};
#pragma unroll
    for (unsigned i = kTogether; i-- > 0;) {
      const std::uint32_t position = begin + four * kTogether + i - lead;  // or 2^32 more
      if (four * kTogether + i < lead || position >= segment.horizon) continue;
      const std::uint32_t left = block.block_bytes - position;
      const std::uint32_t near = near_of[i];
      const Match matches[] = {{record_offset(record_of[i]), min(record_length(record_of[i]), left)},
                               {near, near == 0 ? 0 : zstd_near_length(block.d_block + position, near, left)},
                               {far_offset(far_of[i]), min(far_length(far_of[i]), left)},
                               {far_offset(second_far_of[i]), min(far_length(second_far_of[i]), left)}};
      decided.of[i] = solver.solve(position, matches);
    }
    const std::uint32_t first = begin + four * kTogether - lead;
    if (four * kTogether >= lead && first + kTogether <= segment.end) {
      *reinterpret_cast<uint4*>(d_decisions + at) = {decided.of[0], decided.of[1], decided.of[2],
                                                     decided.of[3]};
    } else {
#pragma unroll
      for (unsigned i = 0; i < kTogether; ++i)
        if (four * kTogether + i >= lead && first + i < segment.end) d_decisions[at + i] = decided.of[i];
    }
  }
}

constexpr unsigned kWalkWarps = 4;

__global__ void __launch_bounds__(kWalkWarps * 32)
    walk_zstd_decisions(const DeviceBlocks blocks, const std::uint32_t* __restrict__ d_decisions,
                        const DeviceSequences sequences) {
  constexpr std::uint32_t kWindow = 32;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t block_index = blockIdx.x * kWalkWarps + threadIdx.x / 32;
  if (block_index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[block_index];
  const std::uint32_t end = block.block_bytes;
  const ZstdText text{block.d_block, end, lane};
  ZstdListWriter list(block, block_index, sequences, lane);
  const auto load = [&](std::uint32_t begin) {
    return begin + lane < end ? __ldg(d_decisions + block.position + begin + lane) : 0;
  };
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
                                    {.threads = 32, .registers = 96, .shared_bytes = 18 * 1024});
const KernelRegistration kCheapRegistration(kSolveBudget, solve_zstd_segments<1, 0>);
const KernelRegistration kFullRegistration(kSolveBudget, solve_zstd_segments<3, 3>);
constexpr KernelBudget kWalkDecisionsBudget("zstd.walk_decisions", "walk_zstd_decisions",
                                            {.threads = kWalkWarps * 32, .registers = 48});
const KernelRegistration kWalkDecisionsRegistration(kWalkDecisionsBudget, walk_zstd_decisions);

std::uint32_t warps_per_block(const DeviceBlocks& blocks) {
  return (blocks.max_block_bytes + kSolvedByWarp - 1) / kSolvedByWarp;
}

}  // namespace

ZstdStates take_zstd_states(const DeviceBlocks& blocks, std::uint64_t solved_bytes, Carver& carver) {
  const std::uint64_t warps = std::uint64_t{blocks.block_count} * warps_per_block(blocks);
  const auto at_once = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {warps, std::max<std::uint64_t>(solved_bytes / kSolvedByWarp, 1), kMostSolvingWarps}));
  return {carver.take<std::byte>(std::size_t{at_once} * kSolvedRows * 32 * sizeof(uint4)), at_once};
}

void parse_zstd_optimal_cuda(const DeviceBlocks& blocks, const ZstdFound& found,
                             const ZstdDevicePrices* d_prices, const ZstdPass& pass, const ZstdStates& states,
                             std::uint32_t* d_decisions, const DeviceSequences& sequences,
                             cudaStream_t stream) {
  const bool is_cheap = pass.knows == 1 && pass.tries == 0, is_full = pass.knows == 3 && pass.tries == 3;
  if (blocks.max_block_bytes > kZstdOwnBlockBytes || is_cheap == is_full)
    throw Error(Status::kInvalidOption, "parse_zstd: blocks that are too large, or a pass that no level has");
  const std::uint64_t warps = std::uint64_t{blocks.block_count} * warps_per_block(blocks);
  for (std::uint64_t first = 0; first < warps; first += states.warps_at_once)
    launch({.kernel = kSolveBudget,
            .grid = static_cast<unsigned>(std::min<std::uint64_t>(states.warps_at_once, warps - first)),
            .stream = stream,
            .work = work_of(blocks)},
           is_cheap ? solve_zstd_segments<1, 0> : solve_zstd_segments<3, 3>, blocks, found, d_prices,
           static_cast<std::uint32_t>(first), warps_per_block(blocks),
           reinterpret_cast<uint4*>(states.d_states), d_decisions);
  check(cudaMemsetAsync(sequences.d_total, 0, sizeof(std::uint64_t), stream), "parse_zstd: cudaMemsetAsync");
  launch({.kernel = kWalkDecisionsBudget,
          .grid = (blocks.block_count + kWalkWarps - 1) / kWalkWarps,
          .stream = stream,
          .work = work_of(blocks)},
         walk_zstd_decisions, blocks, d_decisions, sequences);
}

}  // namespace hemstitch::cuda
