// How long batches of a format's blocks take on CUDA devices, without the pipeline around them: for `hemstitch bench`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

enum class TimedSpan {
  kKernel,  // the kernels alone, all blocks in one batch, data on the device at both ends
  kPinned,  // pinned host memory at both ends: transfers and kernels of batches overlap
};

struct TimedWork {
  Format format = Format::kLz4;
  int level = 1;
  std::size_t block_bytes = 0;
  TimedSpan span = TimedSpan::kKernel;
  // For kPinned: data in a batch, about, and batches at the same time.
  std::size_t batch_bytes = 0;
  unsigned batch_count = 1;
};

struct BatchTiming {
  std::uint64_t compressed_bytes = 0;  // of the blocks alone, without headers and checksums
  double compress_seconds = 0;         // the fastest run of each
  double restore_seconds = 0;
};

// On the devices that are meant (CompressOptions::device), which divide the data among them: compresses and restores `data` in independent blocks, over and over for at
// least `seconds` each, once at least after one run to warm up. What was restored is compared. Throws kInternal where it differs,
// kInvalidOption for a format that devices do not know, kDeviceUnavailable where there is no device or no CUDA in the build, and the
// other errors of the device family.
BatchTiming time_batches(std::span<const std::byte> data, const TimedWork& work, double seconds,
                         std::string_view device);

}  // namespace hemstitch
