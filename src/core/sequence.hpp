// A sequence: a run of literals, then a match. Parses return sequences, and encoders take them.
#pragma once

#include <cstdint>

namespace hemstitch {

struct Sequence {
  std::uint32_t literal_count = 0;  // bytes copied from the input before the match
  std::uint32_t match_length = 0;   // bytes; 0 only in a block's last sequence, which has only literals
  std::uint32_t offset = 0;         // bytes back from the first byte of the match; 0 when match_length is 0
};

}  // namespace hemstitch
