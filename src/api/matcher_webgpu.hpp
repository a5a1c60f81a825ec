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
#include "api/matching_plan_webgpu.hpp"
#include "gpu/webgpu/device.hpp"
#include "hemstitch/match.hpp"

namespace hemstitch::webgpu {

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
