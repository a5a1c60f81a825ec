// What `hemstitch bench` times: the same round trip over different stretches of the data's way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cli {

// What bench times: from where to where the data goes.
enum class BenchSpan {
  kMemory,  // through the library, from memory to memory
  kFile,    // from file to file
  kPinned,  // on a device, with the transfers
  kKernel,  // on a device, without them
};

// How kPinned has the data: a batch, and batches at the same time. 0: as the engine has them.
struct PinnedBatches {
  std::uint64_t bytes = 0;
  unsigned count = 0;
};

// The fastest run of one way.
struct Timed {
  double seconds = std::numeric_limits<double>::infinity();
  double cpu_seconds = 0;  // of all threads in that run; 0 for spans on a device
};

// What files add: the same without a new file at the end, and how long a new file takes by itself.
struct FileFigures {
  Timed compress_to_null;  // to /dev/null
  Timed test;              // as -t
  double compress_floor_seconds =
      std::numeric_limits<double>::infinity();  // as many threads fill a new file with the same bytes
  double restore_floor_seconds = std::numeric_limits<double>::infinity();
};

struct Figures {
  std::uint64_t compressed_bytes = 0;
  Timed compress, restore;
  std::optional<FileFigures> files;
};

// As in recorded runs.
std::string_view span_name(BenchSpan span);

// Round trips for `seconds` at least, and with files two of them, since the first may start what others use again. Throws
// ToolError where what is restored differs from `data`.
Figures measure(BenchSpan span, std::span<const std::byte> data, const CompressOptions& compress,
                const RestoreOptions& restore, double seconds, const PinnedBatches& batches = {});

// GB/s, by all threads where that is how the pipeline does it.
struct FileRates {
  double read_gbps = 0, write_gbps = 0;  // a file in $TMPDIR: new, then in the page cache
  double copy_gbps = 0;                  // memory to memory
};
FileRates measure_file_rates(std::span<const std::byte> data);

// What the first block of a process takes, there and back: the backend's device is chosen and started.
double seconds_to_start(const CompressOptions& compress, const RestoreOptions& restore);

}  // namespace hemstitch::cli
