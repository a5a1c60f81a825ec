#include "core/status.hpp"
#include "evaluate/lz4_timing.hpp"

namespace hemstitch {

Lz4Timing time_lz4_on_device(std::span<const std::byte>, int, std::size_t, TimedSpan, double,
                             std::string_view) {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace hemstitch
