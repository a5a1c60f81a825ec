// From how often symbols occur to the DEFLATE block that they become. The rules are those of block/deflate_codes.hpp and
// deflate_block.hpp; CPU twin: deflate_block_reference.cpp.
//
// Mapping. A warp of its own for each block that is tried: one for each chunk; or, where chunks are split, one for each run of
// units, to learn its size, and then one for each run that was chosen.
//
//   sort     the symbols that occur, by a bitonic network in shared memory
//   tree     both alphabets at once, one lane each, by the function that the twin calls
//   header   its items by one lane, the same way; their codes, sizes and bits by all
//
// Shared memory: about 8 KB. Synchronisation: within the warp. Work: a few tens of thousands of instructions a block, most of them one
// lane's.
#include "format/deflate/compress/codes/deflate_prices.hpp"
#include "format/deflate/compress/deflate_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::uint32_t kSortedKeys = 512;  // a power of two
static_assert(kDeflateLitlenCount <= kSortedKeys && kDeflateDistanceCount <= kLanes &&
              kDeflatePrecodeCount <= kLanes);

struct CodeShared {
  std::uint32_t frequencies[kDeflateCountedSymbols];  // with the end of the block
  std::uint8_t lengths[kDeflateCountedSymbols];

  std::uint32_t keys[kSortedKeys];
  std::uint32_t weights[kDeflateLitlenCount];
  std::uint16_t leaf_parents[kDeflateLitlenCount];
  std::uint16_t node_parents[kDeflateLitlenCount];
  std::uint32_t depth_counts[kDeflateMaxCodeBits + 1];
  // Keys of the distances, then of the header's items.
  std::uint32_t few_keys[kLanes];
  std::uint32_t few_weights[kLanes];
  std::uint16_t few_leaf_parents[kLanes];
  std::uint16_t few_node_parents[kLanes];
  std::uint32_t few_depth_counts[kDeflateMaxCodeBits + 1];

  std::uint8_t listed_lengths[kDeflateMostLengthItems];  // both codes, one after the other, as in the header
  std::uint16_t items
      [kDeflateMostLengthItems];  // a DeflateLengthItem each: its symbol in the low bits, the extra bits above it
  std::uint32_t item_frequencies[kLanes];
  std::uint8_t precode_bits[kLanes];
  std::uint16_t precodes[kLanes];
  std::uint32_t next_codes[kDeflateMaxCodeBits + 2];
  std::uint32_t head[kDeflateHeadWords];
};
static_assert(sizeof(DeflateLengthItem) == sizeof(std::uint16_t));

// How a block of these symbols would be written.
struct Coded {
  DeflateBlockType type;
  std::uint32_t bits;
  std::uint32_t litlen_count, distance_count, precode_count, item_count;  // of the dynamic codes' header
  bool has_fixed_codes;  // and so fixed prices: they cost no more than the dynamic ones
};

// deflate_sort_keys(), in any order. By the whole warp.
__device__ std::uint32_t gather_keys(const std::uint32_t* frequencies, std::uint32_t symbol_count,
                                     std::uint32_t* keys, unsigned lane) {
  std::uint32_t used_count = 0;
  for (std::uint32_t first = 0; first < symbol_count; first += kLanes) {
    const std::uint32_t symbol = first + lane;
    used_count += __popc(__ballot_sync(~0u, symbol < symbol_count && frequencies[symbol] != 0));
  }
  std::uint32_t missing_count = used_count < 2 ? 2 - used_count : 0;
  std::uint32_t key_count = 0;
  for (std::uint32_t first = 0; first < symbol_count; first += kLanes) {
    const std::uint32_t symbol = first + lane;
    const bool is_symbol = symbol < symbol_count;
    const std::uint32_t frequency = is_symbol ? frequencies[symbol] : 0;
    unsigned taken = __ballot_sync(~0u, frequency != 0);
    unsigned idle = __ballot_sync(~0u, is_symbol && frequency == 0);
    for (; missing_count != 0 && idle != 0; --missing_count) {
      taken |= idle & (0 - idle);
      idle &= idle - 1;
    }
    if ((taken >> lane & 1) != 0)
      keys[key_count + __popc(taken & ((1u << lane) - 1))] = deflate_sort_key(frequency, symbol);
    key_count += __popc(taken);
  }
  __syncwarp();
  return key_count;
}

// `keys` has room for the next power of two, and for a warp's at least. By the whole warp.
__device__ void sort_keys(std::uint32_t* keys, std::uint32_t key_count, unsigned lane) {
  std::uint32_t padded_count = kLanes;
  while (padded_count < key_count) padded_count *= 2;
  for (std::uint32_t i = key_count + lane; i < padded_count; i += kLanes) keys[i] = ~std::uint32_t{0};
  __syncwarp();
  for (std::uint32_t run = 2; run <= padded_count; run *= 2)
    for (std::uint32_t distance = run / 2; distance > 0; distance /= 2) {
      for (std::uint32_t pair = lane; pair < padded_count / 2; pair += kLanes) {
        const std::uint32_t low = (pair & ~(distance - 1)) << 1 | (pair & (distance - 1));
        const std::uint32_t a = keys[low], b = keys[low + distance];
        const bool ascends = (low & run) == 0;
        if ((a > b) == ascends) {
          keys[low] = b;
          keys[low + distance] = a;
        }
      }
      __syncwarp();
    }
}

// deflate_canonical_codes(), each given to put(symbol, code, length). By the whole warp.
template <class Put>
__device__ void assign_codes(const std::uint8_t* lengths, std::uint32_t count, std::uint32_t* next_codes,
                             unsigned lane, const Put& put) {
  const unsigned lanes_below = (1u << lane) - 1;
  if (lane < kDeflateMaxCodeBits + 2) next_codes[lane] = 0;
  __syncwarp();
  for (std::uint32_t first = 0; first < count; first += kLanes) {
    const std::uint32_t length = first + lane < count ? lengths[first + lane] : 0;
    const unsigned same = __match_any_sync(~0u, length);
    if (length != 0 && (same & lanes_below) == 0) next_codes[length + 1] += __popc(same);
    __syncwarp();
  }
  if (lane == 0)
    for (std::uint32_t bits = 2; bits <= kDeflateMaxCodeBits; ++bits)
      next_codes[bits] = (next_codes[bits] + next_codes[bits - 1]) << 1;
  __syncwarp();
  for (std::uint32_t first = 0; first < count; first += kLanes) {
    const std::uint32_t symbol = first + lane;
    const std::uint32_t length = symbol < count ? lengths[symbol] : 0;
    const unsigned same = __match_any_sync(~0u, length);
    const std::uint32_t code = next_codes[length] + __popc(same & lanes_below);
    __syncwarp();
    if (length != 0 && (same & lanes_below) == 0) next_codes[length] = code + __popc(same);
    __syncwarp();
    if (symbol < count) put(symbol, length == 0 ? 0 : __brev(code) >> (32 - length), length);
  }
  __syncwarp();
}

__device__ std::uint32_t extra_bits_of(std::uint32_t counted_symbol) {
  if (counted_symbol < kDeflateFirstLengthSymbol) return 0;
  if (counted_symbol < kDeflateLitlenCount) return deflate_length_extra_bits(counted_symbol);
  if (counted_symbol < kDeflateFixedLitlenCount) return 0;
  const std::uint32_t symbol = counted_symbol - kDeflateFixedLitlenCount;
  return symbol < kDeflateDistanceCount ? deflate_distance_extra_bits(symbol) : 0;
}

__device__ std::uint32_t fixed_bits_of(std::uint32_t counted_symbol) {
  return counted_symbol < kDeflateFixedLitlenCount ? deflate_fixed_litlen_bits(counted_symbol)
                                                   : kDeflateFixedDistanceBits;
}

// Makes the dynamic codes' lengths, and their header except for its bits.
__device__ void make_dynamic_codes(CodeShared& sh, Coded& coded, unsigned lane) {
  for (unsigned i = lane; i < kDeflateCountedSymbols; i += kLanes) sh.lengths[i] = 0;
  const std::uint32_t litlen_keys = gather_keys(sh.frequencies, kDeflateLitlenCount, sh.keys, lane);
  const std::uint32_t distance_keys =
      gather_keys(sh.frequencies + kDeflateFixedLitlenCount, kDeflateDistanceCount, sh.few_keys, lane);
  sort_keys(sh.keys, litlen_keys, lane);
  sort_keys(sh.few_keys, distance_keys, lane);
  const DeflateHuffmanRoom few_room{sh.few_weights, sh.few_leaf_parents, sh.few_node_parents,
                                    sh.few_depth_counts};
  if (lane < 2) {
    const bool few = lane == 1;
    deflate_code_lengths(
        few ? sh.few_keys : sh.keys, few ? distance_keys : litlen_keys, kDeflateMaxCodeBits,
        few ? sh.lengths + kDeflateFixedLitlenCount : sh.lengths,
        few ? few_room : DeflateHuffmanRoom{sh.weights, sh.leaf_parents, sh.node_parents, sh.depth_counts});
  }
  __syncwarp();

  // The list leaves out the zeros at the end of each code. The end of the block always has a code, and so have two distances.
  std::uint32_t litlen_count = 0;
  for (std::uint32_t symbol = kDeflateEndOfBlock + lane; symbol < kDeflateLitlenCount; symbol += kLanes)
    if (sh.lengths[symbol] != 0) litlen_count = symbol + 1;
  coded.litlen_count = largest_over_warp(litlen_count);
  const bool has_code = lane < kDeflateDistanceCount && sh.lengths[kDeflateFixedLitlenCount + lane] != 0;
  coded.distance_count = largest_over_warp(has_code ? lane + 1 : 0);
  const std::uint32_t listed_count = coded.litlen_count + coded.distance_count;
  for (std::uint32_t i = lane; i < listed_count; i += kLanes)
    sh.listed_lengths[i] = i < coded.litlen_count
                               ? sh.lengths[i]
                               : sh.lengths[kDeflateFixedLitlenCount + i - coded.litlen_count];
  sh.item_frequencies[lane] = 0;
  sh.precode_bits[lane] = 0;
  __syncwarp();

  auto* const items = reinterpret_cast<DeflateLengthItem*>(sh.items);
  std::uint32_t item_count = 0;
  if (lane == 0) item_count = deflate_length_items(sh.listed_lengths, listed_count, items);
  coded.item_count = __shfl_sync(~0u, item_count, 0);
  __syncwarp();
  for (std::uint32_t i = lane; i < coded.item_count; i += kLanes)
    atomicAdd(&sh.item_frequencies[items[i].symbol], 1u);
  __syncwarp();
  const std::uint32_t item_keys = gather_keys(sh.item_frequencies, kDeflatePrecodeCount, sh.few_keys, lane);
  sort_keys(sh.few_keys, item_keys, lane);
  if (lane == 0)
    deflate_code_lengths(sh.few_keys, item_keys, kDeflateMaxPrecodeBits, sh.precode_bits, few_room);
  __syncwarp();
  const bool is_written = lane < kDeflatePrecodeCount && sh.precode_bits[deflate_precode_symbol(lane)] != 0;
  coded.precode_count = max(4u, largest_over_warp(is_written ? lane + 1 : 0));
}

// choose_deflate_block() of sh.frequencies. Leaves the lengths of the dynamic codes in sh.lengths.
__device__ Coded choose_block(CodeShared& sh, std::uint32_t content_bytes, unsigned lane) {
  Coded coded;
  make_dynamic_codes(sh, coded, lane);
  const auto* const items = reinterpret_cast<const DeflateLengthItem*>(sh.items);
  std::uint32_t dynamic_bits = 0, fixed_bits = 0;
  for (std::uint32_t i = lane; i < coded.item_count; i += kLanes)
    dynamic_bits += sh.precode_bits[items[i].symbol] + deflate_item_extra_bits(items[i].symbol);
  for (unsigned symbol = lane; symbol < kDeflateCountedSymbols; symbol += kLanes) {
    const std::uint32_t frequency = sh.frequencies[symbol], extra_bits = extra_bits_of(symbol);
    dynamic_bits += frequency * (sh.lengths[symbol] + extra_bits);
    fixed_bits += frequency * (fixed_bits_of(symbol) + extra_bits);
  }
  dynamic_bits = 3 + 14 + 3 * coded.precode_count + sum_over_warp(dynamic_bits);
  fixed_bits = 3 + sum_over_warp(fixed_bits);

  coded.type = DeflateBlockType::kDynamic;
  coded.bits = dynamic_bits;
  coded.has_fixed_codes = fixed_bits <= dynamic_bits;
  if (coded.has_fixed_codes) {
    coded.type = DeflateBlockType::kFixed;
    coded.bits = fixed_bits;
  }
  const std::uint32_t stored_count = (content_bytes + kDeflateMostStoredBytes - 1) / kDeflateMostStoredBytes;
  const std::uint32_t stored_bits = 40 * stored_count + 8 * content_bytes;
  if (stored_bits <= coded.bits) {
    coded.type = DeflateBlockType::kStored;
    coded.bits = stored_bits;
  }
  return coded;
}

// Adds `count` bits, 32 at most, to zeros. `value` has no higher bits.
__device__ void put_head_bits(CodeShared& sh, std::uint32_t at, std::uint32_t value, std::uint32_t count) {
  const std::uint32_t shift = at % 32;
  atomicOr(&sh.head[at / 32], value << shift);
  if (shift + count > 32) atomicOr(&sh.head[at / 32 + 1], value >> (32 - shift));
}

// Writes what precedes the tokens to sh.head. Returns its bits.
__device__ std::uint32_t make_head(CodeShared& sh, const Coded& coded, unsigned lane) {
  for (unsigned i = lane; i < kDeflateHeadWords; i += kLanes) sh.head[i] = 0;
  __syncwarp();
  if (lane == 0) put_head_bits(sh, 0, static_cast<std::uint32_t>(coded.type) << 1, 3);
  if (coded.type == DeflateBlockType::kFixed) {
    __syncwarp();
    return 3;
  }
  if (lane == 0) {
    put_head_bits(sh, 3, coded.litlen_count - 257, 5);
    put_head_bits(sh, 8, coded.distance_count - 1, 5);
    put_head_bits(sh, 13, coded.precode_count - 4, 4);
  }
  std::uint32_t at = 17;
  if (lane < coded.precode_count)
    put_head_bits(sh, at + 3 * lane, sh.precode_bits[deflate_precode_symbol(lane)], 3);
  at += 3 * coded.precode_count;
  assign_codes(sh.precode_bits, kDeflatePrecodeCount, sh.next_codes, lane,
               [&](std::uint32_t symbol, std::uint32_t code, std::uint32_t) {
                 sh.precodes[symbol] = static_cast<std::uint16_t>(code);
               });
  const auto* const items = reinterpret_cast<const DeflateLengthItem*>(sh.items);
  for (std::uint32_t first = 0; first < coded.item_count; first += kLanes) {
    std::uint32_t value = 0, bits = 0;
    if (first + lane < coded.item_count) {
      const DeflateLengthItem item = items[first + lane];
      bits = sh.precode_bits[item.symbol];
      value = sh.precodes[item.symbol] | std::uint32_t{item.extra} << bits;
      bits += deflate_item_extra_bits(item.symbol);
    }
    const std::uint32_t end = sum_up_to_lane(bits, lane);
    if (bits != 0) put_head_bits(sh, at + end - bits, value, bits);
    at += __shfl_sync(~0u, end, kLanes - 1);
  }
  __syncwarp();
  return at;
}

// deflate_costs_of() the lengths in sh.lengths.
__device__ void write_costs(const CodeShared& sh, DeflateDeviceCosts& costs, unsigned lane) {
  for (unsigned literal = lane; literal < sizeof costs.literals; literal += kLanes)
    costs.literals[literal] =
        static_cast<std::uint8_t>(deflate_bits_or(sh.lengths[literal], kDeflateUnusedLiteralBits));
  for (unsigned length = lane; length < sizeof costs.lengths; length += kLanes) {
    std::uint32_t bits = 0;
    if (length >= kDeflateMinMatchBytes && length <= kDeflateMaxMatchBytes) {
      const std::uint32_t symbol = deflate_length_symbol(length);
      bits =
          deflate_bits_or(sh.lengths[symbol], kDeflateUnusedLengthBits) + deflate_length_extra_bits(symbol);
    }
    costs.lengths[length] = static_cast<std::uint8_t>(bits);
  }
  static_assert(sizeof costs.distances == kLanes);
  std::uint32_t bits = 0;
  if (lane < kDeflateDistanceCount)
    bits = deflate_bits_or(sh.lengths[kDeflateFixedLitlenCount + lane], kDeflateUnusedDistanceBits) +
           deflate_distance_extra_bits(lane);
  costs.distances[lane] = static_cast<std::uint8_t>(bits);
}

// Sums up the counts of the units begin .. end - 1, and adds the end of the block.
__device__ void load_frequencies(CodeShared& sh, const DeflateSymbolCounts* d_counts, std::uint32_t begin,
                                 std::uint32_t end, unsigned lane) {
  for (unsigned symbol = lane; symbol < kDeflateCountedSymbols; symbol += kLanes) {
    std::uint32_t frequency = symbol == kDeflateEndOfBlock ? 1 : 0;
    for (std::uint32_t unit = begin; unit < end; ++unit)
      frequency += reinterpret_cast<const std::uint32_t*>(d_counts + unit)[symbol];
    sh.frequencies[symbol] = frequency;
  }
  __syncwarp();
}

// A warp for each chunk and run of units: their size as one block. Runs are numbered by their ends, then by their begins.
constexpr std::uint32_t kUnitRuns = kDeflateChunkUnits * (kDeflateChunkUnits + 1) / 2;

__global__ void __launch_bounds__(kLanes)
    measure_spans(const DeviceChunks chunks, const DeviceTokens tokens, std::uint32_t* d_span_bits) {
  __shared__ CodeShared sh;
  const unsigned lane = threadIdx.x;
  const std::uint32_t chunk = blockIdx.x / kUnitRuns;
  std::uint32_t begin = blockIdx.x % kUnitRuns, end = 1;
  for (; begin >= end; ++end) begin -= end;
  const std::uint32_t chunk_bytes = chunks.blocks.d_blocks[chunk].block_bytes;
  if (chunk_bytes == 0 || end > deflate_unit_count(chunk_bytes)) return;
  if (lane == 0) trace_mark(kTraceCodeChunk, blockIdx.x);
  load_frequencies(sh, tokens.d_counts + std::size_t{chunk} * kDeflateChunkUnits, begin, end, lane);
  const DeflateUnitBegin* const begins = tokens.d_unit_begins + std::size_t{chunk} * kDeflateUnitBegins;
  const Coded coded = choose_block(sh, begins[end].content - begins[begin].content, lane);
  if (lane == 0)
    d_span_bits[std::size_t{chunk} * kDeflateSpanTable + deflate_span_index(begin, end)] = coded.bits;
}

// A warp for each chunk and part. Where chunks are not split, a chunk is one part.
template <bool kSplits>
__global__ void __launch_bounds__(kLanes)
    code_parts(const DeviceChunks chunks, const DeviceTokens tokens, const std::uint32_t* d_span_bits,
               const DeviceParts parts, DeflateDeviceCosts* d_costs) {
  __shared__ CodeShared sh;
  constexpr std::uint32_t kParts = kSplits ? kDeflateChunkUnits : 1;
  const unsigned lane = threadIdx.x;
  const std::uint32_t chunk = blockIdx.x / kParts, part = blockIdx.x % kParts;
  const std::uint32_t chunk_bytes = chunks.blocks.d_blocks[chunk].block_bytes;
  if (chunk_bytes == 0) {
    if (part == 0 && lane == 0) parts.d_counts[chunk] = 0;
    return;
  }
  // The first unit of this part, and of the one behind it.
  std::uint32_t begin = 0, end = 1, part_count = 1;
  if constexpr (kSplits) {
    // The memory is used for keys later.
    std::uint32_t* const span_bits = sh.keys;
    static_assert(kDeflateSpanTable * sizeof(std::uint32_t) + sizeof(DeflateCuts) <= sizeof sh.keys);
    DeflateCuts& cuts = *reinterpret_cast<DeflateCuts*>(sh.keys + kDeflateSpanTable);
    for (std::uint32_t i = lane; i < kDeflateSpanTable; i += kLanes)
      span_bits[i] = d_span_bits[std::size_t{chunk} * kDeflateSpanTable + i];
    __syncwarp();
    const std::uint32_t unit_count = deflate_unit_count(chunk_bytes);
    if (lane == 0) deflate_find_cuts(span_bits, unit_count, cuts);
    __syncwarp();
    part_count = cuts.count;
    if (part >= part_count) return;
    begin = cuts.begins[part];
    end = part + 1 < part_count ? cuts.begins[part + 1] : unit_count;
    __syncwarp();
  }
  if (lane == 0) trace_mark(kTraceCodeChunk, blockIdx.x);
  load_frequencies(sh, tokens.d_counts + std::size_t{chunk} * kParts, begin, end, lane);
  const DeflateUnitBegin* const unit_begins = tokens.d_unit_begins + std::size_t{chunk} * kDeflateUnitBegins;
  const DeflateUnitBegin from = unit_begins[begin], to = unit_begins[end];
  const Coded coded = choose_block(sh, to.content - from.content, lane);
  if (coded.has_fixed_codes)
    for (unsigned i = lane; i < kDeflateCountedSymbols; i += kLanes)
      sh.lengths[i] = static_cast<std::uint8_t>(fixed_bits_of(i));
  __syncwarp();

  if (d_costs != nullptr) {
    // A unit has the prices of the last part that begins before the unit's end. So units after the last part have its prices too.
    const std::uint32_t costs_end = !kSplits ? 1 : part + 1 < part_count ? end : kDeflateChunkUnits;
    for (std::uint32_t unit = begin; unit < costs_end; ++unit)
      write_costs(sh, d_costs[std::size_t{chunk} * kParts + unit], lane);
    return;
  }
  const std::uint32_t head_bits = coded.type == DeflateBlockType::kStored ? 0 : make_head(sh, coded, lane);
  DeflatePart& out = parts.d_parts[std::size_t{chunk} * kParts + part];
  if (lane == 0) {
    if (part == 0) parts.d_counts[chunk] = part_count;
    out.type = static_cast<std::uint32_t>(coded.type);
    out.bits = coded.bits;
    out.token_begin = from.token;
    out.token_end = to.token;
    out.content_begin = from.content;
    out.content_end = to.content;
    out.head_bits = head_bits;
  }
  if (coded.type == DeflateBlockType::kStored) return;
  for (unsigned i = lane; i < kDeflateHeadWords; i += kLanes) out.head[i] = sh.head[i];
  for (const std::uint32_t first : {0u, kDeflateFixedLitlenCount}) {
    const std::uint32_t count = first == 0 ? kDeflateFixedLitlenCount : kDeflateFixedDistanceCount;
    assign_codes(sh.lengths + first, count, sh.next_codes, lane,
                 [&](std::uint32_t symbol, std::uint32_t code, std::uint32_t length) {
                   out.codes[first + symbol] = code | length << 16 | extra_bits_of(first + symbol) << 24;
                 });
  }
}

constexpr unsigned kFillThreads = 128;

// A thread block for each element of prices.
__global__ void __launch_bounds__(kFillThreads) fill_prior_costs(DeflateDeviceCosts* d_costs) {
  DeflateDeviceCosts& costs = d_costs[blockIdx.x];
  for (unsigned i = threadIdx.x; i < sizeof costs.literals; i += kFillThreads)
    costs.literals[i] = kDeflatePriorLiteralBits;
  for (unsigned length = threadIdx.x; length < sizeof costs.lengths; length += kFillThreads) {
    std::uint32_t bits = 0;
    if (length >= kDeflateMinMatchBytes && length <= kDeflateMaxMatchBytes) {
      const std::uint32_t symbol = deflate_length_symbol(length);
      bits = deflate_prior_length_bits(symbol) + deflate_length_extra_bits(symbol);
    }
    costs.lengths[length] = static_cast<std::uint8_t>(bits);
  }
  for (unsigned i = threadIdx.x; i < sizeof costs.distances; i += kFillThreads)
    costs.distances[i] = static_cast<std::uint8_t>(
        i < kDeflateDistanceCount ? kDeflatePriorDistanceBits + deflate_distance_extra_bits(i) : 0);
}

constexpr KernelLimits kCodeLimits{.threads = kLanes, .registers = 72, .shared_bytes = 10 * 1024};
constexpr KernelBudget kMeasureBudget("deflate.measure_spans", "measure_spans", kCodeLimits);
constexpr KernelBudget kCodeBudget("deflate.code_parts", "code_parts", kCodeLimits);
constexpr KernelBudget kFillBudget("deflate.fill_prior_costs", "fill_prior_costs",
                                   {.threads = kFillThreads, .registers = 32});
const KernelRegistration kMeasureRegistration(kMeasureBudget, measure_spans);
const KernelRegistration kCodeRegistration(kCodeBudget, code_parts<false>);
const KernelRegistration kCodeSplitRegistration(kCodeBudget, code_parts<true>);
const KernelRegistration kFillRegistration(kFillBudget, fill_prior_costs);

}  // namespace

void fill_prior_deflate_costs_cuda(const DeviceChunks& chunks, std::uint32_t costs_per_chunk,
                                   DeflateDeviceCosts* d_costs, cudaStream_t stream) {
  launch({.kernel = kFillBudget,
          .grid = chunks.places.count * costs_per_chunk,
          .stream = stream,
          .work = work_of(chunks.blocks)},
         fill_prior_costs, d_costs);
}

void code_deflate_chunks_cuda(const DeviceChunks& chunks, bool splits, const DeviceTokens& tokens,
                              std::uint32_t* d_span_bits, const DeviceParts& parts,
                              DeflateDeviceCosts* d_costs, cudaStream_t stream) {
  const LaunchWork work = work_of(chunks.blocks);
  if (!splits)
    return launch({.kernel = kCodeBudget, .grid = chunks.places.count, .stream = stream, .work = work},
                  code_parts<false>, chunks, tokens, d_span_bits, parts, d_costs);
  launch({.kernel = kMeasureBudget, .grid = chunks.places.count * kUnitRuns, .stream = stream, .work = work},
         measure_spans, chunks, tokens, d_span_bits);
  launch({.kernel = kCodeBudget,
          .grid = chunks.places.count * kDeflateChunkUnits,
          .stream = stream,
          .work = work},
         code_parts<true>, chunks, tokens, d_span_bits, parts, d_costs);
}

}  // namespace hemstitch::cuda
