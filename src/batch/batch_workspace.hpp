// The device memory that finding and parsing a batch take besides its input, planned before any of it is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/workspace.hpp"

namespace hemstitch {

// Blocks of one size, each with as much before it.
struct BatchShape {
  std::uint32_t block_count = 0;
  std::uint32_t block_bytes = 0;
  std::uint32_t history_bytes = 0;

  std::uint64_t input_bytes() const { return std::uint64_t{block_count} * block_bytes; }
};

// With the finder, parse and costs of an LZ4 level, as a caller of batch.h allocates it: one temporary memory for both
// calls. For the current device, which has a part in it: a parse keeps costs for the warps that run at once. Throws Error.
WorkspacePlan batch_workspace(const BatchShape& shape, int level);

// That of a batch of 256 MB as text, for the levels that differ: `hemstitch backends -vv`. Throws Error.
std::vector<std::string> batch_workspace_report();

}  // namespace hemstitch
