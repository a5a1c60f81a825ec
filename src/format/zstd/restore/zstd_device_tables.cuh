// The decoding tables of Zstandard, made by a warp: FSE (RFC 8878, section 4.1) and Huffman (4.2).
//
// One lane reads the probabilities, since each one's width depends on those before it. The warp then fills the
// cells. Only complete tables are made, so that no bits lead outside of them. CPU twin: zstd_tables.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "format/zstd/block/zstd_symbols.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

// A cell of a table of sequences' codes: extra bits of the code (6 bits), bits to the next state (5), symbol (6), base
// of the next state. The sum of three cells has the sums of the first two fields.
using ZstdDeviceCell = std::uint32_t;
inline constexpr unsigned kZstdCellBitsAt = 6, kZstdCellSymbolAt = 11, kZstdCellBaseAt = 17;
inline constexpr std::uint32_t kZstdCellExtraMask = 63, kZstdCellBitsMask = 31, kZstdCellSymbolMask = 63;

// The tables of a block, one after the other: literals' counts, offsets, matches.
inline constexpr unsigned kZstdKinds = 3;
inline constexpr unsigned kZstdCells = 512 + 256 + 512;
__device__ constexpr unsigned zstd_cells_at(unsigned kind) { return kind == 0 ? 0 : kind == 1 ? 512 : 768; }

// A Huffman code: how many bits it has, and above that its symbol. A table has an entry for each value of the next bits.
using ZstdDeviceCode = std::uint16_t;
inline constexpr unsigned kZstdSymbolAt = 8;
inline constexpr std::uint32_t kZstdCodeBitsMask = (1u << kZstdSymbolAt) - 1;
// The RFC allows codes of 11 bits (4.2.1). Those of 12, which libzstd reads, are left to the last kernel.
inline constexpr unsigned kZstdCodeBits = 11, kZstdMostCodeBits = 12;
inline constexpr unsigned kZstdCodes = 1u << kZstdCodeBits;

inline constexpr unsigned kZstdMostWeights = 255;  // without the last one, which is not given
inline constexpr unsigned kZstdMostWeightLog = 6, kZstdMostCodedWeight = 11;

// What a warp needs while it makes tables.
struct ZstdTableWork {
  static constexpr unsigned kWords = 72;  // of a description; the longest one has some 100 bytes
  std::uint32_t words[kWords];
  std::int16_t probabilities[256];
  std::uint16_t counts[256], firsts[256];
  std::uint8_t symbols[512], weights[256];
  std::uint32_t weight_cells[1 << kZstdMostWeightLog];  // symbol, and above it bits (3) and base
  // What one lane tells the others.
  std::uint32_t log, symbol_count, used_bytes, weight_count;
  bool is_sound;
};

// The codes of sequences (3.1.1.3.2.1.1): base and extra bits.
__device__ inline std::uint32_t zstd_extra_bits(unsigned kind, std::uint32_t symbol) {
  if (kind == 1) return symbol;
  if (kind == 0)
    return symbol < 16    ? 0
           : symbol < 20  ? 1
           : symbol < 22  ? 2
           : symbol < 24  ? 3
           : symbol == 24 ? 4
                          : symbol - 19;
  return symbol < 32    ? 0
         : symbol < 36  ? 1
         : symbol < 38  ? 2
         : symbol < 40  ? 3
         : symbol < 42  ? 4
         : symbol == 42 ? 5
                        : symbol - 36;
}
// The codes' bases.
static __device__ constexpr auto zstd_device_literal_codes = kZstdLiteralCodes;
static __device__ constexpr auto zstd_device_match_codes = kZstdMatchCodes;
__device__ inline std::uint32_t zstd_literal_base(std::uint32_t symbol) {
  return zstd_device_literal_codes[symbol].base;
}
__device__ inline std::uint32_t zstd_match_base(std::uint32_t symbol) {
  return zstd_device_match_codes[symbol].base;
}

__device__ inline ZstdDeviceCell zstd_cell(unsigned kind, std::uint32_t symbol, std::uint32_t bits,
                                           std::uint32_t base) {
  return zstd_extra_bits(kind, symbol) | bits << kZstdCellBitsAt | symbol << kZstdCellSymbolAt |
         base << kZstdCellBaseAt;
}

// What ZstdCodeKind says of a kind, where kernels can read it.
struct ZstdDeviceKind {
  unsigned most_symbol, most_log, predefined_log, predefined_count;
};
__device__ inline ZstdDeviceKind zstd_device_kind(unsigned kind) {
  constexpr auto facts = [](const ZstdCodeKind& of) {
    return ZstdDeviceKind{of.most_symbol, of.most_log, of.predefined_log,
                          static_cast<unsigned>(of.predefined.size())};
  };
  constexpr ZstdDeviceKind kLiterals = facts(kZstdLiteralKind), kOffsets = facts(kZstdOffsetKind),
                           kMatches = facts(kZstdMatchKind);
  return kind == 0 ? kLiterals : kind == 1 ? kOffsets : kMatches;
}
static __device__ constexpr auto zstd_device_literals = zstd_symbols::kLiterals;
static __device__ constexpr auto zstd_device_offsets = zstd_symbols::kOffsets;
static __device__ constexpr auto zstd_device_matches = zstd_symbols::kMatches;
__device__ inline std::int8_t zstd_predefined(unsigned kind, unsigned symbol) {
  return kind == 0   ? zstd_device_literals[symbol]
         : kind == 1 ? zstd_device_offsets[symbol]
                     : zstd_device_matches[symbol];
}

// Brings a description to shared memory; zeros follow its end.
__device__ inline void stage_zstd_description(ZstdTableWork& work, const std::uint8_t* d_bytes,
                                              std::uint32_t size, unsigned lane) {
  auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(work.words);
  __syncwarp();
  for (unsigned i = lane; i < 4 * ZstdTableWork::kWords; i += 32) sh_bytes[i] = i < size ? d_bytes[i] : 0;
  __syncwarp();
}

__device__ inline std::uint32_t zstd_staged_bits(const ZstdTableWork& work, std::uint32_t bit) {
  return __funnelshift_r(work.words[bit / 32], work.words[bit / 32 + 1], bit % 32);
}

// One lane: reads the probabilities of the table that is staged (4.1.1). Sets what that lane tells the others.
__device__ inline void read_zstd_probabilities(ZstdTableWork& work, std::uint32_t size, unsigned most_log,
                                               unsigned most_symbol) {
  constexpr unsigned kLeastLog = 5;
  work.is_sound = false;
  const unsigned log = (zstd_staged_bits(work, 0) & 15) + kLeastLog;
  std::uint32_t bit = 4, count = 0;
  if (log > most_log) return;
  std::int32_t remaining = (1 << log) + 1;  // what is left to share out, and 1
  const std::uint32_t end = 8 * (size < 4 * ZstdTableWork::kWords - 8 ? size : 4 * ZstdTableWork::kWords - 8);
  bool was_zero = false;
  while (remaining > 1) {
    // Two bits after a 0 say how many more follow; 3 means that two more bits come.
    for (std::uint32_t zeros = 3; was_zero && zeros == 3;) {
      zeros = zstd_staged_bits(work, bit) & 3;
      bit += 2;
      if (count + zeros > most_symbol + 1 || bit > end) return;
      for (std::uint32_t i = 0; i < zeros; ++i) work.probabilities[count++] = 0;
    }
    if (count > most_symbol) return;
    // A value up to `remaining`: the lowest ones take a bit less than the others.
    const auto width = static_cast<unsigned>(32 - __clz(static_cast<std::uint32_t>(remaining)));
    const std::int32_t half = 1 << (width - 1), short_values = 2 * half - 1 - remaining;
    auto value = static_cast<std::int32_t>(zstd_staged_bits(work, bit) & ((1u << width) - 1));
    if ((value & (half - 1)) < short_values) {
      value &= half - 1;
      bit += width - 1;
    } else {
      if (value >= half) value -= short_values;
      bit += width;
    }
    const std::int32_t probability = value - 1;
    remaining -= probability < 0 ? 1 : probability;
    work.probabilities[count++] = static_cast<std::int16_t>(probability);
    was_zero = probability == 0;
    if (bit > end) return;
  }
  if (remaining != 1) return;
  work.is_sound = true;
  work.log = log;
  work.symbol_count = count;
  work.used_bytes = (bit + 7) / 8;
}

// The warp: the cells of the table with these probabilities; put(cell, symbol, bits, base) takes each (4.1.1). At most 512.
template <class Put>
__device__ inline void spread_zstd_table(ZstdTableWork& work, std::uint32_t symbol_count, unsigned log,
                                         unsigned lane, const Put& put) {
  const std::uint32_t size = 1u << log, mask = size - 1, step = (size >> 1) + (size >> 3) + 3;
  const std::uint32_t below = (1u << lane) - 1;
  // What is rarer than one cell has one at the end. For the others: how many cells those before have.
  std::uint32_t rare = 0, common = 0;
  __syncwarp();
  for (std::uint32_t first = 0; first < symbol_count; first += 32) {
    const std::uint32_t symbol = first + lane;
    const std::int32_t probability = symbol < symbol_count ? work.probabilities[symbol] : 0;
    const std::uint32_t rare_lanes = __ballot_sync(kAllLanes, probability < 0);
    if (probability < 0)
      work.symbols[size - 1 - rare - static_cast<std::uint32_t>(__popc(rare_lanes & below))] =
          static_cast<std::uint8_t>(symbol);
    rare += static_cast<std::uint32_t>(__popc(rare_lanes));
    const std::uint32_t cells = probability > 0 ? static_cast<std::uint32_t>(probability) : 0;
    const std::uint32_t up_to_lane = sum_up_to_lane(cells, lane);
    if (symbol < symbol_count) {
      work.firsts[symbol] = static_cast<std::uint16_t>(common + up_to_lane - cells);
      work.counts[symbol] = static_cast<std::uint16_t>(probability < 0 ? 1 : cells);
    }
    common += __shfl_sync(kAllLanes, up_to_lane, 31);
  }
  __syncwarp();
  // The others' cells are a step apart, and pass over those at the end.
  const std::uint32_t end = size - rare;
  std::uint32_t taken = 0;
  for (std::uint32_t first = 0; first < size; first += 32) {
    const std::uint32_t cell = (first + lane) * step & mask;
    const bool is_taken = cell < end;
    const std::uint32_t lanes = __ballot_sync(kAllLanes, is_taken);
    const std::uint32_t rank = taken + static_cast<std::uint32_t>(__popc(lanes & below));
    taken += static_cast<std::uint32_t>(__popc(lanes));
    if (!is_taken) continue;
    // The last symbol with a first cell up to this one; symbols without cells have the same first as the next.
    std::uint32_t symbol = 0;
    for (std::uint32_t half = 128; half != 0; half /= 2)
      if (symbol + half < symbol_count && work.firsts[symbol + half] <= rank) symbol += half;
    work.symbols[cell] = static_cast<std::uint8_t>(symbol);
  }
  __syncwarp();
  // In the order of the cells, those of a symbol are numbered from its count on.
  for (std::uint32_t first = 0; first < size; first += 32) {
    const std::uint32_t symbol = work.symbols[first + lane];
    const std::uint32_t same = __match_any_sync(kAllLanes, symbol);
    const std::uint32_t number = work.counts[symbol] + static_cast<std::uint32_t>(__popc(same & below));
    __syncwarp();
    if ((same & below) == 0)
      work.counts[symbol] = static_cast<std::uint16_t>(work.counts[symbol] + __popc(same));
    __syncwarp();
    const std::uint32_t bits = log - (31 - static_cast<std::uint32_t>(__clz(number)));
    put(first + lane, symbol, bits, (number << bits) - size);
  }
  __syncwarp();
}

// One lane: the weights of a Huffman table as symbols of FSE, in two states that take turns (4.2.1.2). The stream ends
// where a state lacks bits; the other one then gives the last weight. `size`: of what is staged.
__device__ inline void read_zstd_weights(ZstdTableWork& work, std::uint32_t size) {
  const std::uint32_t used = work.used_bytes, log = work.log;
  work.is_sound = false;
  if (used >= size) return;
  const auto* const sh_bytes = reinterpret_cast<const std::uint8_t*>(work.words);
  const std::uint32_t last = sh_bytes[size - 1];
  if (last == 0) return;
  // Bits of the stream that are left; below 0 once zeros before its beginning were taken.
  auto left = static_cast<std::int32_t>(8 * (size - used)) - (__clz(last) - 24) - 1;
  const auto take = [&](std::uint32_t count) {
    const std::int32_t low = left - static_cast<std::int32_t>(count);
    const std::int32_t before = left;
    left = low;
    if (before <= 0) return 0u;
    const std::uint32_t mask = (1u << count) - 1;
    if (low >= 0) return zstd_staged_bits(work, 8 * used + static_cast<std::uint32_t>(low)) & mask;
    return (zstd_staged_bits(work, 8 * used) & ((1u << before) - 1)) << -low & mask;
  };
  std::uint32_t state = take(log), other = take(log);
  if (left < 0) return;
  std::uint32_t count = 0;
  for (;;) {
    const std::uint32_t cell = work.weight_cells[state];
    if (count + 1 >= kZstdMostWeights) return;
    work.weights[count++] = static_cast<std::uint8_t>(cell);
    const std::uint32_t next = (cell >> 11) + take(cell >> 8 & 7);
    if (left < 0) break;
    state = other;
    other = next;
  }
  work.weights[count++] = static_cast<std::uint8_t>(work.weight_cells[other]);
  work.weight_count = count;
  work.is_sound = true;
}

// The warp: the table of the Huffman code that is described at `d_bytes`, with 2^bits entries. Returns bits; 0 if the
// description breaks a rule, or has codes of more than `most_bits`. Sets the description's size.
__device__ __forceinline__ unsigned make_zstd_huffman(ZstdTableWork& work, const std::uint8_t* d_bytes,
                                                      std::uint32_t size, unsigned most_bits,
                                                      ZstdDeviceCode* codes, std::uint32_t& used_bytes,
                                                      unsigned lane) {
  constexpr std::uint32_t kFirstDirect = 128;
  if (size == 0) return 0;
  const std::uint32_t head = d_bytes[0];
  std::uint32_t count = 0;
  if (head >= kFirstDirect) {
    // Half bytes, the higher one first (4.2.1.1).
    count = head - kFirstDirect + 1;
    used_bytes = 1 + (count + 1) / 2;
    if (used_bytes > size) return 0;
    __syncwarp();
    for (std::uint32_t i = lane; i < count; i += 32)
      work.weights[i] =
          static_cast<std::uint8_t>(i % 2 == 0 ? d_bytes[1 + i / 2] >> 4 : d_bytes[1 + i / 2] & 15);
  } else {
    used_bytes = 1 + head;
    if (used_bytes > size) return 0;
    stage_zstd_description(work, d_bytes + 1, head, lane);
    if (lane == 0) read_zstd_probabilities(work, head, kZstdMostWeightLog, kZstdMostWeights);
    __syncwarp();
    if (!work.is_sound) return 0;
    bool too_heavy = false;  // as in the reference, whether any bits lead to it or not
    spread_zstd_table(work, work.symbol_count, work.log, lane,
                      [&](std::uint32_t cell, std::uint32_t symbol, std::uint32_t bits, std::uint32_t base) {
                        work.weight_cells[cell] = symbol | bits << 8 | base << 11;
                        too_heavy = too_heavy || symbol > kZstdMostCodedWeight;
                      });
    if (__any_sync(kAllLanes, too_heavy)) return 0;
    if (lane == 0) read_zstd_weights(work, head);
    __syncwarp();
    if (!work.is_sound) return 0;
    count = work.weight_count;
  }
  __syncwarp();
  // The last weight makes the sum a power of two.
  std::uint32_t sum = 0, too_long = 0;
  for (std::uint32_t i = lane; i < count; i += 32) {
    const std::uint32_t weight = work.weights[i];
    if (weight > most_bits)
      too_long = 1;
    else if (weight != 0)
      sum += 1u << (weight - 1);
  }
  sum = sum_over_warp(sum);
  if (bits_over_warp(too_long) != 0 || sum == 0) return 0;
  const auto bits = static_cast<unsigned>(32 - __clz(sum));
  if (bits > most_bits) return 0;
  const std::uint32_t rest = (1u << bits) - sum;
  if ((rest & (rest - 1)) != 0) return 0;
  if (lane == 0) work.weights[count] = static_cast<std::uint8_t>(32 - __clz(rest));
  ++count;
  if (lane < 16) work.counts[lane] = 0;
  __syncwarp();
  const std::uint32_t below = (1u << lane) - 1;
  for (std::uint32_t first = 0; first < count; first += 32) {
    const std::uint32_t weight = first + lane < count ? work.weights[first + lane] : 0;
    const std::uint32_t same = __match_any_sync(kAllLanes, weight);
    if ((same & below) == 0)
      work.counts[weight] = static_cast<std::uint16_t>(work.counts[weight] + __popc(same));
    __syncwarp();
  }
  // The longest codes come in pairs.
  const std::uint32_t longest = work.counts[1];
  if (longest < 2 || longest % 2 != 0) return 0;
  const std::uint32_t entries =
      lane != 0 && lane <= kZstdMostCodeBits ? std::uint32_t{work.counts[lane]} << (lane - 1) : 0;
  const std::uint32_t up_to_lane = sum_up_to_lane(entries, lane);
  __syncwarp();
  if (lane < 16) work.firsts[lane] = static_cast<std::uint16_t>(up_to_lane - entries);
  __syncwarp();
  for (std::uint32_t first = 0; first < count; first += 32) {
    const std::uint32_t symbol = first + lane, weight = symbol < count ? work.weights[symbol] : 0;
    const std::uint32_t same = __match_any_sync(kAllLanes, weight);
    const std::uint32_t length = weight != 0 ? 1u << (weight - 1) : 0;
    const std::uint32_t at = work.firsts[weight] + static_cast<std::uint32_t>(__popc(same & below)) * length;
    __syncwarp();
    if ((same & below) == 0)
      work.firsts[weight] =
          static_cast<std::uint16_t>(work.firsts[weight] + static_cast<std::uint32_t>(__popc(same)) * length);
    __syncwarp();
    const std::uint32_t code = (bits + 1 - weight) | symbol << kZstdSymbolAt;
    // A lane fills in short runs by itself; the warp long ones.
    constexpr std::uint32_t kShort = 8;
    if (length <= kShort)
      for (std::uint32_t i = 0; i < length; ++i) codes[at + i] = static_cast<ZstdDeviceCode>(code);
    for (std::uint32_t lanes = __ballot_sync(kAllLanes, length > kShort); lanes != 0; lanes &= lanes - 1) {
      const int from = __ffs(lanes) - 1;
      const std::uint32_t run = __shfl_sync(kAllLanes, length, from),
                          begin = __shfl_sync(kAllLanes, at, from);
      const auto its_code = static_cast<ZstdDeviceCode>(__shfl_sync(kAllLanes, code, from));
      for (std::uint32_t i = lane; i < run; i += 32) codes[begin + i] = its_code;
    }
  }
  __syncwarp();
  return bits;
}

// The warp: the table of a kind of code that a block defines. `at` is where its description begins in the block's data, and then
// where it ends. Returns false if it breaks a rule. Sets the table's log.
__device__ __forceinline__ bool make_zstd_cells(ZstdTableWork& work, const std::uint8_t* d_data,
                                                std::uint32_t data_bytes, ZstdTableMode mode, unsigned kind,
                                                std::uint32_t& at, ZstdDeviceCell* cells, unsigned& log,
                                                unsigned lane) {
  const ZstdDeviceKind limits = zstd_device_kind(kind);
  if (mode == ZstdTableMode::kRle) {
    if (at >= data_bytes) return false;
    const std::uint32_t symbol = d_data[at++];
    if (symbol > limits.most_symbol) return false;
    if (lane == 0) cells[0] = zstd_cell(kind, symbol, 0, 0);
    log = 0;
    return true;
  }
  std::uint32_t symbol_count = 0;
  if (mode == ZstdTableMode::kPredefined) {
    symbol_count = limits.predefined_count;
    log = limits.predefined_log;
    __syncwarp();
    for (std::uint32_t i = lane; i < symbol_count; i += 32) work.probabilities[i] = zstd_predefined(kind, i);
  } else {
    const std::uint32_t size = at < data_bytes ? data_bytes - at : 0;
    stage_zstd_description(work, d_data + at, size, lane);
    if (lane == 0) read_zstd_probabilities(work, size, limits.most_log, limits.most_symbol);
    __syncwarp();
    if (!work.is_sound) return false;
    symbol_count = work.symbol_count;
    log = work.log;
    at += work.used_bytes;
  }
  spread_zstd_table(work, symbol_count, log, lane,
                    [&](std::uint32_t cell, std::uint32_t symbol, std::uint32_t bits, std::uint32_t base) {
                      cells[cell] = zstd_cell(kind, symbol, bits, base);
                    });
  return true;
}

}  // namespace hemstitch::cuda
