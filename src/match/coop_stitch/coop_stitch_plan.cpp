#include <fmt/format.h>

#include <algorithm>

#include "match/coop_stitch/coop_stitch.hpp"

namespace hemstitch {

CoopStitchPlan coop_stitch_plan(const FinderParameters& p) {
  CoopStitchPlan plan;
  plan.near_probes = p.near_range;
  plan.band_probes = p.window_size;
  plan.stitch_probes = p.stitch ? (kCoopGroupPositions - 1) * p.top_k : 0;
  plan.workgroup_bytes = kCoopGroupPositions * p.top_k * static_cast<std::uint32_t>(sizeof(MatchRecord));

  std::uint32_t covered_to = p.near_range;  // offsets up to here are covered
  plan.covered_offset_count = p.near_range;
  for (std::uint32_t thread = 0; thread < kCoopGroupPositions; ++thread) {
    const std::uint32_t first = p.band_origin + thread * p.stride + 1;
    const std::uint32_t last = first + p.window_size - 1;
    if (last <= covered_to) continue;
    if (first > covered_to + 1) plan.gaps.push_back({covered_to + 1, first - 1});
    plan.covered_offset_count += last - std::max(covered_to, first - 1);
    covered_to = last;
  }
  plan.largest_offset = covered_to;
  return plan;
}

std::string CoopStitchPlan::text() const {
  std::string gap_text = "none";
  if (!gaps.empty())
    gap_text = fmt::format("{} gaps without any position, {} offsets; the first is {} to {}", gaps.size(),
                           largest_offset - covered_offset_count, gaps.front().first_offset,
                           gaps.front().last_offset);
  return fmt::format(
      "offsets     1 to {}, {} of them searched by at least one position in {}\n"
      "gaps        {}\n"
      "probes      at most {} a position: {} near, {} in its band, {} of the others' finds\n"
      "workgroup   {} bytes of lists\n",
      largest_offset, covered_offset_count, kCoopGroupPositions, gap_text, probes(), near_probes, band_probes,
      stitch_probes, workgroup_bytes);
}

}  // namespace hemstitch
