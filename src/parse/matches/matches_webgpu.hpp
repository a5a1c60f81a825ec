// From the sequences of a batch (record_walk()) to one list of the matches alone, block after block.
#pragma once

#include "compact/scan/scan_webgpu.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

struct DeviceMatch {
  std::uint32_t position = 0;  // from its block's first byte
  std::uint32_t record = 0;
};

struct MatchesBuffers {
  BufferId sizes;  // 4 bytes a block
  BufferId
      begins;  // 4 bytes a block and one more: where the matches of each block begin, and how many there are
  BufferId
      matches;  // DeviceMatch each, as many as the batch has room for sequences; not the memory of the sequences
};

void record_matches(Recording& recording, const BlockBatch& batch, const WalkBuffers& walk,
                    const MatchesBuffers& buffers, const ScanBuffers& scan, std::uint32_t sequence_count);

}  // namespace hemstitch::webgpu
