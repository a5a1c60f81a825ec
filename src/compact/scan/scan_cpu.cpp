#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "compact/scan/scan.hpp"
#include "compact/scan/scan_tuning.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"

namespace hemstitch {

std::uint64_t scan_sizes(std::span<const std::uint32_t> sizes, std::span<std::uint64_t> offsets) {
  if (offsets.size() != sizes.size() + 1)
    throw Error(Status::kInvalidOption, fmt::format("scan: {} sizes need {} offsets, but {} were given",
                                                    sizes.size(), sizes.size() + 1, offsets.size()));
  // Adds up each part, scans the sums, then scans each part from where it begins.
  const std::size_t parts = (sizes.size() + kScanPartCount - 1) / kScanPartCount;
  const auto part_of = [&](std::size_t part) {
    const std::size_t begin = part * kScanPartCount;
    return sizes.subspan(begin, std::min(kScanPartCount, sizes.size() - begin));
  };
  std::vector<std::uint64_t> part_begins(parts, 0);
  if (parts > 1)
    run_in_parallel(parts, 1, [&](std::size_t part) {
      const auto own = part_of(part);
      part_begins[part] = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
    });
  std::exclusive_scan(part_begins.begin(), part_begins.end(), part_begins.begin(), std::uint64_t{0});
  run_in_parallel(parts, 1, [&](std::size_t part) {
    const auto own = part_of(part);
    std::uint64_t sum = part_begins[part];
    for (std::size_t i = 0; i < own.size(); ++i) {
      offsets[part * kScanPartCount + i] = sum;
      sum += own[i];
    }
  });
  const std::uint64_t total = sizes.empty() ? 0 : offsets[sizes.size() - 1] + sizes.back();
  offsets.back() = total;
  return total;
}

}  // namespace hemstitch
