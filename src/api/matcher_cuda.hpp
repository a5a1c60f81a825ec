// Matching on a CUDA device: many blocks to a submission, and submissions in flight side by side, each on a stream of its own.
//
// A submission goes up in one piece, is found in and parsed (cuda::FindAndParse), and all lists come back with their lengths, so
// that who takes it waits once. Memory is that of the device's pools, where it stays for the next submission.
#pragma once

#include <memory>

#include "api/block_matcher.hpp"
#include "gpu/cuda/device.hpp"

namespace hemstitch::cuda {

class DeviceMatcher : public BlockMatcher {
 public:
  // Throws kInvalidOption, naming it, for a finder without kernels.
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
