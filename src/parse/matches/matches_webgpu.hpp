// Turns the sequences of a batch (record_walk()) into one list of matches without literals, block after
// block.
#pragma once

#include "compact/scan/scan_webgpu.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

struct DeviceMatch {
  std::uint32_t position = 0;  // from its block's first byte
  std::uint32_t record = 0;
};

struct MatchesBuffers {
  BufferId sizes;    // 4 bytes for each block
  BufferId begins;   // 4 bytes for each block and once more: where its matches begin, and how many there are
  BufferId matches;  // a DeviceMatch for each sequence that fits; other memory than the sequences'
};

void record_matches(Recording& recording, const BlockBatch& batch, const WalkBuffers& walk,
                    const MatchesBuffers& buffers, const ScanBuffers& scan, std::uint32_t sequence_count);

}  // namespace hemstitch::webgpu
