// A sequence: a run of literals, then a match. What a parse gives and an encoder takes.
#pragma once

#include <cstdint>

namespace hemstitch {

struct Sequence {
  std::uint32_t literal_count = 0;  // bytes copied from the input before the match
  std::uint32_t match_length = 0;   // bytes; 0 only in the last sequence of a block, which is literals alone
  std::uint32_t offset = 0;         // bytes back from the first byte of the match; 0 when match_length is 0
};

}  // namespace hemstitch
