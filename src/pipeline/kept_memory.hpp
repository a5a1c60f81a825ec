// Plans batches beside what a run keeps all the time, one of each: a window, a dictionary.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "core/status.hpp"
#include "core/workspace.hpp"

namespace hemstitch {

// As plan_batches(), with these parts in the plan and within its limit.
inline BatchPlan plan_batches_beside(std::span<const WorkspacePlan::Part> kept, BatchNeeds needs) {
  for (const WorkspacePlan::Part& part : kept) {
    if (needs.memory_limit_bytes == 0) break;
    if (needs.memory_limit_bytes <= part.bytes_each)
      throw Error(Status::kMemoryLimit, fmt::format("the {} takes {} bytes; the memory limit is {}",
                                                    part.name, part.bytes_each, needs.memory_limit_bytes));
    needs.memory_limit_bytes -= part.bytes_each;
  }
  BatchPlan plan = plan_batches(needs);
  for (const WorkspacePlan::Part& part : kept)
    if (part.bytes_each != 0) plan.workspace.add(part.name, part.bytes_each, part.count, part.lifetime);
  return plan;
}

}  // namespace hemstitch
