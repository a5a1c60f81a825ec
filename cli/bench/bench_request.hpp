// The options of `hemstitch bench`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/bench/bench_spans.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cli {

struct BenchRequest {
  std::vector<std::string> files;  // none: generated data
  CompressOptions compress = {};
  RestoreOptions restore = {};
  std::vector<int> levels = {};  // none: a default set
  double seconds = 1.0;          // for each row
  BenchSpan span = BenchSpan::kMemory;
  PinnedBatches batches = {};
  std::uint64_t repeat_to_bytes = 0;  // repeat each file up to this size; 0: once
  bool json = false, compare = false, help = false;
};

// HEMSTITCH_BACKEND, HEMSTITCH_LEVEL and HEMSTITCH_THREADS apply where no option does. Throws UsageError.
BenchRequest read_bench_request(std::span<const std::string> words);

}  // namespace hemstitch::cli
