// The lazy parse of Zstandard: a warp a block.
//
// A block is walked from its first byte to its last, and a decision depends on the offsets that were used before it. But only on these: so all that
// 32 neighbouring positions gain, a *window*, is computed at once, a lane for each, and one vote says where the next match is taken. A window has 31
// positions to decide, since a decision looks at the next position as well.
//
//   own       what the finders give a position does not depend on the walk. It is found once a window.
//   repeats   for each of the three offsets, one bit a lane says whether its byte agrees with the one that offset before it. How many bytes agree from a position on
//             is the number of bits set in a row; only where they reach the window's last lane does the warp compare on behind it. After a match whose offset is new, one
//             byte a lane is loaded and the bits are taken anew.
//   cut off   matches of a far finder from kFarCutBytes on are compared to their end when the walk comes near them: those that it steps over never are.
//
// The records of the next window are loaded before this one is decided. The walk skips windows that lie inside of a match.
//
// Bounds: a window either decides 31 positions or ends with a match that leaves it; comparing on takes as many steps as the match that will be taken has
// 32 bytes. No shared memory. CPU twin: zstd_lazy_reference.cpp.
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
constexpr unsigned kLazyBlocks = 9;  // that share a multiprocessor, at least
constexpr std::uint32_t kLazyWindow = 32, kLazyDecided = kLazyWindow - 1;
constexpr std::uint32_t kLeastOwn = 4, kLeastRepeat = 3;
constexpr std::uint32_t kGainOfByte = 4, kGainOfWaiting = 4;

// Orders of candidates: of equal gains the first one counts.
constexpr std::uint32_t kRecordOrder = 0, kNearOrder = 1, kFarOrder = 2,
                        kRepeatOrder = kFarOrder + kZstdMostFarFinders, kOrders = 8;
static_assert(kRepeatOrder + 3 < kOrders);

// The gain above the order, so that the larger key is the better candidate; 0 for none.
__device__ inline std::uint32_t gain_key(std::uint32_t length, std::uint32_t cost, std::uint32_t order) {
  const std::uint32_t worth = kGainOfByte * length;
  return worth > cost ? (worth - cost) * kOrders + (kOrders - 1 - order) : 0;
}
__device__ inline std::uint32_t gain_of(std::uint32_t key) { return key / kOrders; }
__device__ inline std::uint32_t order_of(std::uint32_t key) { return kOrders - 1 - key % kOrders; }

struct OwnMatch {
  std::uint32_t key = 0, offset = 0, length = 0;

  __device__ void consider(std::uint32_t its_offset, std::uint32_t its_length, std::uint32_t order) {
    const auto cost = 31 - static_cast<std::uint32_t>(__clz(static_cast<int>(its_offset)));
    const std::uint32_t its_key = gain_key(its_length, cost, order);
    if (its_key <= key) return;
    key = its_key;
    offset = its_offset;
    length = its_length;
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

// An offset that was used before, over the window's lanes.
struct RepeatBits {
  std::uint32_t offset = 0;  // 0: none yet
  std::uint32_t same = 0;    // a bit a lane: its byte agrees
  std::uint32_t beyond = 0;  // bytes that agree behind the last lane, if its own does

  // For lanes from `first` on.
  __device__ void take(const ZstdText& text, std::uint32_t begin, std::uint32_t first) {
    same = beyond = 0;
    if (offset == 0) return;
    same = __ballot_sync(kAllLanes, text.lane >= first && text.agrees(begin, offset));
    if (same >> (kLazyWindow - 1) != 0) beyond = text.agreement(begin + kLazyWindow, offset);
  }
  __device__ std::uint32_t key(unsigned lane, std::uint32_t number) const {
    const std::uint32_t run = leading_lanes(same >> lane);
    const std::uint32_t length = run == kLazyWindow - lane ? run + beyond : run;
    return length >= kLeastRepeat ? gain_key(length, number + 1, kRepeatOrder + number) : 0;
  }
};

template <unsigned kFars>
__global__ void __launch_bounds__(kLazyThreads, kLazyBlocks)
    parse_lazy_zstd(const DeviceBlocks blocks, const ZstdFound found, const DeviceSequences sequences) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t block_index = blockIdx.x * kLazyWarps + threadIdx.x / 32;
  if (block_index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[block_index];
  const std::uint32_t end = block.block_bytes;
  const ZstdText text{block.d_block, end, lane};
  ZstdListWriter list(block, block_index, sequences, lane);

  RepeatBits last[3];
  bool behind_match = false;
  RawFound<kFars> next_raw = load_found<kFars>(found, block, lane);
  std::uint32_t next_begin = 0;
  for (std::uint32_t at = 0, begin = 0; at < end;) {
    const std::uint32_t position = begin + lane;
    const RawFound<kFars> raw = next_begin == begin ? next_raw : load_found<kFars>(found, block, position);
    next_begin = begin + kLazyDecided;
    next_raw = load_found<kFars>(found, block, next_begin + lane);

    OwnMatch own;
    std::uint32_t cut_off[raw.kRoom] = {};  // what is known to agree, if there may be more
    if (position < end) {
      const std::uint32_t left = end - position;
      const std::uint32_t length = min(record_length(raw.record), left);
      if (length >= kLeastOwn) own.consider(record_offset(raw.record), length, kRecordOrder);
      if (raw.near != 0) {
        const std::uint32_t near_length = zstd_near_length(text.d_block + position, raw.near, left);
        if (near_length >= kLeastOwn || (near_length == 3 && raw.near < kZstdNearThreeOffsets))
          own.consider(raw.near, near_length, kNearOrder);
      }
#pragma unroll
      for (unsigned i = 0; i < raw.kRoom; ++i) {
        const std::uint32_t far_bytes = min(far_length(raw.far[i]), left);
        if (far_bytes >= kFarCutBytes)
          cut_off[i] = far_bytes;
        else if (far_bytes >= kLeastOwn)
          own.consider(far_offset(raw.far[i]), far_bytes, kFarOrder + i);
      }
    }
    const bool has_all = end - begin <= kLazyWindow;  // then the last position needs no next one
    const std::uint32_t decided_end = has_all ? end : begin + kLazyDecided;
#pragma unroll
    for (RepeatBits& repeat : last) repeat.take(text, begin, 0);

    while (at < decided_end) {
      const std::uint32_t others = max(max(last[1].key(lane, 1), last[2].key(lane, 2)), own.key);
      const std::uint32_t best = max(others, last[0].key(lane, 0));
      const std::uint32_t here = behind_match && position == at ? others : best;
      std::uint32_t next = __shfl_down_sync(kAllLanes, best, 1);
      if (position + 1 >= end) next = 0;
      const bool takes = position >= at && position < decided_end && here != 0 &&
                         gain_of(next) <= gain_of(here) + kGainOfWaiting;
      const std::uint32_t takers = __ballot_sync(kAllLanes, takes);
      const std::uint32_t taker =
          takers == 0 ? kLazyDecided : static_cast<std::uint32_t>(__ffs(static_cast<int>(takers)) - 1);

      if constexpr (kFars != 0) {
        bool may_go_on = false;
#pragma unroll
        for (unsigned i = 0; i < raw.kRoom; ++i) may_go_on |= cut_off[i] != 0;
        const std::uint32_t waiting = __ballot_sync(kAllLanes, may_go_on && position >= at);
        const std::uint32_t first = static_cast<std::uint32_t>(__ffs(static_cast<int>(waiting)) - 1);
        if (waiting != 0 && first <= taker + 1) {
          // This match decides, and its length is not known yet.
#pragma unroll
          for (unsigned i = 0; i < raw.kRoom; ++i) {
            const std::uint32_t known = __shfl_sync(kAllLanes, cut_off[i], static_cast<int>(first));
            if (known == 0) continue;
            const std::uint32_t offset =
                __shfl_sync(kAllLanes, far_offset(raw.far[i]), static_cast<int>(first));
            const std::uint32_t from = begin + first + known;
            const std::uint32_t match_end = from + text.agreement(from, offset);
            // The same bytes agree for lanes behind it that have this offset too. Those before it are decided.
            if (cut_off[i] != 0 && far_offset(raw.far[i]) == offset) {
              own.consider(offset, match_end - position, kFarOrder + i);
              cut_off[i] = 0;
            }
          }
          continue;
        }
      }
      if (takers == 0) {
        at = decided_end;
        behind_match = false;
        break;
      }

      const std::uint32_t key = __shfl_sync(kAllLanes, here, static_cast<int>(taker));
      std::uint32_t offset = __shfl_sync(kAllLanes, own.offset, static_cast<int>(taker));
      std::uint32_t length = __shfl_sync(kAllLanes, own.length, static_cast<int>(taker));
      if (order_of(key) >= kRepeatOrder) {
        const std::uint32_t number = order_of(key) - kRepeatOrder;
        offset = number == 0 ? last[0].offset : number == 1 ? last[1].offset : last[2].offset;
        length = (gain_of(key) + number + 1) / kGainOfByte;
      }
      list.match(begin + taker, length, offset);
      at = begin + taker + length;
      behind_match = true;
      if (offset != last[0].offset) {
        const RepeatBits before = last[0];
        if (offset == last[1].offset) {
          last[0] = last[1];
        } else {
          if (offset == last[2].offset) {
            last[0] = last[2];
          } else {
            last[0].offset = offset;
            if (at < decided_end) last[0].take(text, begin, taker);
          }
          last[2] = last[1];
        }
        last[1] = before;
      }
    }
    begin = at < begin + 2 * kLazyDecided ? begin + kLazyDecided : at;
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
