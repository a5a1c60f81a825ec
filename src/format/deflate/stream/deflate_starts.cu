// Where blocks may begin, and where warps enter the stream.
//
// Every bit gets the tests of deflate_start.hpp. Step 1 takes 32 positions at a time, as the bits of words, with a dozen
// operations. Each position that passes gets step 2, a look-up in a table for each four lengths, and is kept as a candidate if it
// passes: one of some 1,100 does. Then, for each candidate, a thread reads the block's whole header. It holds the code of code
// lengths in registers: for each length the first code and the number of its first symbol, and the symbols in order, a few bits
// each.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "format/deflate/block/deflate_codes.hpp"
#include "format/deflate/stream/deflate_member.cuh"
#include "format/deflate/stream/deflate_start.hpp"
#include "format/deflate/stream/deflate_stream_stages.cuh"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kFindThreads = 256, kCheckThreads = 128, kEntryThreads = 256;
constexpr unsigned kFindBlocks = 132 * 8, kCheckBlocks = 132 * 16;  // each goes over its share
constexpr unsigned kFindWords = 8;  // of a thread, before candidates are passed on
constexpr unsigned kQueued = 1024;
constexpr unsigned kShareBits = 12;  // of four lengths

// The positions in `word` whose first bits pass step 1; bit i of `next` comes 32 bits after bit i of `word`.
__device__ std::uint32_t may_begin_blocks(std::uint32_t word, std::uint32_t next) {
  const auto at = [&](unsigned bit) { return __funnelshift_r(word, next, bit); };
  return ~word & ~at(1) & at(2) & ~(at(4) & at(5) & at(6) & at(7)) & ~(at(9) & at(10) & at(11) & at(12));
}

// The lengths of the code of code lengths of a block that begins with these bits.
__device__ std::uint64_t precode_lengths(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  const unsigned bits = 3 * (4 + (x >> kDeflateStartBits & 15));
  const std::uint64_t all = x >> kDeflatePrecodeLengthsAt |
                            std::uint64_t{y} << (32 - kDeflatePrecodeLengthsAt) |
                            std::uint64_t{z} << (64 - kDeflatePrecodeLengthsAt);
  return all & ((std::uint64_t{1} << bits) - 1);
}

__device__ bool may_begin_stored_block(std::uint32_t sizes, std::uint32_t byte_before) {
  return ((sizes ^ sizes >> 16) & 0xFFFF) == 0xFFFF && (sizes & 0xFFFF) >= kDeflateLeastStoredEntry &&
         (byte_before & 0xE0) == 0;
}

// Lists the positions that pass step 2, sizes of stored blocks, and members' headers: keys, in any order.
//
// Mapping: a thread a word of 32 positions. Shared memory: 16 KB. Synchronisation: thread blocks meet for every eight words of a thread. Work: linear.
__global__ void __launch_bounds__(kFindThreads)
    find_start_candidates(const DeflatePieceWork work, std::uint64_t first_word, std::uint64_t end_word) {
  __shared__ std::uint16_t sh_shares[1 << kShareBits];
  __shared__ std::uint64_t sh_queue[kQueued];
  __shared__ std::uint32_t sh_queued, sh_place;
  for (unsigned i = threadIdx.x; i < 1 << kShareBits; i += kFindThreads) {
    std::uint32_t share = 0;
    for (unsigned length = 0; length < 4; ++length) share += precode_share(i >> 3 * length & 7);
    sh_shares[i] = static_cast<std::uint16_t>(share);
  }
  if (threadIdx.x == 0) sh_queued = 0;
  __syncthreads();
  const DeflateStream& stream = work.stream;
  const auto keep = [&](std::uint64_t bit, DeflateStartKind kind) {
    if (bit < work.begin_bit) return;
    const std::uint32_t place = atomicAdd(&sh_queued, 1u);
    if (place < kQueued) {
      sh_queue[place] = deflate_key(bit, kind);
    } else {
      const std::uint32_t index = atomicAdd(&work.d_status->candidates, 1u);
      if (index < work.limits.candidates) work.d_candidates[index] = deflate_key(bit, kind);
    }
  };
  const std::uint64_t stride = std::uint64_t{gridDim.x} * kFindThreads;
  for (std::uint64_t begin = first_word + std::uint64_t{blockIdx.x} * kFindThreads; begin < end_word;
       begin += stride * kFindWords) {
    if (threadIdx.x == 0) trace_mark(kTraceFindStarts, static_cast<std::uint32_t>(begin));
    for (unsigned step = 0; step < kFindWords; ++step) {
      const std::uint64_t index = begin + step * stride + threadIdx.x;
      if (index >= end_word) break;
      const std::uint32_t a = stream.word(index), b = stream.word(index + 1);
      std::uint32_t before = index == 0 ? ~0u : stream.word(index - 1) >> 24;
#pragma unroll
      for (unsigned byte = 0; byte < 4; ++byte) {
        const std::uint32_t sizes = __funnelshift_r(a, b, 8 * byte);
        if (may_begin_stored_block(sizes, before)) keep(32 * index + 8 * byte, DeflateStartKind::kStored);
        if (work.members && may_begin_member(sizes)) keep(32 * index + 8 * byte, DeflateStartKind::kKnown);
        before = sizes & 0xFF;
      }
      std::uint32_t may = may_begin_blocks(a, b);
      if (may == 0) continue;
      const std::uint32_t c = stream.word(index + 2), d = stream.word(index + 3);
      for (; may != 0; may &= may - 1) {
        const auto bit = static_cast<unsigned>(__ffs(static_cast<int>(may))) - 1;
        std::uint64_t lengths = precode_lengths(__funnelshift_r(a, b, bit), __funnelshift_r(b, c, bit),
                                                __funnelshift_r(c, d, bit));
        std::uint32_t filled = 0;
        for (; lengths != 0 && filled <= 128; lengths >>= kShareBits)
          filled += sh_shares[lengths & ((1 << kShareBits) - 1)];
        if (filled == 128 && lengths == 0) keep(32 * index + bit, DeflateStartKind::kBlock);
      }
    }
    __syncthreads();
    const std::uint32_t queued = min(sh_queued, kQueued);
    if (threadIdx.x == 0 && queued != 0) sh_place = atomicAdd(&work.d_status->candidates, queued);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < queued; i += kFindThreads)
      if (sh_place + i < work.limits.candidates) work.d_candidates[sh_place + i] = sh_queue[i];
    __syncthreads();
    if (threadIdx.x == 0) sh_queued = 0;
    __syncthreads();
  }
}

// The code of the code lengths, in registers. Numbers of eight bits, one of each length from 1 on.
struct PrecodeRegisters {
  std::uint32_t limit_low, limit_high;  // the end of the codes of each length, extended to seven bits
  std::uint64_t first, place;           // its first code, extended, and the number of its first symbol
  std::uint64_t symbols_low, symbols_high;

  static constexpr unsigned kSymbolBits = 5, kLowSymbols = 12;

  __device__ explicit PrecodeRegisters(std::uint64_t lengths) {
    std::uint64_t of_symbol = 0, counts = 0;  // the lengths by symbol, 3 bits each
#pragma unroll
    for (unsigned i = 0; i < kDeflatePrecodeCount; ++i) {
      const std::uint64_t length = lengths >> 3 * i & 7;
      of_symbol |= length << 3 * deflate_precode_symbol(i);
      if (length != 0) counts += std::uint64_t{1} << 8 * (length - 1);
    }
    std::uint64_t limit = 0;
    first = place = symbols_low = symbols_high = 0;
    std::uint32_t code = 0, placed = 0;
#pragma unroll
    for (unsigned i = 0; i < kDeflateMaxPrecodeBits; ++i) {
      const auto count = static_cast<std::uint32_t>(counts >> 8 * i & 0xFF);
      first |= std::uint64_t{code} << 8 * i;
      place |= std::uint64_t{placed} << 8 * i;
      code += count << (kDeflateMaxPrecodeBits - 1 - i);
      placed += count;
      limit |= std::uint64_t{code} << 8 * i;
    }
    // No code comes after the last one, whatever its length.
    limit |= ~std::uint64_t{0} << 8 * (kDeflateMaxPrecodeBits - 1);
    limit_low = static_cast<std::uint32_t>(limit);
    limit_high = static_cast<std::uint32_t>(limit >> 32);
    std::uint64_t next = place;
#pragma unroll
    for (unsigned symbol = 0; symbol < kDeflatePrecodeCount; ++symbol) {
      const auto length = static_cast<unsigned>(of_symbol >> 3 * symbol & 7);
      if (length == 0) continue;
      const auto at = static_cast<unsigned>(next >> 8 * (length - 1) & 0xFF);
      next += std::uint64_t{1} << 8 * (length - 1);
      if (at < kLowSymbols)
        symbols_low |= std::uint64_t{symbol} << kSymbolBits * at;
      else
        symbols_high |= std::uint64_t{symbol} << kSymbolBits * (at - kLowSymbols);
    }
  }

  // Reads the code at the beginning of `bits`: its length and its symbol.
  __device__ void read(std::uint32_t bits, unsigned& length, std::uint32_t& symbol) const {
    const std::uint32_t code = __brev(bits) >> (32 - kDeflateMaxPrecodeBits);
    const std::uint32_t codes = code * 0x01010101u;
    const auto behind =
        static_cast<unsigned>(__popc(__vcmpgeu4(codes, limit_low)) + __popc(__vcmpgeu4(codes, limit_high))) /
        8;
    length = 1 + behind;
    const auto at = static_cast<unsigned>(place >> 8 * behind & 0xFF) +
                    ((code - static_cast<std::uint32_t>(first >> 8 * behind & 0xFF)) >>
                     (kDeflateMaxPrecodeBits - length));
    symbol = static_cast<std::uint32_t>(at < kLowSymbols ? symbols_low >> kSymbolBits * at
                                                         : symbols_high >> kSymbolBits * (at - kLowSymbols)) &
             31;
  }
};

// Step 3 for the block at `bit`, which passed the others. `flat_codes`: how many codes of 8 bits literals and lengths have.
__device__ bool begins_block(const DeflateStream& stream, std::uint64_t bit, std::uint32_t& flat_codes) {
  const std::uint32_t head = stream.bits(bit);
  const PrecodeRegisters code(precode_lengths(head, stream.bits(bit + 32), stream.bits(bit + 64)));
  DeflateCodeSums sums(kDeflateFirstLengthSymbol + (head >> 3 & 31), 1 + (head >> 8 & 31));
  bit += kDeflatePrecodeLengthsAt + 3 * (4 + (head >> kDeflateStartBits & 15));
  std::uint64_t word = bit / 32;
  std::uint64_t held = stream.word(word++) >> (bit % 32);
  auto held_bits = static_cast<unsigned>(32 - bit % 32);
  std::uint32_t last = kDeflateNone;
  flat_codes = 0;
  while (sums.left() != 0) {
    if (held_bits < 32) {
      held |= std::uint64_t{stream.word(word++)} << held_bits;
      held_bits += 32;
    }
    const auto bits = static_cast<std::uint32_t>(held);
    unsigned length;
    std::uint32_t symbol, times = 1;
    code.read(bits, length, symbol);
    const unsigned extra_bits = deflate_item_extra_bits(symbol);
    if (symbol < kDeflateRepeatLast) {
      last = symbol;
    } else {
      if (symbol == kDeflateRepeatLast ? last == kDeflateNone : false) return false;
      if (symbol != kDeflateRepeatLast) last = 0;
      times = (symbol == kDeflateRepeatZeroLong ? 11 : 3) + (bits >> length & ((1u << extra_bits) - 1));
      if (times > sums.left()) return false;
    }
    if (last == 8) flat_codes += times;
    sums.add(last, times);
    held >>= length + extra_bits;
    held_bits -= length + extra_bits;
    bit += length + extra_bits;
    if (sums.is_overfull()) return false;
  }
  return bit <= stream.end_bit && sums.fit();
}

// A block of any kind but one with the fixed code.
__device__ bool begins_found_block(const DeflateStream& stream, std::uint64_t bit) {
  const std::uint32_t head = stream.bits(bit);
  if ((head >> 1 & 3) == 0) {
    const std::uint32_t sizes = stream.bits((bit + 3 + 7) / 8 * 8);
    return ((sizes ^ sizes >> 16) & 0xFFFF) == 0xFFFF;
  }
  if (!may_begin_dynamic_block(head & ~1u)) return false;
  std::uint32_t flat_codes;
  return precode_is_complete(precode_lengths(head, stream.bits(bit + 32), stream.bits(bit + 64))) &&
         begins_block(stream, bit, flat_codes);
}

// Candidates that are starts, in any order.
//
// Mapping: a thread a candidate. No shared memory, no synchronisation. Work: a header's length each.
__global__ void __launch_bounds__(kCheckThreads, 5) check_start_candidates(const DeflatePieceWork work) {
  const std::uint32_t count = min(work.d_status->candidates, work.limits.candidates);
  const DeflateStream& stream = work.stream;
  for (std::uint32_t i = blockIdx.x * kCheckThreads + threadIdx.x; i < count;
       i += gridDim.x * kCheckThreads) {
    trace_mark(kTraceCheckStart, i);
    const std::uint64_t key = work.d_candidates[i];
    std::uint64_t bit = deflate_key_bit(key), flag = 0;
    const DeflateStartKind kind = deflate_key_kind(key);
    bool begins;
    if (kind == DeflateStartKind::kStored) {
      const std::uint64_t behind = bit + 32 + 8 * std::uint64_t{stream.bits(bit) & 0xFFFF};
      begins = behind + 3 <= stream.end_bit && begins_found_block(stream, behind);
    } else if (kind == DeflateStartKind::kKnown) {
      bit = behind_member_header(stream, bit);
      begins = bit != 0 && bit > work.begin_bit;
    } else {
      std::uint32_t flat_codes;
      begins = begins_block(stream, bit, flat_codes);
      if (flat_codes >= kDeflateFlatCodes) flag = kDeflateFlatKey;
    }
    if (!begins) continue;
    const std::uint32_t index = atomicAdd(&work.d_status->starts, 1u);
    if (index < work.limits.starts) work.d_found[index] = deflate_key(bit, kind) | flag;
  }
}

// Adds the starts that are not found: the beginning, and places that may be in fixed blocks. Sets up the status, too.
__global__ void __launch_bounds__(kEntryThreads)
    add_given_starts(const DeflatePieceWork work, std::uint32_t grid_count) {
  const std::uint32_t i = blockIdx.x * kEntryThreads + threadIdx.x;
  if (i > grid_count) return;
  if (i == 0) {
    *work.d_status = {};
    work.d_status->parts = kDeflatePageParts;  // of the page of markers
    work.d_status->starts = grid_count + 1;
  }
  const std::uint64_t bit = 8 * std::uint64_t{work.limits.spacing_bytes} * i;
  work.d_found[i] = i == 0 ? deflate_key(work.begin_bit, DeflateStartKind::kKnown)
                           : deflate_key(work.begin_bit / 32 * 32 + bit, DeflateStartKind::kFixed);
}

std::uint32_t fixed_place_count(const DeflatePieceWork& work) {
  const std::uint64_t spacing = 8 * std::uint64_t{work.limits.spacing_bytes};
  const std::uint64_t left = work.stream.end_bit - work.begin_bit / 32 * 32;
  const std::uint64_t count = left < 8 * spacing ? 0 : left / spacing - 1;
  return count + 1 < work.limits.starts / 2 ? static_cast<std::uint32_t>(count) : 0;
}

// How the span from a start to the next start that ends it is entered.
struct EntrySplit {
  std::uint32_t places;  // the start itself, and those in the middle
  std::uint64_t stride_bits;
  bool flat;

  __device__ std::uint32_t entries() const {
    return flat && places > 0 ? 1 + (places - 1) * kDeflateEntryPhases : places;
  }
};

// Is the start inside a stored block that is a start itself? Then it is content: a stream inside the stream. Only the starts
// shortly before it are checked.
__device__ bool is_stored_content(const DeflatePieceWork& work, std::uint32_t index) {
  const std::uint64_t bit = deflate_key_bit(work.d_sorted[index]);
  for (std::uint32_t i = 1; i <= kDeflateStoredLooks && i <= index; ++i) {
    const std::uint64_t key = work.d_sorted[index - i], before = deflate_key_bit(key);
    if (bit - before > 32 + 8 * std::uint64_t{kDeflateMostStoredBytes}) return false;
    if (deflate_key_kind(key) == DeflateStartKind::kStored && before != bit &&
        bit < before + 32 + 8 * std::uint64_t{work.stream.bits(before) & 0xFFFF})
      return true;
  }
  return false;
}

__device__ EntrySplit split_start(const DeflatePieceWork& work, std::uint32_t index) {
  const std::uint64_t* d_sorted = work.d_sorted;
  const std::uint32_t count = work.start_count;
  const std::uint64_t key = d_sorted[index], bit = deflate_key_bit(key);
  const DeflateStartKind kind = deflate_key_kind(key);
  const std::uint64_t spacing = 8 * std::uint64_t{work.limits.spacing_bytes};
  EntrySplit split{1, 0, false};
  if (kind != DeflateStartKind::kFixed && bit != work.begin_bit && is_stored_content(work, index)) {
    split.places = 0;
    return split;
  }
  if (kind == DeflateStartKind::kStored) return split;
  if (kind == DeflateStartKind::kFixed) {
    // Only if no other start is near.
    const auto is_other = [&](std::uint32_t i) {
      return deflate_key_kind(d_sorted[i]) != kind && deflate_key_bit(d_sorted[i]) != work.begin_bit;
    };
    for (unsigned i = 1; i <= kDeflateFixedReach; ++i)
      if ((index >= i && is_other(index - i) &&
           deflate_key_bit(d_sorted[index - i]) + kDeflateFixedReach * spacing > bit) ||
          (index + i < count && is_other(index + i) &&
           deflate_key_bit(d_sorted[index + i]) < bit + kDeflateFixedReach * spacing))
        split.places = 0;
    return split;
  }
  // Of two starts at one bit the first is left out: for the second, the window is known.
  if (kind == DeflateStartKind::kBlock && index + 1 < count && deflate_key_bit(d_sorted[index + 1]) == bit) {
    split.places = 0;
    return split;
  }
  split.flat = (key & kDeflateFlatKey) != 0;
  if (kind == DeflateStartKind::kKnown) {
    std::uint32_t flat_codes;
    if ((work.stream.bits(bit) >> 1 & 3) != static_cast<std::uint32_t>(DeflateBlockType::kDynamic) ||
        !begins_block(work.stream, bit, flat_codes))
      return split;
    split.flat = flat_codes >= kDeflateFlatCodes;
  }
  std::uint32_t next = index + 1;
  while (next < count && (deflate_key_kind(d_sorted[next]) == DeflateStartKind::kStored ||
                          deflate_key_kind(d_sorted[next]) == DeflateStartKind::kFixed))
    ++next;
  const std::uint64_t span = (next < count ? deflate_key_bit(d_sorted[next]) : work.stream.end_bit) - bit;
  if (split.flat && span <= kDeflateFlatSpanBits) return split;
  const std::uint64_t places = (span + spacing / 2) / spacing;
  split.places = static_cast<std::uint32_t>(places < 1                     ? 1
                                            : places < work.limits.entries ? places
                                                                           : work.limits.entries);
  split.stride_bits = min(span / split.places, 2 * spacing) / 32 * 32;
  return split;
}

__global__ void __launch_bounds__(kEntryThreads) count_entries(const DeflatePieceWork work) {
  const std::uint32_t index = blockIdx.x * kEntryThreads + threadIdx.x;
  if (index > work.start_count) return;
  if (index < work.start_count) work.d_keys[index] = work.d_sorted[index] & ~kDeflateFlatKey;
  work.d_entry_counts[index] = index < work.start_count ? split_start(work, index).entries() : 0;
}

__global__ void __launch_bounds__(kEntryThreads) place_entries(const DeflatePieceWork work) {
  const std::uint32_t index = blockIdx.x * kEntryThreads + threadIdx.x;
  if (index == 0) work.d_status->entries = work.d_first_entries[work.start_count];
  if (index >= work.d_first_entries[work.start_count] || index >= work.limits.entries) return;
  std::uint32_t low = 0, high = work.start_count;  // the last start whose first entry is not after this one
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    if (work.d_first_entries[middle] <= index)
      low = middle;
    else
      high = middle;
  }
  const std::uint64_t key = work.d_keys[low], bit = deflate_key_bit(key);
  DeflateStreamEntry entry{bit, bit, DeflateEntryKind::kBlock, 0, low};
  switch (deflate_key_kind(key)) {
    case DeflateStartKind::kBlock:
      break;
    case DeflateStartKind::kStored:
      entry.kind = DeflateEntryKind::kStored;
      break;
    case DeflateStartKind::kKnown:
      entry.kind = DeflateEntryKind::kKnown;
      break;
    case DeflateStartKind::kFixed:
      entry.kind = DeflateEntryKind::kFixed;
      break;
  }
  const std::uint32_t within = index - work.d_first_entries[low];
  if (within != 0) {
    const EntrySplit split = split_start(work, low);
    const std::uint32_t place = split.flat ? 1 + (within - 1) / kDeflateEntryPhases : within;
    entry.bit = bit / 32 * 32 + place * split.stride_bits;
    entry.kind = DeflateEntryKind::kMiddle;
    if (split.flat) {
      entry.kind = DeflateEntryKind::kPhase;
      entry.phase = (within - 1) % kDeflateEntryPhases;
      entry.bit += entry.phase;
    }
  }
  work.d_entries[index] = entry;
  work.d_claims[index] = 0;
  work.d_forced[index] = 0;
}

constexpr KernelBudget kFindBudget("deflate_stream.find_candidates", "find_start_candidates",
                                   {.threads = kFindThreads,
                                    .registers = 64,
                                    .shared_bytes = 16 * 1024 + 512});
constexpr KernelBudget kCheckBudget("deflate_stream.check_candidates", "check_start_candidates",
                                    {.threads = kCheckThreads, .registers = 96});
constexpr KernelBudget kGivenBudget("deflate_stream.add_given_starts", "add_given_starts",
                                    {.threads = kEntryThreads, .registers = 32});
constexpr KernelBudget kCountBudget("deflate_stream.count_entries", "count_entries",
                                    {.threads = kEntryThreads, .registers = 96});
constexpr KernelBudget kPlaceBudget("deflate_stream.place_entries", "place_entries",
                                    {.threads = kEntryThreads, .registers = 96});
const KernelRegistration kFindRegistration(kFindBudget, find_start_candidates);
const KernelRegistration kCheckRegistration(kCheckBudget, check_start_candidates);
const KernelRegistration kGivenRegistration(kGivenBudget, add_given_starts);
const KernelRegistration kCountRegistration(kCountBudget, count_entries);
const KernelRegistration kPlaceRegistration(kPlaceBudget, place_entries);

cudaError_t sort_keys(void* d_cub, std::size_t& cub_bytes, const std::uint64_t* d_keys,
                      std::uint64_t* d_sorted, std::uint32_t count, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeys(d_cub, cub_bytes, d_keys, d_sorted, static_cast<int>(count), 0,
                                        kDeflateKeyBits, stream);
}
cudaError_t sum_counts(void* d_cub, std::size_t& cub_bytes, const std::uint32_t* d_counts,
                       std::uint32_t* d_sums, std::uint32_t count, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveSum(d_cub, cub_bytes, d_counts, d_sums, static_cast<int>(count), stream);
}

}  // namespace

std::size_t deflate_starts_cub_bytes(const DeflatePieceLimits& limits) {
  std::size_t sort_bytes = 0, sum_bytes = 0;
  check(sort_keys(nullptr, sort_bytes, nullptr, nullptr, limits.starts, nullptr), "deflate_stream: sort");
  check(sum_counts(nullptr, sum_bytes, nullptr, nullptr, limits.starts + 1, nullptr), "deflate_stream: sum");
  return sort_bytes > sum_bytes ? sort_bytes : sum_bytes;
}

void find_deflate_starts(const DeflatePieceWork& work, cudaStream_t stream) {
  const std::uint32_t grid_count = fixed_place_count(work);
  launch({.kernel = kGivenBudget, .grid = (grid_count + 1) / kEntryThreads + 1, .stream = stream},
         add_given_starts, work, grid_count);
  launch({.kernel = kFindBudget, .grid = kFindBlocks, .stream = stream}, find_start_candidates, work,
         work.begin_bit / 32, (work.stream.end_bit + 31) / 32);
  launch({.kernel = kCheckBudget, .grid = kCheckBlocks, .stream = stream}, check_start_candidates, work);
}

void make_deflate_entries(const DeflatePieceWork& work, cudaStream_t stream) {
  std::size_t cub_bytes = work.cub_bytes;
  check(sort_keys(work.d_cub, cub_bytes, work.d_found, work.d_sorted, work.start_count, stream),
        "deflate_stream: sort");
  launch({.kernel = kCountBudget, .grid = work.start_count / kEntryThreads + 1, .stream = stream},
         count_entries, work);
  cub_bytes = work.cub_bytes;
  check(sum_counts(work.d_cub, cub_bytes, work.d_entry_counts, work.d_first_entries, work.start_count + 1,
                   stream),
        "deflate_stream: sum");
  launch({.kernel = kPlaceBudget,
          .grid = (work.limits.entries + kEntryThreads - 1) / kEntryThreads,
          .stream = stream},
         place_entries, work);
}

}  // namespace hemstitch::cuda
