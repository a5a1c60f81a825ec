// The codes of a DEFLATE block as tables, made by a warp: what the next bits mean, in one look, or in two for long codes.
//
// An entry has 16 bits. The lowest 5 hold how many bits this part of the token takes, with its extra bits; 0 if no code begins like
// this. Above them is the symbol: in the literal/length code, a byte or the number of the length's symbol, counted from 0; and
// above it, which of the two it is, or the end of the block. An entry with the highest bit leads to a second table, for the bits
// that follow: how many these are, and where that table begins.
//
// Only sound codes become tables: complete ones, and for distances also a single code of one bit, or an empty code. All others are
// left to the sequential way (deflate_sequential.cuh), which alone decides what is damage.
//
// CPU twin: DeflateCode in deflate_header.hpp, which gives codes the same meaning.
#pragma once

#include "format/deflate/block/deflate_codes.hpp"
#include "format/deflate/restore/deflate_stream.cuh"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {

inline constexpr unsigned kLitlenTableBits = 10, kDistanceTableBits = 8;
// The most that complete codes of up to 15 bits need: 1334 entries for 288 symbols, 402 for 32.
inline constexpr unsigned kLitlenTableEntries = 1344, kDistanceTableEntries = 416;
inline constexpr unsigned kPrecodeTableEntries = 1u << kDeflateMaxPrecodeBits;

namespace deflate_entry {
inline constexpr unsigned kBitsMask = 31, kSymbolAt = 5, kKindAt = 13;
inline constexpr unsigned kKindMask = 3u << kKindAt;
inline constexpr unsigned kLiteral = 0u << kKindAt, kLength = 1u << kKindAt, kEnd = 2u << kKindAt;
inline constexpr unsigned kLeadsOn = 1u << 15;
// Fields of an entry that leads to a second table.
inline constexpr unsigned kMoreBitsMask = 15, kTableAt = 4, kTableMask = 0x7FF;
}  // namespace deflate_entry

using DeflateEntry = std::uint16_t;

// What a warp needs while it makes tables.
struct DeflateTableWork {
  std::uint8_t lengths[kDeflateFixedLitlenCount + kDeflateFixedDistanceCount];
  std::uint16_t sorted[kDeflateFixedLitlenCount];  // symbols, by their codes
  std::uint32_t counts[kDeflateMaxCodeBits + 1];   // of the codes of each length
  // For each length: the first code, the place of its first symbol, and the end of its codes; codes are extended to the longest length.
  std::uint32_t first[kDeflateMaxCodeBits + 1], place[kDeflateMaxCodeBits + 1],
      limit[kDeflateMaxCodeBits + 1];
  DeflateEntry precode[kPrecodeTableEntries];
};

struct DeflateTables {
  DeflateEntry litlen[kLitlenTableEntries];
  DeflateEntry distance[kDistanceTableEntries];
};

// `v`: the bits from the code on, at least 20.
template <unsigned kTableBits>
__device__ inline std::uint32_t deflate_entry_of(const DeflateEntry* sh_table, std::uint32_t v) {
  using namespace deflate_entry;
  std::uint32_t entry = sh_table[v & ((1u << kTableBits) - 1)];
  if ((entry & kLeadsOn) != 0)
    entry = sh_table[(entry >> kTableAt & kTableMask) +
                     (v >> kTableBits & ((1u << (entry & kMoreBitsMask)) - 1))];
  return entry;
}

struct PrecodeKind {
  static constexpr unsigned kMostBits = kDeflateMaxPrecodeBits, kTableBits = kDeflateMaxPrecodeBits;
  static constexpr unsigned kEntries = kPrecodeTableEntries;
  static constexpr bool kMayBeSingle = false;
  __device__ static std::uint32_t entry(std::uint32_t symbol, std::uint32_t bits) {
    return bits | symbol << deflate_entry::kSymbolAt;
  }
};
struct LitlenKind {
  static constexpr unsigned kMostBits = kDeflateMaxCodeBits, kTableBits = kLitlenTableBits;
  static constexpr unsigned kEntries = kLitlenTableEntries;
  static constexpr bool kMayBeSingle = false;
  __device__ static std::uint32_t entry(std::uint32_t symbol, std::uint32_t bits) {
    using namespace deflate_entry;
    if (symbol < kDeflateEndOfBlock) return bits | symbol << kSymbolAt | kLiteral;
    if (symbol == kDeflateEndOfBlock) return bits | kEnd;
    if (symbol >= kDeflateLitlenCount) return 0;
    return (bits + deflate_length_extra_bits(symbol)) | (symbol - kDeflateFirstLengthSymbol) << kSymbolAt |
           kLength;
  }
};
struct DistanceKind {
  static constexpr unsigned kMostBits = kDeflateMaxCodeBits, kTableBits = kDistanceTableBits;
  static constexpr unsigned kEntries = kDistanceTableEntries;
  static constexpr bool kMayBeSingle = true;
  __device__ static std::uint32_t entry(std::uint32_t symbol, std::uint32_t bits) {
    if (symbol >= kDeflateDistanceCount) return 0;
    return (bits + deflate_distance_extra_bits(symbol)) | symbol << deflate_entry::kSymbolAt;
  }
};

// The entry of the code of at least `least_bits` bits with which `code` begins; `code` is extended to the longest length.
template <class Kind>
__device__ inline std::uint32_t entry_of_code(const DeflateTableWork& work, std::uint32_t code,
                                              unsigned least_bits) {
  unsigned bits = least_bits;
  while (bits < Kind::kMostBits && code >= work.limit[bits]) ++bits;
  const std::uint32_t index = work.place[bits] + ((code >> (Kind::kMostBits - bits)) - work.first[bits]);
  return Kind::entry(work.sorted[index], bits);
}

// Makes the table of the code whose lengths are sh_lengths. False if the code is not sound. All lanes call.
template <class Kind>
__device__ bool make_deflate_table(DeflateTableWork& work, const std::uint8_t* sh_lengths,
                                   unsigned symbol_count, DeflateEntry* sh_table, unsigned lane) {
  constexpr unsigned kMostBits = Kind::kMostBits, kTableBits = Kind::kTableBits;
  if (lane <= kDeflateMaxCodeBits) work.counts[lane] = 0;
  __syncwarp();
  for (unsigned symbol = lane; symbol < symbol_count; symbol += 32)
    if (sh_lengths[symbol] != 0) atomicAdd(&work.counts[sh_lengths[symbol]], 1u);
  __syncwarp();
  std::uint32_t code = 0, place = 0;
  for (unsigned bits = 1; bits <= kMostBits; ++bits) {
    const std::uint32_t count = work.counts[bits];
    code <<= 1;
    if (lane == 0) {
      work.first[bits] = code;
      work.place[bits] = place;
      work.limit[bits] = (code + count) << (kMostBits - bits);
    }
    code += count;
    place += count;
  }
  const std::uint32_t single_count = work.counts[1];
  __syncwarp();
  const bool complete = code == 1u << kMostBits;
  if (!complete && !(Kind::kMayBeSingle && (place == 0 || (place == 1 && single_count == 1)))) return false;

  // Orders the symbols by length and number. The counts become how many of each length have been placed.
  if (lane <= kDeflateMaxCodeBits) work.counts[lane] = 0;
  __syncwarp();
  for (unsigned begin = 0; begin < symbol_count; begin += 32) {
    const unsigned symbol = begin + lane;
    const std::uint32_t length = symbol < symbol_count ? sh_lengths[symbol] : 0;
    const unsigned same = __match_any_sync(kAllLanes, length);
    const auto below = static_cast<std::uint32_t>(__popc(same & ((1u << lane) - 1)));
    const std::uint32_t placed = work.counts[length];
    __syncwarp();
    if (length != 0) {
      work.sorted[work.place[length] + placed + below] = static_cast<std::uint16_t>(symbol);
      if (below == 0) work.counts[length] = placed + static_cast<std::uint32_t>(__popc(same));
    }
    __syncwarp();
  }

  // Codes that fit into the first table. Codes are packed from their highest bit on, so their bits are reversed.
  const std::uint32_t short_limit = work.limit[kTableBits];  // codes from here on are longer, or not codes
  for (unsigned i = lane; i < 1u << kTableBits; i += 32) {
    const std::uint32_t turned = (__brev(i) >> (32 - kTableBits)) << (kMostBits - kTableBits);
    sh_table[i] = static_cast<DeflateEntry>(turned < short_limit ? entry_of_code<Kind>(work, turned, 1) : 0);
  }
  __syncwarp();
  if (!complete || kTableBits == kMostBits) return true;

  // Each beginning of longer codes gets a second table, as large as the longest of them needs. That is the last one, which is the
  // highest of that beginning.
  unsigned end = 1u << kTableBits;
  for (unsigned begin = short_limit >> (kMostBits - kTableBits); begin < 1u << kTableBits; begin += 32) {
    const unsigned prefix = begin + lane;
    unsigned more_bits = 0;
    if (prefix < 1u << kTableBits) {
      const std::uint32_t last = ((prefix + 1) << (kMostBits - kTableBits)) - 1;
      unsigned bits = kTableBits + 1;
      while (bits < kMostBits && last >= work.limit[bits]) ++bits;
      more_bits = bits - kTableBits;
    }
    const unsigned entries = more_bits == 0 ? 0 : 1u << more_bits;
    const unsigned up_to_lane = sum_up_to_lane(entries, lane);
    const unsigned table = end + up_to_lane - entries;
    end += __shfl_sync(kAllLanes, up_to_lane, 31);
    if (end > Kind::kEntries) return false;
    if (more_bits != 0) {
      sh_table[__brev(prefix) >> (32 - kTableBits)] =
          static_cast<DeflateEntry>(deflate_entry::kLeadsOn | table << deflate_entry::kTableAt | more_bits);
      for (unsigned i = 0; i < entries; ++i) {
        const std::uint32_t turned = __brev(i) >> (32 - more_bits);
        sh_table[table + i] = static_cast<DeflateEntry>(entry_of_code<Kind>(
            work, prefix << (kMostBits - kTableBits) | turned << (kMostBits - kTableBits - more_bits),
            kTableBits + 1));
      }
    }
  }
  __syncwarp();
  return true;
}

// The number of symbols of each of a block's codes; 0 if the codes are not sound.
struct DeflateCodeCounts {
  unsigned litlen, distance;
};

// Sets the code lengths of the fixed codes.
__device__ inline DeflateCodeCounts set_fixed_lengths(DeflateTableWork& work, unsigned lane) {
  for (unsigned symbol = lane; symbol < kDeflateFixedLitlenCount; symbol += 32)
    work.lengths[symbol] = static_cast<std::uint8_t>(deflate_fixed_litlen_bits(symbol));
  for (unsigned symbol = lane; symbol < kDeflateFixedDistanceCount; symbol += 32)
    work.lengths[kDeflateFixedLitlenCount + symbol] = kDeflateFixedDistanceBits;
  __syncwarp();
  return {kDeflateFixedLitlenCount, kDeflateFixedDistanceCount};
}

// Reads the code lengths of a dynamic block, by one lane: `count` of them, from `bit` on. Moves `bit` behind them. False if they
// are not valid.
__device__ inline bool read_code_lengths(const DeflateStream& stream, std::uint64_t& bit, unsigned count,
                                         DeflateTableWork& work) {
  std::uint64_t word = bit / 32;
  auto held_bits = static_cast<unsigned>(32 - bit % 32);
  std::uint64_t held = stream.word(word++) >> (bit % 32);
  for (unsigned at = 0; at < count;) {
    if (held_bits < 32) {
      held |= std::uint64_t{stream.word(word++)} << held_bits;
      held_bits += 32;
    }
    const std::uint32_t entry = work.precode[held & (kPrecodeTableEntries - 1)];
    const std::uint32_t symbol = entry >> deflate_entry::kSymbolAt;
    unsigned used_bits = entry & deflate_entry::kBitsMask;
    held >>= used_bits;
    if (symbol < kDeflateRepeatLast) {
      work.lengths[at++] = static_cast<std::uint8_t>(symbol);
    } else {
      if (symbol == kDeflateRepeatLast && at == 0) return false;
      const std::uint8_t repeated = symbol == kDeflateRepeatLast ? work.lengths[at - 1] : std::uint8_t{0};
      const unsigned extra_bits = deflate_item_extra_bits(symbol);
      const auto extra = static_cast<unsigned>(held & ((1u << extra_bits) - 1));
      unsigned times = (symbol == kDeflateRepeatZeroLong ? 11 : 3) + extra;
      held >>= extra_bits;
      used_bits += extra_bits;
      if (times > count - at) return false;
      for (; times > 0; --times) work.lengths[at++] = repeated;
    }
    held_bits -= used_bits;
    bit += used_bits;
  }
  return true;
}

// Reads the code lengths of a dynamic block, whose header stands at `bit`, which moves behind it. Returns 0 codes if the header
// ends behind the stream or is not sound.
__device__ inline DeflateCodeCounts read_dynamic_lengths(const DeflateStream& stream, std::uint64_t& bit,
                                                         DeflateTableWork& work, unsigned lane) {
  constexpr DeflateCodeCounts kNone{0, 0};
  const std::uint32_t head = stream.bits(bit);
  const DeflateCodeCounts counts{kDeflateFirstLengthSymbol + (head & 31), 1 + (head >> 5 & 31)};
  const unsigned precode_count = 4 + (head >> 10 & 15);
  bit += 14;
  if (counts.litlen > kDeflateLitlenCount || counts.distance > kDeflateDistanceCount) return kNone;
  if (lane < kDeflatePrecodeCount)
    work.lengths[deflate_precode_symbol(lane)] =
        lane < precode_count ? static_cast<std::uint8_t>(stream.bits(bit + 3 * lane) & 7) : std::uint8_t{0};
  bit += 3 * precode_count;
  __syncwarp();
  if (!make_deflate_table<PrecodeKind>(work, work.lengths, kDeflatePrecodeCount, work.precode, lane))
    return kNone;
  bool sound = true;
  if (lane == 0) sound = read_code_lengths(stream, bit, counts.litlen + counts.distance, work);
  bit = __shfl_sync(kAllLanes, bit, 0);
  if (__shfl_sync(kAllLanes, sound ? 1 : 0, 0) == 0 || bit > stream.end_bit) return kNone;
  __syncwarp();
  return counts;
}

// Makes the tables of a block with codes; `bit` is after the three bits with its type, and moves behind its header. False if the
// header is not sound. All lanes call.
__device__ inline bool make_block_tables(const DeflateStream& stream, DeflateBlockType type,
                                         std::uint64_t& bit, DeflateTableWork& work, DeflateTables& tables,
                                         unsigned lane) {
  const DeflateCodeCounts counts = type == DeflateBlockType::kFixed
                                       ? set_fixed_lengths(work, lane)
                                       : read_dynamic_lengths(stream, bit, work, lane);
  return counts.litlen != 0 && work.lengths[kDeflateEndOfBlock] != 0 &&
         make_deflate_table<LitlenKind>(work, work.lengths, counts.litlen, tables.litlen, lane) &&
         make_deflate_table<DistanceKind>(work, work.lengths + counts.litlen, counts.distance,
                                          tables.distance, lane);
}

}  // namespace hemstitch::cuda
