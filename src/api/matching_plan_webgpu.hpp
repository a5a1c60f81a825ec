// A submission of blocks to be matched, as data: the buffers it needs and the steps it runs. It is made without a device, and
// executed by whoever has one: DeviceMatcher (matcher_webgpu.hpp), or a browser (bindings/web).
#pragma once

#include "api/matching_stages.hpp"
#include "match/common/finder_webgpu.hpp"
#include "parse/matches/matches_webgpu.hpp"

namespace hemstitch::webgpu {

// What the buffers of a slot hold.
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
      buffers;  // at most 12 bytes for a byte of the data, in blocks of 16 KB and more, and the finder's heads
  BlockBatch batch;
  FinderBuffers finder;  // of which the records are the sequences then
  WalkBuffers walk;
  MatchesBuffers matches;
  ScanBuffers scan;
};

MatchingPlan plan_matching(const MatchingCapacity& capacity);
// What a batch of `block_count` equal blocks needs.
MatchingCapacity matching_capacity(std::uint32_t block_count, std::uint32_t block_bytes,
                                   std::uint32_t min_match_len, const AnyFinder& finder);

// The steps for the blocks of `table`, which the plan's capacity holds.
Recording record_matching(const MatchingPlan& plan, const BlockTable& table, const MatchingStages& stages);

}  // namespace hemstitch::webgpu
