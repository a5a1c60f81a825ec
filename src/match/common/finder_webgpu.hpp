// What the searching finders share on a WebGPU device.
#pragma once

#include <optional>

#include "hemstitch/match.hpp"
#include "match/common/block_batch.hpp"
#include "match/common/find_counters.hpp"

namespace hemstitch::webgpu {

// With counters a finder compares all that its definition compares, which takes several times as long.
struct FinderOutput {
  BufferId records;                            // MatchRecord for each byte of the data
  std::optional<BufferId> counters = {};       // FindCounters, added to
  std::optional<BufferId> before_stitch = {};  // coop_stitch's, with counters: records of phase A alone
};

// What any finder works in.
struct FinderBuffers {
  FinderOutput output;
  BufferId spare = {};  // as large as the records
  BufferId marks = {};  // 4 bytes a tile
  BufferId heads = {};  // find_heads_bytes() of the finder
};

}  // namespace hemstitch::webgpu
