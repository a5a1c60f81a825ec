#include "gpu/webgpu/recording.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/status.hpp"

namespace hemstitch::webgpu {

BufferId BufferPlan::add(std::string name, std::uint64_t bytes) {
  parts_.push_back({std::move(name), divided_up(bytes, 4) * 4 + kSlackBytes});
  return {static_cast<std::uint32_t>(parts_.size() - 1)};
}

std::uint64_t BufferPlan::total_bytes() const {
  std::uint64_t total = 0;
  for (const Part& part : parts_) total += part.bytes;
  return total;
}

DispatchSize dispatch_size(std::uint64_t count, std::uint32_t most_per_dimension) {
  if (count <= most_per_dimension) return {static_cast<std::uint32_t>(count), 1};
  // Rows of equal length, so that few workgroups are superfluous.
  const std::uint64_t rows = divided_up(count, most_per_dimension);
  if (rows > most_per_dimension)
    throw Error(Status::kInvalidOption, fmt::format("{} workgroups are more than the device's {} x {}", count,
                                                    most_per_dimension, most_per_dimension));
  return {static_cast<std::uint32_t>(divided_up(count, rows)), static_cast<std::uint32_t>(rows)};
}

}  // namespace hemstitch::webgpu
