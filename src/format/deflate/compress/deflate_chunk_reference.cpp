#include <algorithm>
#include <array>

#include "format/deflate/compress/deflate_chunk.hpp"
#include "format/deflate/compress/deflate_device_chunks.hpp"
#include "format/deflate/compress/parse/deflate_cost.hpp"
#include "match/common/common_length.hpp"
#include "parse/optimal/optimal_reference.hpp"

namespace hemstitch {
namespace {

static_assert(kDeflateSplitUnitBytes % kSegmentPositions == 0, "a segment lies in one unit");

// Where the tokens of a unit begin, and how often their symbols occur.
struct SplitUnit {
  std::size_t token_begin = 0;
  std::size_t content_begin = 0;
  DeflateHistogram histogram;
};

// Returns one entry more than there are units: the end of the chunk.
std::vector<SplitUnit> split_units(std::span<const DeflateToken> tokens, std::size_t content_bytes) {
  const std::size_t unit_count = std::max<std::size_t>(content_bytes / kDeflateSplitUnitBytes, 1);
  std::vector<SplitUnit> units;
  std::size_t position = 0;
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    // A unit is longer than a match, so a token begins in each unit.
    if (units.size() < unit_count && position >= units.size() * kDeflateSplitUnitBytes)
      units.push_back({token, position, {}});
    units.back().histogram.add(tokens[token]);
    position += tokens[token].content_bytes();
  }
  units.push_back({tokens.size(), content_bytes, {}});
  return units;
}
static_assert(kDeflateSplitUnitBytes > kDeflateMaxMatchBytes);

DeflateChunkPart part_between(const SplitUnit& begin, const SplitUnit& end,
                              const DeflateHistogram& histogram) {
  return {choose_deflate_block(histogram, end.content_begin - begin.content_begin), begin.token_begin,
          end.token_begin, begin.content_begin, end.content_begin};
}

DeflateChunkPart whole_chunk(std::span<const DeflateToken> tokens, std::size_t content_bytes) {
  DeflateHistogram histogram;
  for (const DeflateToken& token : tokens) histogram.add(token);
  return {choose_deflate_block(histogram, content_bytes), 0, tokens.size(), 0, content_bytes};
}

}  // namespace

std::vector<MatchRecord> deflate_near_records(std::span<const std::byte> content,
                                              std::span<const std::uint16_t> near_offsets) {
  std::vector<MatchRecord> records(content.size(), 0);
  for (std::size_t position = 0; position < content.size(); ++position) {
    if (near_offsets[position] == 0) continue;
    const std::byte* here = content.data() + position;
    const std::size_t limit = std::min<std::size_t>(kDeflateNearMatchBytes, content.size() - position);
    const std::size_t length = common_length(here, here - near_offsets[position], limit);
    records[position] = pack_match(near_offsets[position], static_cast<std::uint32_t>(length));
  }
  return records;
}

std::vector<DeflateChunkPart> split_deflate_chunk(std::span<const DeflateToken> tokens,
                                                  std::size_t content_bytes) {
  const std::vector<SplitUnit> units = split_units(tokens, content_bytes);
  const auto unit_count = static_cast<std::uint32_t>(units.size() - 1);
  std::array<DeflateChunkPart, std::size_t{kDeflateChunkUnits} * kDeflateChunkUnits> spans;
  std::array<std::uint32_t, spans.size()> span_bits{};
  for (std::uint32_t begin = 0; begin < unit_count; ++begin) {
    DeflateHistogram histogram;
    for (std::uint32_t end = begin + 1; end <= unit_count; ++end) {
      histogram.add(units[end - 1].histogram);
      const std::uint32_t span = deflate_span_index(begin, end);
      spans[span] = part_between(units[begin], units[end], histogram);
      span_bits[span] = static_cast<std::uint32_t>(spans[span].block.bits);
    }
  }
  DeflateCuts cuts;
  deflate_find_cuts(span_bits.data(), unit_count, cuts);
  std::vector<DeflateChunkPart> parts;
  for (std::uint32_t part = 0; part < cuts.count; ++part) {
    const std::uint32_t end = part + 1 < cuts.count ? cuts.begins[part + 1] : unit_count;
    parts.push_back(spans[deflate_span_index(cuts.begins[part], end)]);
  }
  return parts;
}

DeflateChunk make_deflate_chunk(std::span<const std::byte> content, std::span<const MatchRecord> records,
                                std::span<const std::uint16_t> near_offsets, const DeflateLevel& level) {
  const std::vector<MatchRecord> near = deflate_near_records(content, near_offsets);
  const ParseInput input{records, deflate_block_plan(), content, near};
  DeflateChunk chunk;
  std::vector<DeflateCosts> costs = {deflate_prior_costs()};
  for (unsigned pass = 0; pass < level.pass_count; ++pass) {
    // A segment is solved with the costs of the last part that begins before the end of the segment's unit. A
    // part that begins after it, by less than a match, belongs to the next unit.
    const auto costs_of_segment = [&](std::size_t begin) -> const DeflateCosts& {
      const std::size_t unit_end = (begin / kDeflateSplitUnitBytes + 1) * kDeflateSplitUnitBytes;
      std::size_t part = costs.size() - 1;
      while (part > 0 && chunk.parts[part].content_begin >= unit_end) --part;
      return costs[part];
    };
    chunk.tokens = deflate_tokens(content, parse_optimal_by_segments(input, costs_of_segment));
    chunk.parts = level.splits ? split_deflate_chunk(chunk.tokens, content.size())
                               : std::vector{whole_chunk(chunk.tokens, content.size())};
    costs.clear();
    for (const DeflateChunkPart& part : chunk.parts) costs.push_back(deflate_costs_of(part.block.lengths));
  }
  return chunk;
}

}  // namespace hemstitch
