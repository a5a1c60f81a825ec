// Matching on a WebGPU device: many blocks to a submission, a ring of submissions in flight, and results that may stay there.
//
// A submission is planned as data (plan_matching): upload of the blocks, the finder, the parse, the walk, and
// the matches of all blocks in one list, with one read-back of what there is of it. Buffers belong to slots, grow to the
// largest submission that a slot has seen, and are used again.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "api/block_matcher.hpp"
#include "gpu/webgpu/device.hpp"
#include "hemstitch/match.hpp"
#include "match/common/finder_webgpu.hpp"
#include "match/finder_rows.hpp"
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

class DeviceMatcher : public BlockMatcher {
 public:
  // Throws kInvalidOption, naming the field, for what the finder, the parse or the device does not take.
  DeviceMatcher(std::shared_ptr<Device> device, const MatchingStages& stages, unsigned slot_count);
  ~DeviceMatcher() override;

  void prepare() const override;
  MatchRecords find_candidates(const FinderInput& input) const override;
  std::vector<std::vector<PositionedMatch>> find_matches(std::span<const MatchBlock> blocks) const override;
  std::unique_ptr<PendingWork> submit(std::span<const MatchBlock> blocks) const override;

 private:
  struct State;
  class Pending;
  std::shared_ptr<State> state_;
};

}  // namespace hemstitch::webgpu
