// The inside of a PendingMatches: the matches of one submission, on any backend.
#pragma once

#include <vector>

#include "hemstitch/match.hpp"

namespace hemstitch {

class PendingWork {
 public:
  virtual ~PendingWork() = default;
  virtual bool is_ready() = 0;
  virtual std::vector<std::vector<PositionedMatch>> take() = 0;
  virtual DeviceMatches on_device() const = 0;
};

}  // namespace hemstitch
