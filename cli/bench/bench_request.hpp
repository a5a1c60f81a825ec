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
  std::vector<std::string> files;  // none: made data
  CompressOptions compress = {};
  RestoreOptions restore = {};
  std::vector<int> levels = {};  // none: some
  double seconds = 1.0;          // for each row
  BenchSpan span = BenchSpan::kMemory;
  PinnedBatches batches = {};
  std::uint64_t repeat_to_bytes = 0;  // each file over and over, up to so many; 0: once
  bool json = false, compare = false, help = false;
};

// Reads HEMSTITCH_BACKEND, HEMSTITCH_LEVEL and HEMSTITCH_THREADS where no option says otherwise. Throws UsageError.
BenchRequest read_bench_request(std::span<const std::string> words);

}  // namespace hemstitch::cli
