#include "batch/batch_timing.hpp"
#include "core/status.hpp"

namespace hemstitch {

BatchTiming time_batches(std::span<const std::byte>, const TimedWork&, double, std::string_view) {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace hemstitch
