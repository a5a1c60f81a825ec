// What LZ4 on the CUDA device takes without the pipeline around it, for `hemstitch bench`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hemstitch {

enum class TimedSpan {
  kKernel,  // the kernels alone, all blocks in one batch, data on the device at both ends
  kPinned,  // pinned host memory at both ends: transfers and kernels of batches overlap
};

struct Lz4Timing {
  std::uint64_t compressed_bytes = 0;  // of the blocks alone, without headers and checksums
  double compress_seconds = 0;         // the fastest run of each
  double restore_seconds = 0;
};

// On the device that is meant (CompressOptions::device): compresses and restores `data` in independent blocks, over and over for at least `seconds` each, once at least after
// one run to warm up. What was restored is compared. Throws kInternal where it differs, kDeviceUnavailable where there
// is no device or no CUDA in the build, and the other errors of the device family.
Lz4Timing time_lz4_on_device(std::span<const std::byte> data, int level, std::size_t block_bytes,
                             TimedSpan span, double seconds, std::string_view device);

}  // namespace hemstitch
