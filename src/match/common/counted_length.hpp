// common_length, counted as one probe of a finder.
#pragma once

#include <cstdint>

#include "match/common/common_length.hpp"
#include "match/common/find_counters.hpp"

namespace hemstitch {

// A kernel that compares byte by byte also reads the pair that differs, so a failed probe counts at least
// one.
inline std::uint32_t counted_length(const std::byte* a, const std::byte* b, std::uint32_t limit,
                                    FindCounters& counters) {
  const auto length = static_cast<std::uint32_t>(common_length(a, b, limit));
  ++counters.probes;
  counters.byte_comparisons += length < limit ? length + 1 : length;
  return length;
}

}  // namespace hemstitch
