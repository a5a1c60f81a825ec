#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "compact/scan/scan.hpp"
#include "compact/scan/scan_in_parts.hpp"
#include "compact/scan/scan_tuning.hpp"
#include "core/options.hpp"
#include "core/parallel.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

// Cores from which on the work is divided. Parts read all sizes twice, so two cores gain nothing: they were slower than a
// loop on one, 51 against 28 microseconds for 100,000 sizes (bench/results, amd-epyc-2-cores-compact-cpu of 2026-11-25).
constexpr unsigned kScanLeastCores = 4;

// Returns the end of the last piece.
std::uint64_t scan_from(std::uint64_t begin, std::span<const std::uint32_t> sizes,
                        std::span<std::uint64_t> offsets) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    offsets[i] = begin;
    begin += sizes[i];
  }
  return begin;
}

}  // namespace

std::uint64_t scan_sizes(std::span<const std::uint32_t> sizes, std::span<std::uint64_t> offsets) {
  if (offsets.size() != sizes.size() + 1)
    throw Error(Status::kInvalidOption, fmt::format("scan: {} sizes need {} offsets, but {} were given",
                                                    sizes.size(), sizes.size() + 1, offsets.size()));
  if (sizes.size() > kScanPartCount && resolve_threads(0) >= kScanLeastCores)
    return scan_in_parts(sizes, offsets);
  return offsets.back() = scan_from(0, sizes, offsets);
}

std::uint64_t scan_in_parts(std::span<const std::uint32_t> sizes, std::span<std::uint64_t> offsets) {
  // Adds up each part, scans the sums, then scans each part from where it begins.
  const std::size_t parts = (sizes.size() + kScanPartCount - 1) / kScanPartCount;
  const auto part_of = [&](std::size_t part) {
    const std::size_t begin = part * kScanPartCount;
    return sizes.subspan(begin, std::min(kScanPartCount, sizes.size() - begin));
  };
  std::vector<std::uint64_t> part_begins(parts + 1, 0);
  run_in_parallel(parts, 1, [&](std::size_t part) {
    const auto own = part_of(part);
    part_begins[part] = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
  });
  std::exclusive_scan(part_begins.begin(), part_begins.end(), part_begins.begin(), std::uint64_t{0});
  run_in_parallel(parts, 1, [&](std::size_t part) {
    scan_from(part_begins[part], part_of(part), offsets.subspan(part * kScanPartCount));
  });
  return offsets.back() = part_begins.back();
}

}  // namespace hemstitch
