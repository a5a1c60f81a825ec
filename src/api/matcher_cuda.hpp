// Matching on a CUDA device: many blocks in a submission, and several submissions in flight, each on its own
// stream.
//
// A submission is uploaded in one piece, searched and parsed (cuda::FindAndParse). All lists are downloaded
// with their lengths, so that take() waits only once. Memory comes from the device's pools and returns there
// for the next submission.
#pragma once

#include <memory>

#include "api/block_matcher.hpp"
#include "gpu/cuda/device.hpp"

namespace hemstitch::cuda {

class DeviceMatcher : public BlockMatcher {
 public:
  // Throws kInvalidOption, with its name, for a finder without kernels.
  DeviceMatcher(Device& device, const MatchingStages& stages, unsigned slot_count);
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

}  // namespace hemstitch::cuda
