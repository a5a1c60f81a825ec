// What `hemstitch bench` times: the same round trip over different parts of the data's way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cli {

// Where the timed data comes from and goes to.
enum class BenchSpan {
  kMemory,  // through the library, from memory to memory
  kFile,    // from file to file
  kPinned,  // on a device, with the transfers
  kKernel,  // on a device, without them
};

// For kPinned: data of a batch, and batches at once. 0: the engine's defaults.
struct PinnedBatches {
  std::uint64_t bytes = 0;
  unsigned count = 0;
};

// The fastest run in one direction.
struct Timed {
  double seconds = std::numeric_limits<double>::infinity();
  double cpu_seconds = 0;  // of all threads in that run; 0 for spans on a device
};

// What only files have: the same without a new file at the end, and how long filling a new file takes.
struct FileFigures {
  Timed compress_to_null;  // to /dev/null
  Timed test;              // as -t
  double compress_floor_seconds = std::numeric_limits<
      double>::infinity();  // as many threads fill a new file with the same bytes (file_floor.hpp)
  double restore_floor_seconds = std::numeric_limits<double>::infinity();
};

struct Figures {
  std::uint64_t compressed_bytes = 0;
  Timed compress, restore;
  std::optional<FileFigures> files;
};

// The names in recorded runs.
std::string_view span_name(BenchSpan span);

// Makes round trips for at least `seconds`, and for files at least two, since the first may start things that
// later ones reuse. Throws ToolError if the restored data differs from `data`.
Figures measure(BenchSpan span, std::span<const std::byte> data, const CompressOptions& compress,
                const RestoreOptions& restore, double seconds, const PinnedBatches& batches = {});

// In GB/s, with all threads if the pipeline uses all.
struct FileRates {
  double read_gbps = 0, write_gbps = 0;  // a file in $TMPDIR: new, then in the page cache
  double copy_gbps = 0;                  // memory to memory
};
FileRates measure_file_rates(std::span<const std::byte> data);

// How long the first block of a process takes in both directions, including choosing and starting the device.
double seconds_to_start(const CompressOptions& compress, const RestoreOptions& restore);

}  // namespace hemstitch::cli
