// The device memory for finding and parsing a batch, besides its input, planned before any of it is
// allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/workspace.hpp"

namespace hemstitch {

// Blocks of one size, each with the same amount of history.
struct BatchShape {
  std::uint32_t block_count = 0;
  std::uint32_t block_bytes = 0;
  std::uint32_t history_bytes = 0;

  std::uint64_t input_bytes() const { return std::uint64_t{block_count} * block_bytes; }
};

// For the finder, parse and costs of an LZ4 level, allocated as a caller of batch.h does: one temporary
// memory for both calls. It depends on the current device, since a parse keeps costs for all warps that run
// at once. Throws Error.
WorkspacePlan batch_workspace(const BatchShape& shape, int level);

// The plan for a batch of 256 MB as text, for the levels that differ: `hemstitch backends -vv`. Throws Error.
std::vector<std::string> batch_workspace_report();

}  // namespace hemstitch
