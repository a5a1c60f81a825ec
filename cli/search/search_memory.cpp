#include "cli/search/search_memory.hpp"

#include <unistd.h>

#include <algorithm>

namespace hemstitch::cli {
namespace {

// Enough for blocks of 256K, the default when compressing.
constexpr std::uint64_t kLeastBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kLeastDeviceBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kDefaultBytes = std::uint64_t{256} << 20;
// While a device starts, which takes a few tenths of a second, a host reads a few gigabytes.
constexpr std::uint64_t kDefaultDeviceBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kHostShare = 8;

// Room for a line that grep reads in one buffer, and for what it reads ahead.
constexpr std::uint64_t kLeastPieceBytes = std::uint64_t{128} << 10;
// Longer lines are rare, and may wait.
constexpr std::uint64_t kMostPieceBytes = std::uint64_t{4} << 20;
// The device waits for each batch to be loaded, so batches must not be large.
constexpr std::uint64_t kMostBatchBytes = std::uint64_t{64} << 20;

std::uint64_t default_device_bytes() {
  const auto host_bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::clamp(host_bytes / kHostShare, kDefaultBytes, kDefaultDeviceBytes);
}

}  // namespace

SearchMemory divide_search_memory(std::optional<std::uint64_t> limit_bytes, unsigned threads, bool decompress,
                                  bool device) {
  const std::uint64_t all_bytes =
      std::max(limit_bytes.value_or(device ? default_device_bytes() : kDefaultBytes),
               device ? kLeastDeviceBytes : kLeastBytes);
  const std::uint64_t pieces_bytes = all_bytes / 16;
  SearchMemory memory;
  memory.threads =
      static_cast<unsigned>(std::clamp<std::uint64_t>(pieces_bytes / kLeastPieceBytes, 1, threads));
  memory.piece_bytes = std::clamp(pieces_bytes / memory.threads, kLeastPieceBytes, kMostPieceBytes);
  memory.restored_bytes = memory.piece_bytes;
  memory.reports_bytes = all_bytes / 8;
  memory.restoring_bytes = device ? all_bytes / 8 : all_bytes / 2;
  memory.line_bytes = device ? all_bytes / 8 : decompress ? all_bytes / 4 : all_bytes / 2;
  memory.batch_bytes = std::min(all_bytes / 8, kMostBatchBytes);
  memory.texts_bytes = all_bytes / 8;
  memory.batches_in_flight = static_cast<std::size_t>(3 * all_bytes / 8 / memory.batch_bytes);
  return memory;
}

}  // namespace hemstitch::cli
