#include "batch/batch_timing.hpp"
#include "core/status.hpp"

namespace hemstitch {

// The benchmark of batches is no part's: it is in builds with CUDA linked in.
BatchTiming time_batches(std::span<const std::byte>, const TimedWork&, double, std::string_view) {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace hemstitch
