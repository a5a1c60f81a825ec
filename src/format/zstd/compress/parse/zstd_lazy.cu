// The lazy parse of Zstandard: a warp a block.
//
// A block is walked from its first byte to its last, and a decision depends on the offsets that were used before it. But only on these: so all that
// 32 neighbouring positions gain, a *window*, is computed at once, a lane for each, and one vote says where matches would be taken. A window has 31
// positions to decide, since a decision looks at the next position as well. The vote stands until an offset is used that is not the last one's.
//
//   own       what the finders give a position does not depend on the walk. It is found once a window.
//   repeats   for each of the three offsets, one bit a lane says whether its byte agrees with the one that offset before it. Mostly no three bits in a row are
//             set: then there are no repeats in this window, and a new offset changes nothing. Else how many bytes agree from a position on is the number of bits
//             set in a row; only where they reach the window's last lane does the warp compare on behind it.
//   cut off   matches of a far finder from kFarCutBytes on are compared to their end when the walk comes near them: those that it steps over never are.
//
// What does not depend on the walk is asked for early: records two windows ahead, and what near places give one window ahead. A new offset's bytes
// cannot be known so early: where a match begins by the finders' records, a line is fetched that will be read if it is taken. The walk steps over
// windows that lie inside of a match, and jumps behind a long one.
//
// Bounds: a window either decides 31 positions or ends with a match that leaves it; comparing on takes as many steps as the match that will be taken has
// 128 bytes. No shared memory. CPU twin: zstd_lazy_reference.cpp.
#include "core/status.hpp"
#include "format/zstd/compress/parse/zstd_parse_cuda.hpp"
#include "format/zstd/compress/parse/zstd_window.cuh"
#include "format/zstd/zstd_limits.hpp"
#include "gpu/cuda/launch.hpp"
#include "match/common/cuda/device_work.hpp"
#include "match/far/far_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kLazyThreads = 128, kLazyWarps = kLazyThreads / 32;
// Thread blocks that share a multiprocessor, at least: what a window keeps grows with the finders.
constexpr unsigned lazy_blocks(unsigned fars) { return 10 - fars; }
constexpr std::uint32_t kLazyWindow = 32, kLazyDecided = kLazyWindow - 1;
// Windows that are stepped over without a jump: what they read is on its way.
constexpr std::uint32_t kLazyWindowsAhead = 2;
constexpr std::uint32_t kLeastOwn = 4, kLeastRepeat = 3;
constexpr std::uint32_t kGainOfByte = 4, kGainOfWaiting = 4;

// Orders of candidates: of equal gains the first one counts.
constexpr std::uint32_t kRecordOrder = 0, kNearOrder = 1, kFarOrder = 2,
                        kRepeatOrder = kFarOrder + kZstdMostFarFinders, kOrders = 8;
static_assert(kRepeatOrder + 3 < kOrders);

__device__ inline std::uint32_t offset_cost(std::uint32_t offset) {
  return 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(offset)));
}
// The gain above the order, so that the larger key is the better candidate; 0 for none.
__device__ inline std::uint32_t gain_key(std::uint32_t length, std::uint32_t cost, std::uint32_t order) {
  const std::uint32_t worth = kGainOfByte * length;
  return worth > cost ? (worth - cost) * kOrders + (kOrders - 1 - order) : 0;
}
__device__ inline std::uint32_t gain_of(std::uint32_t key) { return key / kOrders; }
__device__ inline std::uint32_t order_of(std::uint32_t key) { return kOrders - 1 - key % kOrders; }

// Repeats cost one more by their number, and are one later in order.
constexpr std::uint32_t kKeyOfNumber = kOrders + 1;
static_assert(kGainOfByte * kLeastRepeat > 3, "each repeat has a gain");
__device__ inline std::uint32_t later_number(std::uint32_t key) { return key == 0 ? 0 : key - kKeyOfNumber; }
__device__ inline std::uint32_t first_number(std::uint32_t key, std::uint32_t number) {
  return key == 0 ? 0 : key + number * kKeyOfNumber;
}

struct OwnMatch {
  std::uint32_t key = 0, offset = 0;

  __device__ void consider(std::uint32_t its_offset, std::uint32_t its_length, std::uint32_t order) {
    const std::uint32_t its_key = gain_key(its_length, offset_cost(its_offset), order);
    if (its_key <= key) return;
    key = its_key;
    offset = its_offset;
  }
};

// What the finders wrote of one position.
template <unsigned kFars>
struct RawFound {
  static constexpr unsigned kRoom = kFars == 0 ? 1 : kFars;  // there are no empty arrays

  MatchRecord record = 0;
  std::uint32_t near = 0;
  FarRecord far[kRoom] = {};
};

template <unsigned kFars>
__device__ RawFound<kFars> load_found(const ZstdFound& found, const DeviceBlock& block,
                                      std::uint32_t position) {
  RawFound<kFars> raw;
  if (position >= block.block_bytes) return raw;
  const std::uint64_t at = block.position + position;
  raw.record = __ldg(found.d_records + at);
  raw.near = __ldg(found.d_near_offsets + at);
  if constexpr (kFars != 0) {
#pragma unroll
    for (unsigned i = 0; i < raw.kRoom; ++i) raw.far[i] = {__ldg(&found.d_far_records[i][at].bits)};
  }
  return raw;
}

// An offset that was used before, and what it would gain each of the window's lanes.
struct LazyRepeat {
  std::uint32_t offset = 0;  // 0: none yet
  std::uint32_t key = 0;
};

struct LazyText : ZstdText {
  static constexpr std::uint32_t kNoByte = 256, kNoByteThere = 257;  // which agree with nothing

  __device__ std::uint32_t byte_at(std::uint32_t position) const {
    return position < block_bytes ? std::to_integer<std::uint32_t>(d_block[position]) : kNoByte;
  }
  // For lanes from `first` on.
  __device__ std::uint32_t byte_before(std::uint32_t position, std::uint32_t offset,
                                       std::uint32_t first) const {
    if (offset == 0 || position >= block_bytes || lane < first) return kNoByteThere;
    return std::to_integer<std::uint32_t>(*(d_block + position - offset));
  }

  // What a repeat gains in the window at `begin`, by whether the bytes agree. False if it gains nothing for any of `lanes`.
  __device__ __forceinline__ bool find_key(LazyRepeat& repeat, bool agrees, std::uint32_t lanes,
                                           std::uint32_t begin, std::uint32_t number) const {
    repeat.key = 0;
    const std::uint32_t same = __ballot_sync(kAllLanes, agrees);
    // Three in a row, if all agreed behind the last lane.
    static_assert(kLeastRepeat == 3);
    if ((same & (same >> 1 | 1u << 31) & (same >> 2 | 3u << 30) & lanes) == 0) return false;
    std::uint32_t beyond = 0;  // bytes that agree behind the last lane, if its own does
    if (same >> kLazyDecided != 0) beyond = agreement(begin + kLazyWindow, repeat.offset);
    const std::uint32_t run = leading_lanes(same >> lane);
    const std::uint32_t length = run == kLazyWindow - lane ? run + beyond : run;
    if (length >= kLeastRepeat) repeat.key = gain_key(length, number + 1, kRepeatOrder + number);
    return true;
  }

  // As ZstdText::agreement(), with more bytes on their way.
  __device__ std::uint32_t agreement(std::uint32_t position, std::uint32_t offset) const {
    constexpr std::uint32_t kRows = 4;
    for (std::uint32_t bytes = 0;; bytes += kRows * 32) {
      bool agrees[kRows];
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i)
        agrees[i] = ZstdText::agrees(position + bytes + i * 32, offset);
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) {
        const std::uint32_t same = __ballot_sync(kAllLanes, agrees[i]);
        if (same != kAllLanes) return bytes + i * 32 + leading_lanes(same);
      }
    }
  }
};

// What the lane that is `taker` has, known to be the same in all lanes.
__device__ __forceinline__ std::uint32_t of_lane(std::uint32_t value, [[maybe_unused]] unsigned lane,
                                                 std::uint32_t taker) {
#if __CUDA_ARCH__ >= 800
  return largest_over_warp(lane == taker ? value : 0);
#else
  return __shfl_sync(kAllLanes, value, static_cast<int>(taker));
#endif
}

// Where a match begins by the records of one finder, fetches what is compared if its offset becomes one that was used.
__device__ inline void fetch_behind(const ZstdText& text, std::uint32_t position, std::uint32_t offset,
                                    std::uint32_t length) {
  const std::uint32_t offset_before = __shfl_up_sync(kAllLanes, offset, 1);
  if (length < kLeastOwn || offset == offset_before || position + length >= text.block_bytes) return;
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L1 [%0];" ::"l"(text.d_block + position + length - offset));
#endif
}

template <unsigned kFars>
__global__ void __launch_bounds__(kLazyThreads, lazy_blocks(kFars))
    parse_lazy_zstd(const DeviceBlocks blocks, const ZstdFound found, const DeviceSequences sequences) {
  using Raw = RawFound<kFars>;
  const unsigned lane = threadIdx.x % 32;
  // Over all lanes, so that it is known to be the same in all of them: then what follows from it needs no registers in each.
  const std::uint32_t block_index = blockIdx.x * kLazyWarps + largest_over_warp(threadIdx.x / 32);
  if (block_index >= blocks.block_count) return;
  DeviceBlock block = blocks.d_blocks[block_index];
  const std::uint32_t end = block.block_bytes = largest_over_warp(block.block_bytes);
  const LazyText text{{block.d_block, end, lane}};
  ZstdListWriter list(block, block_index, sequences, lane);

  LazyRepeat last[3];
  bool behind_match = false;
  std::uint32_t begin = 0, at = 0;
  Raw coming, later;  // of this window, until it is looked at, and of the next one
  NearWords near_words;
  const auto jump = [&] {
    coming = load_found<kFars>(found, block, begin + lane);
    later = load_found<kFars>(found, block, begin + kLazyDecided + lane);
    near_words = load_near_words(block, begin + lane, coming.near, coming.near != 0);
  };
  jump();
  while (at < end) {
    const std::uint32_t position = begin + lane;
    // What is asked for from here on belongs to later windows.
    const Raw raw = coming;
    const NearWords raw_words = near_words;
    coming = later;
    near_words = load_near_words(block, position + kLazyDecided, coming.near, coming.near != 0);
    later = load_found<kFars>(found, block, position + 2 * kLazyDecided);
    if (at >= begin + kLazyDecided) {
      begin += kLazyDecided;
      continue;
    }
    const std::uint32_t here = text.byte_at(position);
    std::uint32_t there[3];
#pragma unroll
    for (unsigned i = 0; i < 3; ++i) there[i] = text.byte_before(position, last[i].offset, 0);
    fetch_behind(text, position + kLazyDecided, record_offset(coming.record), record_length(coming.record));
    if constexpr (kFars != 0) {
#pragma unroll
      for (unsigned i = 0; i < raw.kRoom; ++i)
        fetch_behind(text, position + kLazyDecided, far_offset(coming.far[i]), far_length(coming.far[i]));
    }

    OwnMatch own;
    std::uint32_t cut_off[raw.kRoom] = {};  // what is known to agree, if there may be more
    if (position < end) {
      const std::uint32_t left = end - position;
      const std::uint32_t length = min(record_length(raw.record), left);
      if (length >= kLeastOwn) own.consider(record_offset(raw.record), length, kRecordOrder);
      if (raw.near != 0) {
        const std::uint32_t near_bytes = zstd_near_length(
            block, position, raw.near, {load_near_words(block, position, 0, true), raw_words});
        if (near_bytes >= kLeastOwn || (near_bytes == 3 && raw.near < kZstdNearThreeOffsets))
          own.consider(raw.near, near_bytes, kNearOrder);
      }
      if constexpr (kFars != 0) {
#pragma unroll
        for (unsigned i = 0; i < raw.kRoom; ++i) {
          const std::uint32_t far_bytes = min(far_length(raw.far[i]), left);
          if (far_bytes >= kFarCutBytes)
            cut_off[i] = far_bytes;
          else if (far_bytes >= kLeastOwn)
            own.consider(far_offset(raw.far[i]), far_bytes, kFarOrder + i);
        }
      }
    }
    bool has_repeats = false;  // whether a repeat gains anything; mostly, none does
#pragma unroll
    for (unsigned i = 0; i < 3; ++i)
      has_repeats |= text.find_key(last[i], there[i] == here, kAllLanes << (at - begin), begin, i);

    const bool has_all = end - begin <= kLazyWindow;  // then the last position needs no next one
    const std::uint32_t decided = has_all ? end - begin : kLazyDecided;
    // Lanes that would take a match, and those that would right behind one; and those that wait for a length.
    std::uint32_t takers = 0, takers_behind = 0, waiting = 0;
    const auto best_but_first = [&] { return max(max(last[1].key, last[2].key), own.key); };
    const auto vote = [&] {
      const std::uint32_t others = has_repeats ? best_but_first() : own.key;
      const std::uint32_t best = has_repeats ? max(others, last[0].key) : others;
      const std::uint32_t next = __shfl_down_sync(kAllLanes, best, 1);
      const std::uint32_t least =
          position + 1 < end ? max(gain_of(next), kGainOfWaiting) - kGainOfWaiting : 0;
      takers = takers_behind =
          __ballot_sync(kAllLanes, lane < decided && others != 0 && gain_of(others) >= least);
      if (has_repeats)
        takers = __ballot_sync(kAllLanes, lane < decided && best != 0 && gain_of(best) >= least);
      if constexpr (kFars != 0) {
        bool may_go_on = false;
#pragma unroll
        for (unsigned i = 0; i < raw.kRoom; ++i) may_go_on |= cut_off[i] != 0;
        waiting = __ballot_sync(kAllLanes, may_go_on);
      }
    };
    vote();

    while (at < begin + decided) {
      const std::uint32_t from = at - begin, lanes = kAllLanes << from;
      std::uint32_t taking = takers & lanes;
      if (behind_match) taking ^= (takers ^ takers_behind) & 1u << from;
      const std::uint32_t taker =
          taking == 0 ? kLazyDecided : static_cast<std::uint32_t>(__ffs(static_cast<int>(taking)) - 1);

      if constexpr (kFars != 0) {
        const std::uint32_t first = static_cast<std::uint32_t>(__ffs(static_cast<int>(waiting & lanes)) - 1);
        if ((waiting & lanes) != 0 && first <= taker + 1) {
          // This match decides, and its length is not known yet.
#pragma unroll
          for (unsigned i = 0; i < raw.kRoom; ++i) {
            const std::uint32_t known = of_lane(cut_off[i], lane, first);
            if (known == 0) continue;
            const std::uint32_t offset = of_lane(far_offset(raw.far[i]), lane, first);
            const std::uint32_t known_end = begin + first + known;
            const std::uint32_t match_end = known_end + text.agreement(known_end, offset);
            // The same bytes agree for lanes behind it that have this offset too. Those before it are decided.
            if (cut_off[i] != 0 && far_offset(raw.far[i]) == offset) {
              own.consider(offset, match_end - position, kFarOrder + i);
              cut_off[i] = 0;
            }
          }
          vote();
          continue;
        }
      }
      if (taking == 0) {
        at = begin + decided;
        behind_match = false;
        break;
      }

      std::uint32_t of_taker = own.key;
      if (has_repeats) {
        of_taker = best_but_first();
        if (!behind_match || taker != from) of_taker = max(of_taker, last[0].key);
      }
      const std::uint32_t key = of_lane(of_taker, lane, taker);
      std::uint32_t offset, cost;
      if (order_of(key) >= kRepeatOrder) {
        const std::uint32_t number = order_of(key) - kRepeatOrder;
        offset = number == 0 ? last[0].offset : number == 1 ? last[1].offset : last[2].offset;
        cost = number + 1;
      } else {
        offset = of_lane(own.offset, lane, taker);
        cost = offset_cost(offset);
      }
      const std::uint32_t length = (gain_of(key) + cost) / kGainOfByte;
      list.match(begin + taker, length, offset);
      at = begin + taker + length;
      behind_match = true;
      if (offset == last[0].offset) continue;

      // The offset becomes the first one, and those before it go behind.
      const bool is_second = offset == last[1].offset, is_third = !is_second && offset == last[2].offset;
      if (has_repeats) {
        const std::uint32_t key_of_first = is_second  ? first_number(last[1].key, 1)
                                           : is_third ? first_number(last[2].key, 2)
                                                      : 0;
        if (!is_second) last[2].key = later_number(last[1].key);
        last[1].key = later_number(last[0].key);
        last[0].key = key_of_first;
      }
      if (!is_second) last[2].offset = last[1].offset;
      last[1].offset = last[0].offset;
      last[0].offset = offset;
      if (at >= begin + decided) break;
      if (!is_second && !is_third)
        has_repeats |= text.find_key(last[0], here == text.byte_before(position, offset, taker),
                                     kAllLanes << (at - begin), begin, 0);
      if (has_repeats) vote();
    }
    if (at < begin + (1 + kLazyWindowsAhead) * kLazyDecided) {
      begin += kLazyDecided;
    } else {
      begin = at;
      jump();
    }
  }
  list.finish(end, block_index, sequences);
}

constexpr KernelBudget kLazyBudget("zstd.parse_lazy", "parse_lazy_zstd",
                                   {.threads = kLazyThreads, .registers = 64});
const KernelRegistration kLazyRegistration0(kLazyBudget, parse_lazy_zstd<0>);
const KernelRegistration kLazyRegistration1(kLazyBudget, parse_lazy_zstd<1>);
const KernelRegistration kLazyRegistration2(kLazyBudget, parse_lazy_zstd<2>);

}  // namespace

void parse_zstd_lazy_cuda(const DeviceBlocks& blocks, const ZstdFound& found,
                          const DeviceSequences& sequences, cudaStream_t stream) {
  if (blocks.max_block_bytes > kZstdOwnBlockBytes)
    throw Error(Status::kInvalidOption, "parse_zstd: a block is too large");
  check(cudaMemsetAsync(sequences.d_total, 0, sizeof(std::uint64_t), stream), "parse_zstd: cudaMemsetAsync");
  const auto parse = [&](auto kernel) {
    launch({.kernel = kLazyBudget,
            .grid = (blocks.block_count + kLazyWarps - 1) / kLazyWarps,
            .stream = stream,
            .work = work_of(blocks)},
           kernel, blocks, found, sequences);
  };
  if (found.d_far_records[0] == nullptr)
    parse(parse_lazy_zstd<0>);
  else if (found.d_far_records[1] == nullptr)
    parse(parse_lazy_zstd<1>);
  else
    parse(parse_lazy_zstd<2>);
}

}  // namespace hemstitch::cuda
