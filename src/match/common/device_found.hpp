// Where what a finder found goes on a CUDA device, whichever finder it is.
#pragma once

#include "core/match.hpp"
#include "match/common/find_counters.hpp"

namespace hemstitch::cuda {

struct DeviceFound {
  MatchRecord* d_records = nullptr;  // at DeviceBlock::position
  MatchRecord* d_before_stitch =
      nullptr;  // of finders that keep what they had without their stitch; may be left out
  // Of finders that count: added to, over all blocks; may be left out. Counting compares everything that the definition
  // compares, so it takes several times as long.
  FindCounters* d_counters = nullptr;
};

}  // namespace hemstitch::cuda
