// Matching on a WebGPU device: many blocks in a submission, a ring of submissions in flight, and results that
// may stay on the device.
//
// A submission is planned as data (plan_matching): upload of the blocks, the finder, the parse, the walk, and
// one list with the matches of all blocks, of which the used part is downloaded at once. Buffers belong to
// slots. They grow to the largest submission of the slot and are reused.
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
  // Throws kInvalidOption, with the field's name, for what the finder, the parse or the device does not
  // support.
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
