// A submission of blocks for matching, as data: the buffers that it needs and the steps that it runs. It is
// made without a device. DeviceMatcher (matcher_webgpu.hpp) executes it, or a browser (bindings/web).
#pragma once

#include "api/matching_stages.hpp"
#include "match/common/webgpu/finder_webgpu.hpp"
#include "parse/matches/matches_webgpu.hpp"

namespace hemstitch::webgpu {

// The sizes of a slot's buffers.
struct MatchingCapacity {
  std::uint64_t data_bytes = 0;
  std::uint32_t block_count = 0;
  std::uint32_t tile_count = 0;
  std::uint32_t sequence_count = 0;
  std::uint64_t heads_bytes = 0;  // find_heads_bytes() of the finder

  bool holds(const MatchingCapacity& needed) const {
    return data_bytes >= needed.data_bytes && block_count >= needed.block_count &&
           tile_count >= needed.tile_count && sequence_count >= needed.sequence_count &&
           heads_bytes >= needed.heads_bytes;
  }
};

struct MatchingPlan {
  BufferPlan
      buffers;  // at most 12 bytes for each byte of data in blocks of 16 KB and more, and the finder's heads
  BlockBatch batch;
  FinderBuffers finder;  // its records later hold the sequences
  WalkBuffers walk;
  MatchesBuffers matches;
  ScanBuffers scan;
};

MatchingPlan plan_matching(const MatchingCapacity& capacity);
// The capacity for `block_count` equal blocks.
MatchingCapacity matching_capacity(std::uint32_t block_count, std::uint32_t block_bytes,
                                   std::uint32_t min_match_len, const AnyFinder& finder);

// The steps for the blocks of `table`, which must fit into the plan's capacity.
Recording record_matching(const MatchingPlan& plan, const BlockTable& table, const MatchingStages& stages);

}  // namespace hemstitch::webgpu
