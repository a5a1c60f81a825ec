#include <algorithm>

#include "match/common/counted_length.hpp"
#include "match/common/parallel_find.hpp"
#include "match/common/scan_offsets.hpp"
#include "match/lazy_scan/lazy_scan.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kPiecePositions = 4096;

Match find_at(const FinderInput& input, const FinderParameters& parameters, std::size_t position,
              FindCounters& counters) {
  const std::byte* text = input.data.data() + position;
  const auto limit = static_cast<std::uint32_t>(
      std::min<std::size_t>(parameters.max_match_len, input.data.size() - position));
  const auto farthest = static_cast<std::uint32_t>(std::min<std::size_t>(parameters.window_size, position));
  const std::uint32_t good = parameters.good_match_len != 0 ? parameters.good_match_len : limit + 1;
  Match best;
  FindCounters tried;  // local, so that counting stays in registers
  const auto try_offset = [&](std::uint32_t offset) {
    const std::uint32_t length = counted_length(text, text - offset, limit, tried);
    if (length >= parameters.min_match_len && length > best.length) best = {offset, length};
    return length >= good;
  };
  if (!scan_offsets(text, 1, std::min(parameters.near_range, farthest), tried, try_offset))
    for (std::uint64_t offset = std::uint64_t{parameters.near_range} + parameters.far_step;
         offset <= farthest; offset += parameters.far_step)
      if (try_offset(static_cast<std::uint32_t>(offset))) break;
  counters += tried;
  return best;
}

}  // namespace

MatchRecords lazy_scan_reference(const FinderInput& input, const FinderParameters& parameters,
                                 FindCounters& counters) {
  MatchRecords records(input.block_bytes());
  counters +=
      find_in_pieces(records.size(), kPiecePositions, [&](std::size_t begin, std::size_t end, auto& sum) {
        for (std::size_t position = begin; position < end; ++position) {
          const Match best = find_at(input, parameters, input.history_bytes + position, sum);
          records[position] = pack_match(best.offset, best.length);
        }
      });
  return records;
}

void check_parameters(const LazyScanParameters& p) {
  check_scan_parameters(p);
  require_parameter(p.far_step >= 1, "far_step", p.far_step, "at least 1");
}

}  // namespace hemstitch
