// The Huffman codes of a DEFLATE block, from how often each symbol occurs to the block's header. These rules decide bytes, so
// host and device share them.
//
// Lengths. The symbols that occur are sorted by (frequency, symbol). Huffman's algorithm then needs two queues and no heap: the
// sorted leaves, and the nodes in the order in which they are made, which is that of their weights. The lighter front of the two
// queues is taken; on equal weights the leaf. Only the number of leaves at each depth is kept: the longest codes go to the first of
// the sorted symbols.
//
// Limit. DEFLATE allows 15 bits (7 in the code of the code lengths). Leaves deeper than that are taken to lie at the limit, which
// makes the code too full: the sum over all leaves of 2^(limit - depth) passes 2^limit. Each step of the repair takes one leaf of the
// greatest depth below the limit that has any, puts it one deeper, and one of those at the limit beside it: the sum falls by exactly
// one, so the code ends complete. Package-merge would be optimal; on real files this is within 7 bytes of it.
//
// Two symbols at least. Where fewer occur, the first symbols that do not occur get a code too, as if they were the rarest. So every
// code that we write is complete, even if a block has no distances. Some decoders refuse incomplete codes.
//
// Codes are canonical (RFC 1951, section 3.2.2): shorter ones first, then smaller symbols.
//
// Header. The lengths of both codes are one list (section 3.2.7), which is written as runs, from left to right, by the longest item that
// fits: of a run of zeros, 138 or fewer as long as 11 are left, then 10 or fewer as long as 3 are left, then each alone; of a
// run of another length, the length itself, then repeats of 6 or fewer as long as 3 are left, then each alone.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// What codes are sorted by. A chunk has at most 65536 literals, so both fit 32 bits.
inline constexpr std::uint32_t kDeflateSymbolBits = 9;
static_assert(kDeflateFixedLitlenCount <= 1u << kDeflateSymbolBits);

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_sort_key(std::uint32_t frequency,
                                                               std::uint32_t symbol) {
  return frequency << kDeflateSymbolBits | symbol;
}

// Writes the keys of the symbols that get a code, in the order of the symbols; returns how many, 2 at least. `keys` has room for
// `symbol_count`, which is 2 at least.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_sort_keys(const std::uint32_t* frequencies,
                                                                std::uint32_t symbol_count,
                                                                std::uint32_t* keys) {
  std::uint32_t used_count = 0;
  for (std::uint32_t symbol = 0; symbol < symbol_count; ++symbol) used_count += frequencies[symbol] != 0;
  std::uint32_t missing_count = used_count < 2 ? 2 - used_count : 0;
  std::uint32_t key_count = 0;
  for (std::uint32_t symbol = 0; symbol < symbol_count; ++symbol) {
    if (frequencies[symbol] == 0) {
      if (missing_count == 0) continue;
      --missing_count;
    }
    keys[key_count++] = deflate_sort_key(frequencies[symbol], symbol);
  }
  return key_count;
}

// Memory in which a tree is built; a device has it in shared memory. Each array has as many elements as there are leaves.
struct DeflateHuffmanRoom {
  std::uint32_t*
      weights;  // of the inner nodes, in the order in which they are made; later their depths, 0 for the root
  std::uint16_t* leaf_parents;
  std::uint16_t* node_parents;
  std::uint32_t* depth_counts;  // one for each depth up to kDeflateMaxCodeBits
};

namespace deflate_detail {

// Makes the tree over sorted keys, and the depths of its nodes.
HEMSTITCH_HOST_DEVICE constexpr void build_huffman_tree(const std::uint32_t* sorted_keys,
                                                        std::uint32_t leaf_count,
                                                        const DeflateHuffmanRoom& room) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};  // the weight at the front of an empty queue
  std::uint32_t leaf = 0, node = 0;
  for (std::uint32_t made = 0; made + 1 < leaf_count; ++made) {
    std::uint32_t weight = 0;
    for (int child = 0; child < 2; ++child) {
      // Both weights are read anew in each turn: nvcc 13.0 miscompiles a loop that carries the node's weight along, and takes wrong nodes.
      const std::uint32_t leaf_weight = leaf < leaf_count ? sorted_keys[leaf] >> kDeflateSymbolBits : kNone;
      const std::uint32_t node_weight = node < made ? room.weights[node] : kNone;
      if (leaf_weight <= node_weight) {
        weight += leaf_weight;
        room.leaf_parents[leaf++] = static_cast<std::uint16_t>(made);
      } else {
        weight += node_weight;
        room.node_parents[node++] = static_cast<std::uint16_t>(made);
      }
    }
    room.weights[made] = weight;
  }
  room.weights[leaf_count - 2] = 0;
  for (std::uint32_t below = leaf_count - 2; below-- > 0;)
    room.weights[below] = room.weights[room.node_parents[below]] + 1;
}

// The number of leaves at each depth up to `max_bits`, for a complete code.
HEMSTITCH_HOST_DEVICE constexpr void limited_depth_counts(std::uint32_t leaf_count, std::uint32_t max_bits,
                                                          const DeflateHuffmanRoom& room) {
  std::uint32_t* const counts = room.depth_counts;
  for (std::uint32_t bits = 0; bits <= max_bits; ++bits) counts[bits] = 0;
  std::uint32_t sum = 0;  // in units of 2^-max_bits
  for (std::uint32_t leaf = 0; leaf < leaf_count; ++leaf) {
    const std::uint32_t depth = room.weights[room.leaf_parents[leaf]] + 1;
    const std::uint32_t bits = depth < max_bits ? depth : max_bits;
    ++counts[bits];
    sum += 1u << (max_bits - bits);
  }
  for (; sum > 1u << max_bits; --sum) {
    std::uint32_t bits = max_bits - 1;
    while (counts[bits] == 0) --bits;
    --counts[bits];
    counts[bits + 1] += 2;
    --counts[max_bits];
  }
}

}  // namespace deflate_detail

// Writes the code lengths of the symbols in `sorted_keys`; those of others are the caller's to set to 0. `key_count` is 2 to
// kDeflateLitlenCount, and no more than 2^max_bits; the frequencies' sum is below 2^32 - 1.
HEMSTITCH_HOST_DEVICE constexpr void deflate_code_lengths(const std::uint32_t* sorted_keys,
                                                          std::uint32_t key_count, std::uint32_t max_bits,
                                                          std::uint8_t* lengths,
                                                          const DeflateHuffmanRoom& room) {
  deflate_detail::build_huffman_tree(sorted_keys, key_count, room);
  deflate_detail::limited_depth_counts(key_count, max_bits, room);
  std::uint32_t key = 0;
  for (std::uint32_t bits = max_bits; bits > 0; --bits)
    for (std::uint32_t i = 0; i < room.depth_counts[bits]; ++i)
      lengths[sorted_keys[key++] & ((1u << kDeflateSymbolBits) - 1)] = static_cast<std::uint8_t>(bits);
}

// The same, with its own memory for the tree.
constexpr void deflate_code_lengths(const std::uint32_t* sorted_keys, std::uint32_t key_count,
                                    std::uint32_t max_bits, std::uint8_t* lengths) {
  std::uint32_t weights[kDeflateLitlenCount] = {}, depth_counts[kDeflateMaxCodeBits + 1] = {};
  std::uint16_t leaf_parents[kDeflateLitlenCount] = {}, node_parents[kDeflateLitlenCount] = {};
  deflate_code_lengths(sorted_keys, key_count, max_bits, lengths,
                       {weights, leaf_parents, node_parents, depth_counts});
}

// Writes the canonical codes of `lengths`. Each has its bits reversed, since codes are packed from the lowest bit on.
HEMSTITCH_HOST_DEVICE constexpr void deflate_canonical_codes(const std::uint8_t* lengths, std::uint32_t count,
                                                             std::uint16_t* codes) {
  std::uint32_t next[kDeflateMaxCodeBits + 2] = {};
  for (std::uint32_t symbol = 0; symbol < count; ++symbol)
    if (lengths[symbol] != 0) ++next[lengths[symbol] + 1];
  for (std::uint32_t bits = 2; bits <= kDeflateMaxCodeBits; ++bits)
    next[bits] = (next[bits] + next[bits - 1]) << 1;
  for (std::uint32_t symbol = 0; symbol < count; ++symbol) {
    std::uint32_t code = lengths[symbol] != 0 ? next[lengths[symbol]]++ : 0;
    std::uint32_t turned = 0;
    for (std::uint32_t bit = 0; bit < lengths[symbol]; ++bit, code >>= 1) turned = turned << 1 | (code & 1);
    codes[symbol] = static_cast<std::uint16_t>(turned);
  }
}

// The symbol whose length is at `index` of the code of the code lengths: kDeflatePrecodeOrder, in a form for devices.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_precode_symbol(std::uint32_t index) {
  // 16, 17, 18, 0, then from 8 outwards: 7, 9, 6, 10, ..., 1, 15.
  if (index < 3) return 16 + index;
  if (index == 3) return 0;
  return index % 2 == 0 ? 8 + (index - 4) / 2 : 8 - (index - 3) / 2;
}
namespace deflate_detail {
constexpr bool knows_precode_order() {
  for (std::uint32_t index = 0; index < kDeflatePrecodeCount; ++index)
    if (deflate_precode_symbol(index) != kDeflatePrecodeOrder[index]) return false;
  return true;
}
static_assert(knows_precode_order());
}  // namespace deflate_detail

// An item of the header's list: a symbol of the code of the code lengths, and the value of its extra bits.
struct DeflateLengthItem {
  std::uint8_t symbol = 0;
  std::uint8_t extra = 0;
};
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_item_extra_bits(std::uint32_t symbol) {
  return symbol == kDeflateRepeatLast       ? 2
         : symbol == kDeflateRepeatZero     ? 3
         : symbol == kDeflateRepeatZeroLong ? 7
                                            : 0;
}

inline constexpr std::uint32_t kDeflateMostLengthItems = kDeflateLitlenCount + kDeflateDistanceCount;

// The header of a dynamic block, behind the three bits that every block begins with.
struct DeflateHeader {
  std::uint32_t litlen_count = 0;    // code lengths that the header has: without the zeros at the end
  std::uint32_t distance_count = 0;  // at least one
  std::uint32_t precode_count = 0;   // at least 4, in the order of kDeflatePrecodeOrder
  std::uint32_t item_count = 0;
  DeflateLengthItem items[kDeflateMostLengthItems] = {};
  std::uint8_t precode_bits[kDeflatePrecodeCount] = {};
  std::uint32_t bits = 0;  // of all of it
};

// Splits a list of code lengths into items; returns how many.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t deflate_length_items(const std::uint8_t* lengths,
                                                                   std::uint32_t count,
                                                                   DeflateLengthItem* items) {
  std::uint32_t item_count = 0;
  const auto put = [&](std::uint32_t symbol, std::uint32_t extra) {
    items[item_count++] = {static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(extra)};
  };
  for (std::uint32_t begin = 0; begin < count;) {
    const std::uint32_t length = lengths[begin];
    std::uint32_t end = begin + 1;
    while (end < count && lengths[end] == length) ++end;
    std::uint32_t left = end - begin;
    if (length == 0) {
      for (; left >= 11; left -= left < 138 ? left : 138)
        put(kDeflateRepeatZeroLong, (left < 138 ? left : 138) - 11);
      if (left >= 3) {
        put(kDeflateRepeatZero, left - 3);
        left = 0;
      }
    } else {
      put(length, 0);
      --left;
      for (; left >= 3; left -= left < 6 ? left : 6) put(kDeflateRepeatLast, (left < 6 ? left : 6) - 3);
    }
    for (; left > 0; --left) put(length, 0);
    begin = end;
  }
  return item_count;
}

// The first part of a header: everything but the code of the code lengths. `item_frequencies` has kDeflatePrecodeCount.
HEMSTITCH_HOST_DEVICE constexpr void deflate_begin_header(const std::uint8_t* litlen_bits,
                                                          const std::uint8_t* distance_bits,
                                                          DeflateHeader& header,
                                                          std::uint32_t* item_frequencies) {
  header.litlen_count = kDeflateLitlenCount;
  while (header.litlen_count > kDeflateEndOfBlock + 1 && litlen_bits[header.litlen_count - 1] == 0)
    --header.litlen_count;
  header.distance_count = kDeflateDistanceCount;
  while (header.distance_count > 1 && distance_bits[header.distance_count - 1] == 0) --header.distance_count;

  std::uint8_t lengths[kDeflateMostLengthItems] = {};
  for (std::uint32_t i = 0; i < header.litlen_count; ++i) lengths[i] = litlen_bits[i];
  for (std::uint32_t i = 0; i < header.distance_count; ++i)
    lengths[header.litlen_count + i] = distance_bits[i];
  header.item_count =
      deflate_length_items(lengths, header.litlen_count + header.distance_count, header.items);
  for (std::uint32_t symbol = 0; symbol < kDeflatePrecodeCount; ++symbol) item_frequencies[symbol] = 0;
  for (std::uint32_t i = 0; i < header.item_count; ++i) ++item_frequencies[header.items[i].symbol];
}

// The rest, once `header.precode_bits` are there.
HEMSTITCH_HOST_DEVICE constexpr void deflate_end_header(DeflateHeader& header) {
  header.precode_count = kDeflatePrecodeCount;
  while (header.precode_count > 4 &&
         header.precode_bits[deflate_precode_symbol(header.precode_count - 1)] == 0)
    --header.precode_count;
  header.bits = 5 + 5 + 4 + 3 * header.precode_count;
  for (std::uint32_t i = 0; i < header.item_count; ++i)
    header.bits +=
        header.precode_bits[header.items[i].symbol] + deflate_item_extra_bits(header.items[i].symbol);
}

}  // namespace hemstitch
