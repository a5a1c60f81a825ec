// A match: `length` bytes that also stand `offset` bytes earlier.
//
// On devices a finder writes one 32-bit record a position, `offset << 16 | length`, and 0 for "no match".
// Offsets are 1..65535; a longer length than 65535 is recorded as 65535. A finder whose matches reach farther back writes
// wide records. Parses take either: they know a record by is_match(), record_offset() and record_length() alone.
// Of two matches the longer is better; of two equally long ones the one with the smaller offset. Always:
// this rule, not the order in which threads run, decides every tie.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

using MatchRecord = std::uint32_t;

inline constexpr std::uint32_t kMaxRecordOffset = 65535;
inline constexpr std::uint32_t kMaxRecordLength = 65535;
static_assert(kMaxRecordOffset < (1u << 16) && kMaxRecordLength < (1u << 16),
              "both halves of a record are 16 bits");

struct Match {
  std::uint32_t offset = 0;  // distance back in bytes, 0 for no match
  std::uint32_t length = 0;  // bytes, 0 for no match
};

// Of 8 bytes: any offset and any length, as they are.
using WideRecord = Match;
static_assert(sizeof(WideRecord) == 8);

HEMSTITCH_HOST_DEVICE constexpr MatchRecord pack_match(std::uint32_t offset, std::uint32_t length) {
  const std::uint32_t recorded = length < kMaxRecordLength ? length : kMaxRecordLength;
  return length == 0 ? 0 : (offset << 16) | recorded;
}

HEMSTITCH_HOST_DEVICE constexpr bool is_match(MatchRecord record) { return record != 0; }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t record_offset(MatchRecord record) { return record >> 16; }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t record_length(MatchRecord record) { return record & 0xFFFFu; }

HEMSTITCH_HOST_DEVICE constexpr bool is_match(WideRecord record) { return record.length != 0; }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t record_offset(WideRecord record) { return record.offset; }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t record_length(WideRecord record) { return record.length; }

// True if `a` is the better of two matches at one position.
HEMSTITCH_HOST_DEVICE constexpr bool better_match(Match a, Match b) {
  return a.length != b.length ? a.length > b.length : a.offset < b.offset;
}

}  // namespace hemstitch
