// Where the results of any finder go on a CUDA device.
#pragma once

#include "core/match.hpp"
#include "match/common/find_counters.hpp"

namespace hemstitch::cuda {

struct DeviceFound {
  MatchRecord* d_records = nullptr;  // at DeviceBlock::position
  MatchRecord* d_before_stitch =
      nullptr;  // the records without the stitch, for finders that keep them; may be NULL
  // For finders that count: added to, over all blocks; may be NULL. Counting compares everything that the
  // definition compares, so it takes several times as long.
  FindCounters* d_counters = nullptr;
};

}  // namespace hemstitch::cuda
