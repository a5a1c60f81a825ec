// What a position offers to the parse of a chunk on a device, in one word: its literal, its record and its nearer match, cut to what
// DEFLATE and the chunk allow. Prices are not in it, so that all passes over a chunk read the same words.
//
//   bits  0 to  7   the literal
//   bits  8 to 16   the record's length, 3 to 258; 0: none
//   bits 17 to 21   the symbol of its offset; kDeflateNoSymbol: none
//   bits 22 to 26   the symbol of the nearer match's offset; kDeflateNoSymbol: none
//   bits 27 to 28   the nearer match's length less 3
//   bit  29         whether the nearer match has the smaller offset
//
// What the parse decides for a position is a choice: 0 for its literal, else a number that orders matches of equal cost; the
// smallest is preferred:
//
//   bit  0          whether it is the nearer match
//   bit  1          whether the other candidate's offset is the smaller one
//   bits 2 to 10    511 less the length
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/match.hpp"
#include "format/deflate/compress/deflate_tuning.hpp"

namespace hemstitch {

using DeflateEdges = std::uint32_t;
using DeflateChoice = std::uint32_t;

inline constexpr std::uint32_t kDeflateNoSymbol = 31;
inline constexpr unsigned kDeflateChoiceBits = 11;

namespace deflate_detail {

inline constexpr unsigned kLengthShift = 8, kRecordShift = 17, kNearShift = 22, kNearLengthShift = 27,
                          kNearIsSmallerShift = 29;
inline constexpr std::uint32_t kLengthMask = 0x1FF, kSymbolMask = 31;
inline constexpr std::uint32_t kMostChoiceLength = 511;
static_assert(kDeflateMaxMatchBytes <= kLengthMask && kDeflateDistanceCount <= kDeflateNoSymbol);
static_assert(kDeflateNearMatchBytes - kDeflateMinMatchBytes < 4);

}  // namespace deflate_detail

// A position without candidates; its literal is 0.
inline constexpr DeflateEdges kDeflateNoEdges =
    kDeflateNoSymbol << deflate_detail::kRecordShift | kDeflateNoSymbol << deflate_detail::kNearShift;

// A length of 0 means no match. The lengths are those that DEFLATE allows, the nearer match's is at most kDeflateNearMatchBytes,
// and the offsets differ.
HEMSTITCH_HOST_DEVICE constexpr DeflateEdges pack_deflate_edges(std::uint32_t literal, Match record,
                                                                Match near) {
  using namespace deflate_detail;
  DeflateEdges edges = literal;
  edges |= record.length << kLengthShift;
  edges |= (record.length != 0 ? deflate_distance_symbol(record.offset) : kDeflateNoSymbol) << kRecordShift;
  edges |= (near.length != 0 ? deflate_distance_symbol(near.offset) : kDeflateNoSymbol) << kNearShift;
  if (near.length != 0) edges |= (near.length - kDeflateMinMatchBytes) << kNearLengthShift;
  if (near.length != 0 && near.offset < record.offset) edges |= 1u << kNearIsSmallerShift;
  return edges;
}

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t edges_literal(DeflateEdges edges) { return edges & 0xFF; }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t edges_length(DeflateEdges edges) {
  return edges >> deflate_detail::kLengthShift & deflate_detail::kLengthMask;
}
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t edges_record_symbol(DeflateEdges edges) {
  return edges >> deflate_detail::kRecordShift & deflate_detail::kSymbolMask;
}
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t edges_near_symbol(DeflateEdges edges) {
  return edges >> deflate_detail::kNearShift & deflate_detail::kSymbolMask;
}
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t edges_near_length(DeflateEdges edges) {
  return (edges >> deflate_detail::kNearLengthShift & 3) + kDeflateMinMatchBytes;
}
HEMSTITCH_HOST_DEVICE constexpr bool edges_near_is_smaller(DeflateEdges edges) {
  return (edges >> deflate_detail::kNearIsSmallerShift & 1) != 0;
}

HEMSTITCH_HOST_DEVICE constexpr DeflateChoice deflate_choice(std::uint32_t length, bool is_near,
                                                             bool other_is_smaller) {
  return (deflate_detail::kMostChoiceLength - length) << 2 | (other_is_smaller ? 2u : 0u) |
         (is_near ? 1u : 0u);
}
// 0 for a literal.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t choice_length(DeflateChoice choice) {
  return choice == 0 ? 0 : deflate_detail::kMostChoiceLength - (choice >> 2);
}
HEMSTITCH_HOST_DEVICE constexpr bool choice_is_near(DeflateChoice choice) { return (choice & 1) != 0; }
static_assert(deflate_choice(kDeflateMinMatchBytes, true, true) < 1u << kDeflateChoiceBits);
static_assert(choice_length(deflate_choice(258, true, false)) == 258 &&
              choice_length(deflate_choice(3, false, true)) == 3);

}  // namespace hemstitch
