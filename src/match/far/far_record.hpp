// A far match in 32 bits, as devices keep it: 24 bits of offset above 8 of length; 0 for no match. The twin's WideRecord takes twice that
// (core/match.hpp). Parses take either.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/match.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kMostFarRecordOffset = (1u << 24) - 1;
inline constexpr std::uint32_t kMostFarRecordLength = 255;

// A type of its own, since MatchRecord has its bits elsewhere.
struct FarRecord {
  std::uint32_t bits = 0;

  friend constexpr bool operator==(FarRecord, FarRecord) = default;
};
static_assert(sizeof(FarRecord) == 4);

// `offset` and `length` are at most the constants above; a length of 0 is no match.
HEMSTITCH_HOST_DEVICE constexpr FarRecord pack_far_record(std::uint32_t offset, std::uint32_t length) {
  return {length == 0 ? 0 : offset << 8 | length};
}

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t far_offset(FarRecord record) { return record.bits >> 8; }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t far_length(FarRecord record) { return record.bits & 0xFFu; }

// The names by which parses know any record.
HEMSTITCH_HOST_DEVICE constexpr bool is_match(FarRecord record) { return record.bits != 0; }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t record_offset(FarRecord record) { return far_offset(record); }
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t record_length(FarRecord record) { return far_length(record); }

}  // namespace hemstitch
