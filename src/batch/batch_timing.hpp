// Times batches of a format's blocks on CUDA devices, without the pipeline around them: for `hemstitch
// bench`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

enum class TimedSpan {
  kKernel,  // only the kernels: all blocks in one batch, data on the device at both ends
  kPinned,  // pinned host memory at both ends: transfers and kernels of batches overlap
};

struct TimedWork {
  Format format = Format::kLz4;
  int level = 1;
  std::size_t block_bytes = 0;
  TimedSpan span = TimedSpan::kKernel;
  // For kPinned: about how much data a batch has, and how many batches are in flight.
  std::size_t batch_bytes = 0;
  unsigned batch_count = 1;
};

struct BatchTiming {
  std::uint64_t compressed_bytes = 0;  // only the blocks, without headers and checksums
  double compress_seconds = 0;         // of the fastest run
  double restore_seconds = 0;
};

// Compresses and restores `data` in independent blocks, on the devices of CompressOptions::device, which
// divide the data among them. Blocks of a format that writes streams each end a stream of their own. Repeats
// each direction for at least `seconds`, and at least once after a run to warm up. The restored data is
// compared. Throws kInternal if it differs, kInvalidOption for a format that devices do not support,
// kDeviceUnavailable if there is no device or the build has no CUDA, and the other errors of the device
// family.
BatchTiming time_batches(std::span<const std::byte> data, const TimedWork& work, double seconds,
                         std::string_view device);

}  // namespace hemstitch
