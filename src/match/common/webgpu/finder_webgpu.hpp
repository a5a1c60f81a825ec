// What the finders share on a WebGPU device.
#pragma once

#include <optional>

#include "hemstitch/match.hpp"
#include "match/common/find_counters.hpp"
#include "match/common/webgpu/block_batch.hpp"

namespace hemstitch::webgpu {

// With counters, a finder compares everything that its definition compares, which takes several times as
// long.
struct FinderOutput {
  BufferId records;                            // MatchRecord for each byte of the data
  std::optional<BufferId> counters = {};       // FindCounters, added to
  std::optional<BufferId> before_stitch = {};  // of coop_stitch, with counters: the records of phase A only
};

// The buffers that any finder uses.
struct FinderBuffers {
  FinderOutput output;
  BufferId spare = {};  // as large as the records
  BufferId marks = {};  // 4 bytes for each tile
  BufferId heads = {};  // find_heads_bytes() of the finder
};

}  // namespace hemstitch::webgpu
