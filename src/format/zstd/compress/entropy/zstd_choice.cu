// From how often literals and codes occur to the form of a block: which tables its codes get, the descriptions of these, the Huffman code of its literals or a
// simpler form, and prices for a later pass. CPU twins: zstd_table_choice.hpp, zstd_cells.hpp, zstd_huffman.hpp, zstd_literals_writer.hpp,
// parse/zstd_prices.hpp.
//
// Mapping. A thread block of four warps a block:
//
//   sort      the literals that occur, by all: the rank of each among 256 keys
//   literals  the first warp: lengths by one lane, with the function that the twin calls; weights and their descriptions; both tables for weights are tried
//             at once, a lane each
//   codes     a warp for each of the three kinds; one lane writes the description
//   streams   a warp for each of the four: how many bits its literals take
//
// Shared memory: 21 KB. Synchronisation: four barriers. Work: some ten thousand instructions a block, most of them one lane's; and O(1) a literal.
#include "core/cost_model.hpp"
#include "format/deflate/block/deflate_codes.hpp"
#include "format/zstd/compress/entropy/zstd_cells.hpp"
#include "format/zstd/compress/entropy/zstd_huffman.hpp"
#include "format/zstd/compress/entropy/zstd_literals_writer.hpp"
#include "format/zstd/compress/entropy/zstd_log2.hpp"
#include "format/zstd/compress/entropy/zstd_value_codes.hpp"
#include "format/zstd/compress/zstd_encoder_stages_cuda.hpp"
#include "format/zstd/restore/zstd_device_frame.cuh"
#include "format/zstd/restore/zstd_device_tables.cuh"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/shared_access.cuh"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 128, kWarps = kThreads / 32;
static_assert(kWarps == 1 + kZstdKinds);

constexpr std::uint32_t kByteSize = 8 * kZstdSizeUnitsPerBit;

constexpr unsigned kWeightValues = kZstdMostLiteralBits + 1, kWeightLogs = kZstdWeightLogs.size(),
                   kFirstWeightLog = kZstdWeightLogs[0];
static_assert(kWeightLogs == 2 && kZstdWeightLogs[1] == kFirstWeightLog + 1);
constexpr unsigned kMostCodedWeights = 256;  // bytes: 16 of description, and 6 bits for each of 255 weights

constexpr std::uint32_t kNoKey = ~std::uint32_t{0};

struct ChoiceShared {
  ZstdTableWork work[kWarps];
  std::uint32_t bases[kWarps][kZstdCodeSlots];

  alignas(16) std::uint32_t keys[kZstdLiteralValues];
  std::uint32_t sorted[kZstdLiteralValues];
  std::uint32_t tree_weights[kZstdLiteralValues];
  std::uint16_t leaf_parents[kZstdLiteralValues], node_parents[kZstdLiteralValues];
  std::uint32_t depth_counts[kDeflateMaxCodeBits + 1];
  std::uint8_t lengths[kZstdLiteralValues];
  std::uint32_t warp_used[kWarps];
  std::uint32_t next_codes[16];

  std::uint8_t weights[kZstdLiteralValues];
  std::uint32_t weight_counts[32];
  ZstdStateStep weight_steps[kWeightLogs][kWeightValues];
  std::uint16_t weight_states[kWeightLogs][1 << kZstdMostWeightLog];
  std::uint8_t coded_weights[kWeightLogs][kMostCodedWeights];

  std::uint8_t descriptions[kZstdKinds][kZstdMostCodeDescription];
  std::uint32_t weights_bytes, stream_bits[kWarps];
  std::uint32_t literals_type;
};

// A lane's two symbols of up to 64.
struct OfLane {
  std::uint32_t low, high;  // of `lane` and `lane` + 32
};

// ZstdBitWriter, by one lane, to shared memory.
class BitWriter {
 public:
  __device__ explicit BitWriter(std::uint8_t* sh_to) : begin_(shared_address(sh_to)), to_(begin_) {}
  // At most 16.
  __device__ void put(std::uint32_t value, unsigned count) {
    word_ |= value << bits_;
    for (bits_ += count; bits_ >= 8; bits_ -= 8, word_ >>= 8) store_shared_byte(to_++, word_);
  }
  // Returns how many bytes there are.
  __device__ std::uint32_t end() {
    if (bits_ > 0) store_shared_byte(to_++, word_);
    word_ = bits_ = 0;
    return to_ - begin_;
  }

 private:
  std::uint32_t begin_, to_;
  std::uint32_t word_ = 0;
  unsigned bits_ = 0;
};

__device__ __forceinline__ unsigned bit_width_of(std::uint32_t number) {
  return 32 - static_cast<unsigned>(__clz(static_cast<int>(number)));
}

// zstd_table_log()
__device__ __forceinline__ unsigned table_log(std::uint32_t sum, std::uint32_t used, unsigned most_log) {
  const unsigned width = bit_width_of(sum), usual = width < 3 ? 0 : width - 3;
  return min(most_log, max(max(usual, bit_width_of(used - 1)), kZstdLeastTableLog));
}

// share_zstd_cells(), by the whole warp.
__device__ __forceinline__ OfLane share_cells(const OfLane& counts, std::uint32_t sum, unsigned log,
                                              unsigned lane) {
  const auto share_of = [&](std::uint32_t count) { return count == 0 ? 0 : max((count << log) / sum, 1u); };
  // The first of the largest: numbers have at most 26 bits.
  const auto largest_first = [&](const OfLane& of) {
    return 63 - (largest_over_warp(max(of.low << 6 | (63 - lane), of.high << 6 | (31 - lane))) & 63);
  };
  OfLane cells{share_of(counts.low), share_of(counts.high)};
  auto left = static_cast<std::int32_t>((1u << log) - sum_over_warp(cells.low + cells.high));
  if (left > 0) {
    const std::uint32_t symbol = largest_first(counts);
    if (symbol == lane) cells.low += static_cast<std::uint32_t>(left);
    if (symbol == lane + 32) cells.high += static_cast<std::uint32_t>(left);
  }
  for (; left < 0; ++left) {
    const std::uint32_t symbol = largest_first(cells);
    if (symbol == lane) --cells.low;
    if (symbol == lane + 32) --cells.high;
  }
  return cells;
}

// describe_zstd_table(), by one lane. Returns how many bytes it has.
__device__ std::uint32_t describe_table(const std::int16_t* cells, unsigned log, BitWriter bits) {
  bits.put(log - kZstdLeastTableLog, 4);
  std::uint32_t remaining = (1u << log) + 1;
  for (std::uint32_t symbol = 0; remaining > 1; ++symbol) {
    const auto count = static_cast<std::uint32_t>(static_cast<std::int32_t>(cells[symbol]));
    const std::uint32_t value = count + 1;
    const unsigned width = bit_width_of(remaining);
    const std::uint32_t half = 1u << (width - 1), short_values = 2 * half - 1 - remaining;
    if (value < short_values)
      bits.put(value, width - 1);
    else
      bits.put(value < half ? value : value + short_values, width);
    remaining -= count;
    if (count != 0) continue;
    std::uint32_t zeros = 0;
    while (cells[symbol + 1] == 0) ++symbol, ++zeros;
    for (; zeros >= 3; zeros -= 3) bits.put(3, 2);
    bits.put(zeros, 2);
  }
  return bits.end();
}

// How FSE goes back in the table of these cells: the steps of its symbols, and `states`, whose first one has the number `first_state`. By the whole
// warp. `work.probabilities` has the table's; -1 is a cell at its end.
__device__ __forceinline__ void make_steps(ZstdTableWork& work, std::uint32_t* bases,
                                           std::uint32_t symbol_count, unsigned log,
                                           std::uint32_t first_state, ZstdStateStep* steps,
                                           std::uint16_t* states, unsigned lane) {
  std::uint32_t before = first_state;  // of the cells of symbols before
  __syncwarp();
  for (std::uint32_t first = 0; first < symbol_count; first += 32) {
    const std::uint32_t symbol = first + lane;
    const std::int32_t probability = symbol < symbol_count ? work.probabilities[symbol] : 0;
    const std::uint32_t cells = probability < 0 ? 1 : static_cast<std::uint32_t>(probability);
    const std::uint32_t up_to_lane = sum_up_to_lane(cells, lane);
    if (cells != 0) {
      const unsigned most_bits = log + 1 - bit_width_of(cells);
      bases[symbol] = before + up_to_lane - 2 * cells;
      steps[symbol] = {(most_bits << 16) - (cells << most_bits), bases[symbol]};
    }
    before += __shfl_sync(kAllLanes, up_to_lane, 31);
  }
  const std::uint32_t size = 1u << log;
  spread_zstd_table(work, symbol_count, log, lane,
                    [&](std::uint32_t cell, std::uint32_t symbol, std::uint32_t bits, std::uint32_t base) {
                      states[bases[symbol] + ((base + size) >> bits)] =
                          static_cast<std::uint16_t>(cell + size);
                    });
}

// The lengths and codes of the literals, by the first warp. `key_count` is 2 at least. Returns the longest length.
__device__ unsigned make_literal_codes(ChoiceShared& sh, std::uint32_t key_count, std::uint16_t* codes,
                                       unsigned lane) {
  if (lane == 0) {
    deflate_code_lengths(sh.sorted, key_count, kZstdMostLiteralBits, sh.lengths,
                         {sh.tree_weights, sh.leaf_parents, sh.node_parents, sh.depth_counts});
    std::uint32_t next = 0;
    sh.next_codes[0] = 0;
    for (unsigned bits = kZstdMostLiteralBits; bits > 0; --bits) {
      sh.next_codes[bits] = next;
      next = (next + sh.depth_counts[bits]) >> 1;
    }
  }
  __syncwarp();
  const unsigned lanes_below = (1u << lane) - 1;
  std::uint32_t longest = 0;
  for (std::uint32_t first = 0; first < kZstdLiteralValues; first += 32) {
    const std::uint32_t length = sh.lengths[first + lane];
    const unsigned same = __match_any_sync(kAllLanes, length);
    const std::uint32_t code = sh.next_codes[length] + static_cast<std::uint32_t>(__popc(same & lanes_below));
    __syncwarp();
    if ((same & lanes_below) == 0) sh.next_codes[length] = code + static_cast<std::uint32_t>(__popc(same));
    __syncwarp();
    if (codes != nullptr)
      codes[first + lane] = length == 0 ? 0 : static_cast<std::uint16_t>(code | length << 12);
    longest = max(longest, length);
  }
  return largest_over_warp(longest);
}

// The weights in two states that take turns, behind their table's description. By one lane. Returns how many bytes both have.
__device__ std::uint32_t code_weights(const std::uint8_t* weights, std::uint32_t count,
                                      const ZstdStateStep* steps, const std::uint16_t* states, unsigned log,
                                      BitWriter bits) {
  // The states of even and odd weights.
  std::uint32_t own = 0, other = 0;
  for (std::uint32_t i = count; i-- > 0;) {
    const ZstdStateStep step = steps[weights[i]];
    if (i + 2 >= count) {
      const unsigned between = (step.delta + 0xFFFF) >> 16;
      own = states[step.base + (((between << 16) - step.delta) >> between)];
    } else {
      const unsigned between = (own + step.delta) >> 16;
      bits.put(own & ((1u << between) - 1), between);
      own = states[step.base + (own >> between)];
    }
    const std::uint32_t swapped = own;
    own = other;
    other = swapped;
  }
  // Weight 0 came last, so `other` is the even ones' state.
  const std::uint32_t mask = (1u << log) - 1;
  bits.put(own & mask, log);
  bits.put(other & mask, log);
  bits.put(1, 1);
  return bits.end();
}

// describe_zstd_huffman(), by the first warp, to `to`. Returns how many bytes it has; 0: there is none.
__device__ std::uint32_t describe_weights(ChoiceShared& sh, unsigned longest, std::uint8_t* to,
                                          unsigned lane) {
  std::uint32_t last = 0;
  for (std::uint32_t byte = lane; byte < kZstdLiteralValues; byte += 32)
    if (sh.lengths[byte] != 0) last = byte;
  const std::uint32_t count = largest_over_warp(last);
  sh.weight_counts[lane] = 0;
  __syncwarp();
  for (std::uint32_t byte = lane; byte < count; byte += 32) {
    const unsigned length = sh.lengths[byte], weight = length == 0 ? 0 : longest + 1 - length;
    sh.weights[byte] = static_cast<std::uint8_t>(weight);
    atomicAdd(&sh.weight_counts[weight], 1u);
  }
  __syncwarp();
  const OfLane counts{sh.weight_counts[lane], 0};
  std::uint32_t best = count <= kZstdMostDirectWeights ? 1 + (count + 1) / 2 : 0;
  unsigned best_log = 0;  // 0: directly
  if (__popc(__ballot_sync(kAllLanes, counts.low != 0)) > 1) {
    ZstdTableWork& work = sh.work[0];
    std::uint32_t described[kWeightLogs];
#pragma unroll
    for (unsigned i = 0; i < kWeightLogs; ++i) {
      const unsigned log = kFirstWeightLog + i;
      const OfLane cells = share_cells(counts, count, log, lane);
      __syncwarp();
      work.probabilities[lane] = static_cast<std::int16_t>(cells.low);
      __syncwarp();
      described[i] = lane == 0 ? describe_table(work.probabilities, log, BitWriter(sh.coded_weights[i])) : 0;
      described[i] = __shfl_sync(kAllLanes, described[i], 0);
      make_steps(work, sh.bases[0], kWeightValues, log, 0, sh.weight_steps[i], sh.weight_states[i], lane);
    }
    std::uint32_t coded = 0;
    if (lane < kWeightLogs) {
      const std::uint32_t begin = lane == 0 ? described[0] : described[1];
      coded = begin + code_weights(sh.weights, count, sh.weight_steps[lane], sh.weight_states[lane],
                                   kFirstWeightLog + lane, BitWriter(sh.coded_weights[lane] + begin));
    }
#pragma unroll
    for (unsigned i = 0; i < kWeightLogs; ++i) {
      const std::uint32_t bytes = __shfl_sync(kAllLanes, coded, static_cast<int>(i));
      if (bytes >= kZstdMostDirectWeights || (best != 0 && 1 + bytes >= best)) continue;
      best = 1 + bytes;
      best_log = kFirstWeightLog + i;
    }
  }
  __syncwarp();
  for (std::uint32_t i = lane; i < best; i += 32) {
    std::uint32_t byte = 0;
    if (best_log != 0) {
      byte = i == 0 ? best - 1 : sh.coded_weights[best_log - kFirstWeightLog][i - 1];
    } else if (i == 0) {
      byte = 127 + count;
    } else {
      const std::uint32_t weight = 2 * (i - 1);
      byte = sh.weights[weight] << 4;
      if (weight + 1 < count) byte |= sh.weights[weight + 1];
    }
    to[i] = static_cast<std::uint8_t>(byte);
  }
  return best;
}

// choose_zstd_table(), by the warp of the kind.
__device__ void choose_codes(ChoiceShared& sh, unsigned kind, const ZstdBlockCounts& counted, bool writes,
                             ZstdBlockTables& tables, ZstdDevicePrices* prices, unsigned lane) {
  ZstdTableWork& work = sh.work[1 + kind];
  const ZstdDeviceKind limits = zstd_device_kind(kind);
  const OfLane counts{counted.codes[kind][lane], counted.codes[kind][lane + 32]};
  const std::uint32_t sum = counted.sequence_count;
  const unsigned used_low = __ballot_sync(kAllLanes, counts.low != 0),
                 used_high = __ballot_sync(kAllLanes, counts.high != 0);
  const auto used = static_cast<std::uint32_t>(__popc(used_low) + __popc(used_high));
  const std::uint32_t last = used_high != 0  ? 32 + zstd_floor_log2(used_high)
                             : used_low != 0 ? zstd_floor_log2(used_low)
                                             : 0;

  // A code's size, where it occurs with so many cells.
  const auto size_of = [](std::uint32_t count, std::uint32_t cells, unsigned log) {
    return count == 0 ? 0 : count * (log * kZstdSizeUnitsPerBit - zstd_log2_of(cells));
  };
  const auto predefined_cells = [&](std::uint32_t code) {
    if (code >= limits.predefined_count) return 0u;
    const std::int32_t probability = zstd_predefined(kind, code);
    return probability < 0 ? 1u : static_cast<std::uint32_t>(probability);
  };
  OfLane cells{predefined_cells(lane), predefined_cells(lane + 32)};
  unsigned log = limits.predefined_log;
  ZstdTableMode mode = ZstdTableMode::kPredefined;
  std::uint32_t description_bytes = 0, symbol_count = limits.predefined_count;
  const bool lacks = (counts.low != 0 && cells.low == 0) || (counts.high != 0 && cells.high == 0);
  std::uint32_t least = ~0u;  // the size to be beaten
  if (!__any_sync(kAllLanes, lacks))
    least = sum_over_warp(size_of(counts.low, cells.low, log) + size_of(counts.high, cells.high, log));

  if (used == 1 && kByteSize < least) {
    mode = ZstdTableMode::kRle;
    log = 0;
    cells = {lane == last ? 1u : 0u, lane + 32 == last ? 1u : 0u};
    if (lane == 0) sh.descriptions[kind][0] = static_cast<std::uint8_t>(last);
    description_bytes = 1;
  } else if (used > 1) {
    const unsigned own_log = table_log(sum, used, limits.most_log);
    const OfLane own = share_cells(counts, sum, own_log, lane);
    work.probabilities[lane] = static_cast<std::int16_t>(own.low);
    work.probabilities[lane + 32] = static_cast<std::int16_t>(own.high);
    __syncwarp();
    std::uint32_t bytes = 0;
    if (lane == 0) bytes = describe_table(work.probabilities, own_log, BitWriter(sh.descriptions[kind]));
    bytes = __shfl_sync(kAllLanes, bytes, 0);
    const std::uint32_t size =
        sum_over_warp(size_of(counts.low, own.low, own_log) + size_of(counts.high, own.high, own_log)) +
        bytes * kByteSize;
    if (size < least) {
      mode = ZstdTableMode::kOwn;
      log = own_log;
      cells = own;
      description_bytes = bytes;
      symbol_count = last + 1;
    }
  }

  if (prices != nullptr) {
    std::int16_t* const to = kind == 0   ? prices->run_code
                             : kind == 1 ? prices->offset_code
                                         : prices->match_code;
    const auto price = [&](std::uint32_t code, std::uint32_t count) {
      if (code > limits.most_symbol) return;
      constexpr std::uint32_t kSizeUnits = kZstdSizeUnitsPerBit / kCostUnitsPerBit;
      if (mode == ZstdTableMode::kRle)
        to[code] = count != 0 ? kZstdOnlyCodePrice : kZstdOtherCodePrice;
      else if (count == 0)
        to[code] = static_cast<std::int16_t>((log + 1) * kCostUnitsPerBit);
      else
        to[code] = static_cast<std::int16_t>((size_of(1, count, log) + kSizeUnits / 2) / kSizeUnits);
    };
    price(lane, cells.low);
    price(lane + 32, cells.high);
  }
  if (!writes) return;

  __syncwarp();
  for (std::uint32_t i = lane; i < description_bytes; i += 32)
    tables.descriptions[kind][i] = sh.descriptions[kind][i];
  if (lane == 0) {
    tables.modes[kind] = static_cast<std::uint32_t>(mode);
    tables.logs[kind] = log;
    tables.description_bytes[kind] = description_bytes;
  }
  if (mode == ZstdTableMode::kRle) {
    if (lane == 0) {
      tables.steps[kind][last] = {~0u, zstd_cells_at(kind) - 1};
      tables.states[zstd_cells_at(kind)] = 1;
    }
    return;
  }
  if (mode == ZstdTableMode::kPredefined) {
    for (std::uint32_t i = lane; i < symbol_count; i += 32) work.probabilities[i] = zstd_predefined(kind, i);
  }
  make_steps(work, sh.bases[1 + kind], symbol_count, log, zstd_cells_at(kind), tables.steps[kind],
             tables.states, lane);
}

// How many bits the literals from `begin` to `end` take, by a warp. `literals` is a multiple of 16, and what is behind `end` up to such a one can be read.
__device__ std::uint32_t stream_bits(const ChoiceShared& sh, const std::uint8_t* literals,
                                     std::uint32_t begin, std::uint32_t end, unsigned lane) {
  std::uint32_t bits = 0;
  for (std::uint32_t at = begin / 16 * 16 + 16 * lane; at < end; at += 16 * 32) {
    const uint4 words = *reinterpret_cast<const uint4*>(literals + at);
    const auto add = [&](std::uint32_t word, std::uint32_t first) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
        if (first + i >= begin && first + i < end) bits += sh.lengths[word >> (8 * i) & 0xFF];
    };
    add(words.x, at);
    add(words.y, at + 4);
    add(words.z, at + 8);
    add(words.w, at + 12);
  }
  return sum_over_warp(bits);
}

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t plain_header_bytes(std::uint32_t count) {
  return count < 32 ? 1 : count < 4096 ? 2 : 3;
}

struct LiteralsForm {
  std::uint32_t type, header_bytes, data_bytes;
};

// The smallest form of the literals, from the size of their coded form without its header; 0: there is none.
__device__ __forceinline__ LiteralsForm literals_form(std::uint32_t count, bool are_equal,
                                                      std::uint32_t coded_bytes) {
  const std::uint32_t plain_header = plain_header_bytes(count);
  if (are_equal && count >= 2) return {static_cast<std::uint32_t>(ZstdDeviceLiterals::kRle), plain_header, 1};
  if (coded_bytes != 0) {
    const std::uint32_t header = count < 1u << 10 ? 3 : count < 1u << 14 ? 4 : 5;
    if (header + coded_bytes < plain_header + count)
      return {static_cast<std::uint32_t>(ZstdDeviceLiterals::kCompressed), header, coded_bytes};
  }
  return {static_cast<std::uint32_t>(ZstdDeviceLiterals::kRaw), plain_header, count};
}

__global__ void __launch_bounds__(kThreads)
    choose_zstd_tables(const DeviceBlocks blocks, const bool writes, const ZstdEncodeRoom room,
                       ZstdDevicePrices* d_prices) {
  __shared__ ChoiceShared sh;
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  if (block.block_bytes == 0) return;  // the whole thread block
  const ZstdBlockCounts& counts = room.d_counts[blockIdx.x];
  ZstdBlockTables& tables = room.d_tables[blockIdx.x];
  ZstdDevicePrices* const prices = d_prices == nullptr ? nullptr : d_prices + blockIdx.x;
  const std::uint32_t literal_count = counts.literal_count;

  constexpr unsigned kOwn = kZstdLiteralValues / kThreads;
  std::uint32_t used = 0;
  for (unsigned i = 0; i < kOwn; ++i) {
    const std::uint32_t literal = i * kThreads + thread, count = counts.literals[literal];
    used += static_cast<std::uint32_t>(__popc(__ballot_sync(kAllLanes, count != 0)));
    sh.keys[literal] = count == 0 ? kNoKey : deflate_sort_key(count, literal);
    sh.lengths[literal] = 0;
  }
  if (lane == 0) sh.warp_used[warp] = used;
  __syncthreads();
  used = 0;
  for (unsigned i = 0; i < kWarps; ++i) used += sh.warp_used[i];
  const bool are_equal = used == 1, has_codes = literal_count >= 2;
  for (unsigned i = 0; i < kOwn && has_codes; ++i) {
    const std::uint32_t key = sh.keys[i * kThreads + thread];
    std::uint32_t rank = 0;
    for (unsigned j = 0; j < kZstdLiteralValues / 4; ++j) {
      const uint4 others = reinterpret_cast<const uint4*>(sh.keys)[j];
      rank += (others.x < key ? 1 : 0) + (others.y < key ? 1 : 0) + (others.z < key ? 1 : 0) +
              (others.w < key ? 1 : 0);
    }
    if (key == kNoKey) continue;
    // If only one literal occurs, the first of the others gets a code too.
    if (are_equal) sh.sorted[rank++] = deflate_sort_key(0, key % (1u << kDeflateSymbolBits) == 0 ? 1 : 0);
    sh.sorted[rank] = key;
  }
  __syncthreads();

  if (warp != 0) {
    choose_codes(sh, warp - 1, counts, writes, tables, prices, lane);
  } else {
    std::uint32_t weights_bytes = 0;
    if (has_codes) {
      const unsigned longest =
          make_literal_codes(sh, max(used, 2u), writes ? tables.literal_codes : nullptr, lane);
      if (!are_equal) weights_bytes = describe_weights(sh, longest, tables.weights, lane);
    }
    if (lane == 0) sh.weights_bytes = weights_bytes;
  }
  __syncthreads();

  const std::uint32_t weights_bytes = sh.weights_bytes;
  const bool has_four = literal_count >= kZstdLeastFourStreams;
  if (weights_bytes != 0) {
    const std::uint32_t each = has_four ? (literal_count + 3) / 4 : literal_count;
    const std::uint32_t begin = min(warp * each, literal_count), end = min(begin + each, literal_count);
    const std::uint32_t bits =
        stream_bits(sh, room.d_literals + zstd_literals_at(block.position, blockIdx.x), begin, end, lane);
    if (lane == 0) sh.stream_bits[warp] = bits;
  }
  __syncthreads();
  if (thread == 0) {
    std::uint32_t coded_bytes = weights_bytes;
    for (unsigned i = 0; i < (has_four ? 4 : 1) && weights_bytes != 0; ++i) {
      const std::uint32_t bytes = sh.stream_bits[i] / 8 + 1;  // with the bit that marks the end
      coded_bytes += bytes + (has_four && i < 3 ? 2 : 0);
      if (writes) tables.stream_bytes[i] = bytes;
    }
    const LiteralsForm form = literals_form(literal_count, are_equal, coded_bytes);
    sh.literals_type = form.type;
    if (writes) {
      tables.literals_type = form.type;
      tables.literal_header_bytes = form.header_bytes;
      tables.literal_data_bytes = form.data_bytes;
      tables.weights_bytes = weights_bytes;
    }
  }
  if (prices == nullptr) return;
  __syncthreads();
  const bool is_raw = sh.literals_type == static_cast<std::uint32_t>(ZstdDeviceLiterals::kRaw);
  for (unsigned literal = thread; literal < kZstdLiteralValues; literal += kThreads) {
    const std::uint32_t length = sh.lengths[literal];
    prices->literal[literal] = is_raw        ? kZstdRawLiteralPrice
                               : length == 0 ? kZstdUnusedLiteralPrice
                                             : static_cast<std::int16_t>(length * kCostUnitsPerBit);
  }
}

constexpr KernelBudget kChooseBudget("zstd_compress.choose", "choose_zstd_tables",
                                     {.threads = kThreads,
                                      .registers = 64,
                                      .shared_bytes = sizeof(ChoiceShared)});
const KernelRegistration kChooseRegistration(kChooseBudget, choose_zstd_tables);

}  // namespace

void choose_zstd_tables_cuda(const DeviceBlocks& blocks, bool writes, const ZstdEncodeRoom& room,
                             ZstdDevicePrices* d_prices, cudaStream_t stream) {
  launch({.kernel = kChooseBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)},
         choose_zstd_tables, blocks, writes, room, d_prices);
}

}  // namespace hemstitch::cuda
