#include "core/workspace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/status.hpp"

namespace hemstitch {

void WorkspacePlan::add(std::string name, std::uint64_t bytes_each, std::uint64_t count,
                        std::string lifetime) {
  parts_.push_back({std::move(name), bytes_each, count, std::move(lifetime)});
}

std::uint64_t WorkspacePlan::total_bytes() const {
  std::uint64_t total = 0;
  for (const Part& part : parts_) total += part.bytes_each * part.count;
  return total;
}

std::string WorkspacePlan::text() const {
  std::string text =
      fmt::format("{:<14} {:>12} {:>7} {:>14}  {}\n", "part", "bytes each", "count", "bytes", "lifetime");
  for (const Part& part : parts_)
    text += fmt::format("{:<14} {:>12} {:>7} {:>14}  {}\n", part.name, part.bytes_each, part.count,
                        part.bytes_each * part.count, part.lifetime);
  return text + fmt::format("{:<14} {:>12} {:>7} {:>14}\n", "total", "", "", total_bytes());
}

BatchPlan plan_batches(const BatchNeeds& needs) {
  BatchPlan plan;
  plan.blocks_per_batch = std::max<std::uint64_t>(1, needs.preferred_batch_bytes / needs.block_bytes);
  plan.batches_in_flight = std::max(1u, needs.preferred_batches_in_flight);
  if (needs.content_bytes) {
    const auto ceiling = [](std::uint64_t count, std::uint64_t of) { return count / of + (count % of != 0); };
    const std::uint64_t blocks = std::max<std::uint64_t>(1, ceiling(*needs.content_bytes, needs.block_bytes));
    plan.blocks_per_batch = std::min(plan.blocks_per_batch, blocks);
    plan.batches_in_flight = static_cast<unsigned>(
        std::min<std::uint64_t>(plan.batches_in_flight, ceiling(blocks, plan.blocks_per_batch)));
  }
  const auto batch_bytes = [&] {
    return needs.buffer_bytes_per_batch + plan.blocks_per_batch * needs.buffer_bytes_per_block;
  };
  if (needs.memory_limit_bytes != 0) {
    const auto too_much = [&] { return batch_bytes() * plan.batches_in_flight > needs.memory_limit_bytes; };
    while (too_much() && plan.blocks_per_batch > 1) plan.blocks_per_batch /= 2;
    while (too_much() && plan.batches_in_flight > 1) plan.batches_in_flight--;
    if (too_much())
      throw Error(
          Status::kMemoryLimit,
          fmt::format(
              "one block of {} bytes needs {} bytes of memory, the limit is {}; smaller blocks need less",
              needs.block_bytes, batch_bytes(), needs.memory_limit_bytes));
  }
  if (needs.device.batch_bytes) {
    const auto bytes = [&] { return needs.device.batch_bytes(plan.blocks_per_batch); };
    const auto slots = [&] { return std::min(needs.device.slots, plan.batches_in_flight); };
    plan.device_limit_bytes = needs.device_limit_bytes;
    if (plan.device_limit_bytes == 0 && needs.device.free_bytes)
      plan.device_limit_bytes = std::max(*needs.device.free_bytes / 2, needs.device.batch_bytes(1));
    const auto too_much = [&] {
      return plan.device_limit_bytes != 0 && bytes() * slots() > plan.device_limit_bytes;
    };
    while (too_much() && plan.blocks_per_batch > 1) plan.blocks_per_batch /= 2;
    while (too_much() && plan.batches_in_flight > 1) plan.batches_in_flight--;
    if (too_much())
      throw Error(Status::kMemoryLimit, fmt::format("one block of {} bytes needs {} bytes of the device's "
                                                    "memory, the limit is {}; smaller blocks need less",
                                                    needs.block_bytes, bytes(), plan.device_limit_bytes));
    plan.device_workspace.add("device slot", bytes(), slots(), "the run; one batch at a time");
  }
  plan.workspace.add("slot", batch_bytes(), plan.batches_in_flight, "the run; one batch at a time");
  return plan;
}

}  // namespace hemstitch
