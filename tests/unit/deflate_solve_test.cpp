// The work of a device's lane in the parse of DEFLATE chunks, compared with the twin.
#include "format/deflate/compress/parse/deflate_solve.hpp"

#include <gtest/gtest.h>

#include "deflate_prices.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

bool same(const std::vector<Sequence>& a, const std::vector<Sequence>& b) {
  return std::ranges::equal(a, b, [](const Sequence& one, const Sequence& other) {
    return one.literal_count == other.literal_count && one.match_length == other.match_length &&
           one.offset == other.offset;
  });
}

// Does the same as list_edges (deflate_parse.cu).
std::vector<DeflateEdges> edges_of(std::span<const std::byte> content, std::span<const MatchRecord> records,
                                   std::span<const std::uint16_t> near_offsets) {
  const std::vector<MatchRecord> near_records = deflate_near_records(content, near_offsets);
  std::vector<DeflateEdges> edges;
  for (std::size_t position = 0; position < content.size(); ++position) {
    const auto usable = [&](MatchRecord record) {
      return usable_match(record, position, content.size(), deflate_block_plan());
    };
    const Match record = usable(records[position]);
    Match near = usable(near_records[position]);
    if (near.offset == record.offset) near = {};
    edges.push_back(pack_deflate_edges(std::to_integer<std::uint32_t>(content[position]), record, near));
  }
  return edges;
}

// Does the same as a lane of solve_chunks, but with steps of four positions. `misaligned` says how far after
// a multiple of 8 the segment begins.
void solve_segment(std::span<const DeflateEdges> edges, std::size_t begin, std::uint32_t misaligned,
                   const DeflateDeviceCosts& costs, std::vector<DeflateChoice>& choices) {
  constexpr std::uint32_t kStride = 2;
  std::vector<std::uint16_t> ring((kDeflateMirror + kDeflateRing) * kStride, 0);
  DeflatePriceTable prices;
  for (std::uint32_t i = 0; i < 256; ++i) prices.set_literal(i, costs);
  for (std::uint32_t i = 0; i < DeflatePriceTable::kLengths; ++i) prices.set_length(i, costs);
  for (std::uint32_t i = 0; i < 32; ++i) prices.set_distance(i, costs);
  DeflateSolver<kStride> solver(ring.data() + kDeflateMirror * kStride, prices);
  const auto rest = static_cast<std::uint32_t>(edges.size() - begin);
  const std::uint32_t own_end = misaligned + std::min<std::uint32_t>(rest, kSegmentPositions);
  const std::uint32_t end =
      misaligned + std::min<std::uint32_t>(rest, kSegmentPositions + kLookAheadPositions);
  // Another lane's segment may be longer.
  for (std::uint32_t first = (end + 3 * kDeflateStep) / kDeflateStep * kDeflateStep; first > 0;) {
    first -= kDeflateStep;
    DeflateEdges offered[kDeflateStep];
    DeflateChoice chosen[kDeflateStep];
    for (std::uint32_t i = 0; i < kDeflateStep; ++i)
      offered[i] = first + i >= misaligned && first + i < end ? edges[begin + first + i - misaligned]
                                                              : kDeflateNoEdges;
    solver.solve(first, first % kDeflateRing, end, offered, chosen);
    for (std::uint32_t i = 0; i < kDeflateStep; ++i)
      if (first + i >= misaligned && first + i < own_end) choices[begin + first + i - misaligned] = chosen[i];
  }
}

std::vector<Sequence> parse_as_lanes_do(std::span<const std::byte> content,
                                        std::span<const MatchRecord> records,
                                        std::span<const std::uint16_t> near_offsets,
                                        std::span<const DeflateDeviceCosts> costs, std::uint32_t misaligned) {
  const std::vector<DeflateEdges> edges = edges_of(content, records, near_offsets);
  std::vector<DeflateChoice> choices(content.size());
  for (std::size_t begin = 0; begin < content.size(); begin += kSegmentPositions)
    solve_segment(edges, begin, (misaligned + begin) % 8,
                  costs[costs.size() == 1 ? 0 : begin / kDeflateSplitUnitBytes], choices);
  SequenceBuilder sequences;
  for (std::size_t position = 0; position < content.size();) {
    const DeflateChoice choice = choices[position];
    const std::uint32_t length = choice_length(choice);
    if (length == 0)
      sequences.literal();
    else
      sequences.match(
          {choice_is_near(choice) ? near_offsets[position] : record_offset(records[position]), length});
    position += std::max(length, 1u);
  }
  return sequences.finish();
}

void expect_as_the_twin(const Bytes& data, std::size_t history_bytes, int level, const std::string& name) {
  const FinderInput input{data, history_bytes};
  const DeflateLevel parameters = deflate_level(level);
  const MatchRecords records = find_hash_chain(input, parameters.finder);
  const NearOffsets near_offsets = find_near_three(input, parameters.near);
  const auto content = input.data.subspan(history_bytes);
  for (std::size_t begin = 0; begin < content.size(); begin += kDeflateChunkBytes) {
    const std::size_t count = std::min(kDeflateChunkBytes, content.size() - begin);
    const auto chunk = content.subspan(begin, count);
    const std::span<const MatchRecord> chunk_records = std::span(records).subspan(begin, count);
    const auto chunk_near = std::span(near_offsets).subspan(begin, count);
    std::vector<std::vector<DeflateDeviceCosts>> all_costs = {{device_costs(deflate_prior_costs())},
                                                              {random_costs(1)},
                                                              {random_costs(2, 3)},
                                                              {random_costs(3, 15)}};
    all_costs.emplace_back();
    for (std::uint32_t unit = 0; unit < kDeflateChunkUnits; ++unit)
      all_costs.back().push_back(random_costs(unit, 20));
    for (std::size_t i = 0; i < all_costs.size(); ++i)
      EXPECT_TRUE(same(parse_as_lanes_do(chunk, chunk_records, chunk_near, all_costs[i],
                                         static_cast<std::uint32_t>(begin / 1000 + i + count)),
                       parse_deflate_chunk(chunk, chunk_records, chunk_near, all_costs[i])))
          << name << ", " << data.size() << " bytes, history " << history_bytes << ", level " << level
          << ", chunk at " << begin << ", costs " << i;
  }
}

TEST(DeflateSolve, ALaneDecidesAsTheTwin) {
  for (const std::size_t count :
       {1, 2, 3, 4, 5, 7, 8, 9, 258, 259, 300, 1023, 1024, 1025, 1279, 1280, 1281, 9000})
    for (const Shape& shape : shapes_of(count)) expect_as_the_twin(shape.bytes, 0, 6, shape.name);
  for (const Shape& shape : shapes_of(6000)) expect_as_the_twin(shape.bytes, 1000, 1, shape.name);
}

TEST(DeflateSolve, ALaneDecidesAsTheTwinInLargeChunks) {
  expect_as_the_twin(mixed_bytes(140'000, 3), 5000, 9, "mixed");
  expect_as_the_twin(wordy_bytes(66'000, 3), 0, 12, "words");
  expect_as_the_twin(random_bytes(65'537, 4, 3), 0, 6, "three letters");
  if (!corpora()) return;
  for (const char* file : {"samba", "x-ray", "nci"})
    expect_as_the_twin(read_file(*corpora() / "silesia" / file, 150'000), 20'000, 6, file);
}

}  // namespace
}  // namespace hemstitch::testing
