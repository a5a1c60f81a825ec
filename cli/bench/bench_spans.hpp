// What `hemstitch bench` times: the same round trip over different stretches of the data's way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "cli/arguments.hpp"

namespace hemstitch::cli {

struct Figures {
  std::uint64_t compressed_bytes = 0;
  double compress_seconds = std::numeric_limits<double>::infinity();  // of the fastest run
  double restore_seconds = std::numeric_limits<double>::infinity();
};

// As in recorded runs.
std::string_view span_name(BenchSpan span);

// Round trips for `seconds` at least. Throws ToolError where what is restored differs from `data`.
Figures measure(BenchSpan span, std::span<const std::byte> data, const CompressOptions& compress,
                const RestoreOptions& restore, double seconds);

// GB/s, by all threads where that is how the pipeline does it.
struct FileRates {
  double read_gbps = 0, write_gbps = 0;  // a file in $TMPDIR: new, then in the page cache
  double copy_gbps = 0;                  // memory to memory
};
FileRates measure_file_rates(std::span<const std::byte> data);

}  // namespace hemstitch::cli
