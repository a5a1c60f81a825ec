#include <algorithm>
#include <type_traits>

#include "core/between_pieces.hpp"
#include "match/common/common_length.hpp"
#include "match/stitch/stitch.hpp"
#include "match/stitch/stitch_wide.hpp"

namespace hemstitch {

void extend_capped_matches(const FinderInput& input, std::size_t cap_bytes, MatchRecords& records) {
  const std::byte* block = input.data.data() + input.history_bytes;
  // For each offset, the end of the last run of bytes that are equal at this offset, as a position in the
  // block.
  std::vector<std::size_t> agreement_end(std::min<std::size_t>(input.data.size(), kMaxRecordOffset + 1), 0);
  for (std::size_t position = 0; position < records.size(); ++position) {
    if (record_length(records[position]) < cap_bytes) continue;
    const std::uint32_t offset = record_offset(records[position]);
    std::size_t& end = agreement_end[offset];
    if (end <= position)
      end = position + common_length(block + position, block + position - offset, records.size() - position);
    const std::size_t recorded = std::min<std::size_t>(end - position, kMaxRecordLength);
    records[position] = pack_match(offset, static_cast<std::uint32_t>(recorded));
  }
}

namespace {

template <typename Record>
Record record_of(Match match) {
  if constexpr (std::is_same_v<Record, WideRecord>)
    return match;
  else
    return pack_match(match.offset, match.length);
}

template <typename Record>
std::vector<Record> stitch_backward(const FinderInput& input, std::size_t reach,
                                    const std::vector<Record>& found) {
  std::vector<Record> stitched(found.size());
  PositionCount positions;
  for (std::size_t position = 0; position < found.size(); ++position, positions.next()) {
    Match best{record_offset(found[position]), record_length(found[position])};
    const std::size_t data_position = input.history_bytes + position;
    const std::byte* here = input.data.data() + data_position;
    for (std::size_t ahead = 1; ahead <= reach && position + ahead < found.size(); ++ahead) {
      const std::uint32_t offset = record_offset(found[position + ahead]);
      if (offset == 0 || offset > data_position) continue;
      const std::size_t length = ahead + record_length(found[position + ahead]);
      const Match borrowed{offset,
                           static_cast<std::uint32_t>(std::min<std::size_t>(length, kMaxRecordLength))};
      if (better_match(borrowed, best) && std::equal(here, here + ahead, here - offset)) best = borrowed;
    }
    stitched[position] = record_of<Record>(best);
  }
  return stitched;
}

template <typename Record>
void stitch_forward(std::vector<Record>& records) {
  for (std::size_t position = 1; position < records.size(); ++position) {
    const std::uint32_t before = record_length(records[position - 1]);
    if (before > record_length(records[position]) + 1)
      records[position] = record_of<Record>({record_offset(records[position - 1]), before - 1});
  }
}

template <typename Record>
void stitch_all(const FinderInput& input, std::size_t reach, std::vector<Record>& records) {
  records = stitch_backward(input, reach, records);
  stitch_forward(records);
}

}  // namespace

void stitch_matches(const FinderInput& input, std::size_t reach, MatchRecords& records) {
  stitch_all(input, reach, records);
}
void stitch_matches(const FinderInput& input, std::size_t reach, std::vector<WideRecord>& records) {
  stitch_all(input, reach, records);
}

}  // namespace hemstitch
