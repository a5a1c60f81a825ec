#include "match/find.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/status.hpp"

namespace hemstitch {

MatchRecords find_reference(Finder finder, const FinderInput& input, const FinderParameters& parameters,
                            SearchCounters& counters) {
  switch (finder) {
    case Finder::kBruteForce:
      return brute_force_reference(input, parameters, counters);
    case Finder::kLazyScan:
      return lazy_scan_reference(input, parameters, counters);
    case Finder::kWindowIndex:
      return window_index_reference(input, parameters, counters);
    case Finder::kCoopStitch: {
      CoopStitchResult result = coop_stitch_reference(input, parameters);
      counters += result.counters;
      return std::move(result.records);
    }
  }
  throw Error(Status::kInvalidOption,
              fmt::format("finder {} is none of the finders", static_cast<int>(finder)));
}

std::optional<std::size_t> first_wrong_record(const FinderInput& input, const MatchRecords& records) {
  for (std::size_t index = 0; index < records.size(); ++index) {
    if (records[index] == 0) continue;
    const std::size_t position = input.history_bytes + index;
    const std::size_t offset = record_offset(records[index]);
    const std::size_t length = record_length(records[index]);
    if (offset == 0 || offset > position || length == 0 || length > input.data.size() - position)
      return index;
    const std::byte* text = input.data.data() + position;
    if (!std::equal(text, text + length, text - offset)) return index;
  }
  return std::nullopt;
}

}  // namespace hemstitch
