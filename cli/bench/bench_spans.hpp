// What `hemstitch bench` times: the same round trip over different stretches of the data's way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

}  // namespace hemstitch::cli
