#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_scan.h>

#include "compact/scan/scan.hpp"
#include "compact/scan/scan_tuning.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

using Range = tbb::blocked_range<std::size_t>;

std::uint64_t scan_range(std::span<const std::uint32_t> sizes, std::span<std::uint64_t> offsets, Range range,
                         std::uint64_t sum) {
  for (std::size_t i = range.begin(); i < range.end(); ++i) {
    offsets[i] = sum;
    sum += sizes[i];
  }
  return sum;
}

std::uint64_t sum_range(std::span<const std::uint32_t> sizes, Range range, std::uint64_t sum) {
  for (std::size_t i = range.begin(); i < range.end(); ++i) sum += sizes[i];
  return sum;
}

}  // namespace

std::uint64_t scan_sizes(std::span<const std::uint32_t> sizes, std::span<std::uint64_t> offsets) {
  if (offsets.size() != sizes.size() + 1)
    throw Error(Status::kInvalidOption, fmt::format("scan: {} sizes have {} offsets, but {} were given",
                                                    sizes.size(), sizes.size() + 1, offsets.size()));
  const Range all(0, sizes.size(), kSerialScanCount);
  std::uint64_t total = 0;
  if (sizes.size() <= kSerialScanCount)
    total = scan_range(sizes, offsets, all, 0);
  else
    total = tbb::parallel_scan(
        all, std::uint64_t{0},
        [&](const Range& range, std::uint64_t sum, bool is_final) {
          return is_final ? scan_range(sizes, offsets, range, sum) : sum_range(sizes, range, sum);
        },
        [](std::uint64_t left, std::uint64_t right) { return left + right; });
  offsets.back() = total;
  return total;
}

}  // namespace hemstitch
