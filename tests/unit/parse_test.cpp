#include "parse/parse.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <random>
#include <stdexcept>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/lz4/compress/lz4_cost.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "parse/greedy/greedy.hpp"
#include "parse/lazy/lazy.hpp"
#include "parse/optimal/cost_table.hpp"
#include "parse/optimal/optimal_reference.hpp"
#include "parse/parses.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using Sequences = std::vector<Sequence>;

// Why `sequences` are not a legal parse of `input`; empty if they are.
template <typename Record>
std::string fault(const BasicParseInput<Record>& input, const Sequences& sequences) {
  const std::size_t block_bytes = input.records.size();
  std::size_t position = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    position += sequence.literal_count;
    const bool last = i + 1 == sequences.size();
    if (last != (sequence.match_length == 0)) return "the last sequence, and it alone, has no match";
    if (last) break;
    if (position >= block_bytes) return "a match starts after the block";
    if (position + input.plan.last_match_start_gap > block_bytes) return "a match starts too late";
    if (sequence.offset != record_offset(input.records[position])) return "an offset that is no candidate's";
    if (sequence.match_length > record_length(input.records[position]))
      return "a match longer than its candidate";
    if (sequence.match_length < input.plan.min_match_length) return "a match that is too short";
    if (sequence.match_length > input.plan.max_match_length) return "a match that is too long";
    if (sequence.offset > input.plan.max_offset) return "an offset that is too large";
    position += sequence.match_length;
    if (position + input.plan.last_match_end_gap > block_bytes) return "a match ends too late";
  }
  return position == block_bytes ? "" : "the block is not covered";
}

// The lowest cost from `position` on; tries every way through the block.
template <typename Record, typename Model>
std::uint64_t cheapest_of_all(const BasicParseInput<Record>& input, const Model& model,
                              const std::vector<std::uint32_t>& cuts, bool short_form,
                              std::size_t position = 0) {
  const std::size_t block_bytes = input.records.size();
  if (position == block_bytes) return 0;
  std::uint64_t best = model.literal_cost() + cheapest_of_all(input, model, cuts, short_form, position + 1);
  const Match match = usable_match(input.records[position], position, block_bytes, input.plan);
  const auto try_length = [&](std::uint32_t length) {
    if (length < input.plan.min_match_length || length > match.length) return;
    std::uint64_t cost = model.match_cost(length);
    if constexpr (requires { model.offset_cost(1u); }) cost += model.offset_cost(match.offset);
    best = std::min(best, cost + cheapest_of_all(input, model, cuts, short_form, position + length));
  };
  if (match.length == 0) return best;
  for (const std::uint32_t cut : cuts) try_length(match.length - cut);
  if (short_form) try_length(18);
  return best;
}

// Random candidates, few enough to try all ways through the block.
MatchRecords random_records(std::size_t count, std::mt19937& random) {
  MatchRecords records(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    if (random() % 4 != 0) continue;
    const std::size_t offset = 1 + random() % i, length = 1 + random() % (count - i);
    records[i] = pack_match(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length));
  }
  return records;
}

MatchRecords found(std::span<const std::byte> bytes) {
  return find_hash_chain({bytes, 0}, {.hash_bits = 12, .depth = 8, .cap_bytes = 64});
}

TEST(UsableMatch, AppliesTheLimitsOfTheFormat) {
  const BlockPlan lz4 = lz4_block_plan();
  EXPECT_EQ(usable_match(pack_match(7, 100), 10, 200, lz4).length, 100u);
  EXPECT_EQ(usable_match(pack_match(7, 100), 100, 200, lz4).length, 95u);  // the last five bytes are literals
  EXPECT_EQ(usable_match(pack_match(7, 100), 188, 200, lz4).length,
            7u);  // the last position where a match may begin
  EXPECT_EQ(usable_match(pack_match(7, 100), 189, 200, lz4).length, 0u);
  EXPECT_EQ(usable_match(pack_match(7, 3), 10, 200, lz4).length, 0u);
  EXPECT_EQ(usable_match(pack_match(7, 4), 10, 200, lz4).length, 4u);
  EXPECT_EQ(usable_match(0, 10, 200, lz4).length, 0u);
  EXPECT_EQ(usable_match(pack_match(1, 3), 1, 4, lz4).length, 0u);  // the block is shorter than the gaps

  const BlockPlan deflate = deflate_block_plan();
  EXPECT_EQ(usable_match(pack_match(7, 300), 10, 1000, deflate).length, 258u);
  EXPECT_EQ(usable_match(pack_match(32768, 3), 40'000, 40'003, deflate).length, 3u);
  EXPECT_EQ(usable_match(pack_match(32769, 3), 40'000, 40'003, deflate).length, 0u);
}

TEST(Parses, AreLegalAndOrderedByCostOnEveryShape) {
  for (const Shape& shape : boundary_shapes(65537)) {
    const MatchRecords records = found(shape.bytes);
    for (const BlockPlan& plan : {lz4_block_plan(), deflate_block_plan(), lzss_block_plan(5, 258)}) {
      const ParseInput input{records, plan};
      const auto check = [&](const auto& model, const char* model_name) {
        const Sequences greedy = parse_greedy(input), lazy = parse_lazy(input),
                        skipping = parse_lazy(input, 32), segments = parse_optimal(input, model),
                        exact = parse_optimal_exact(input, model);
        for (const Sequences* sequences : {&greedy, &lazy, &skipping, &segments, &exact})
          ASSERT_EQ(fault(input, *sequences), "") << shape.name;
        const std::uint64_t lowest = parse_cost(exact, model);
        for (const Sequences* sequences : {&greedy, &lazy, &skipping, &segments})
          ASSERT_LE(lowest, parse_cost(*sequences, model)) << shape.name << ", " << model_name;
      };
      check(FullLengthCostModel{}, "flat");
      if (plan.min_match_length == 4) check(Lz4CostModel{}, "lz4");
    }
  }
}

bool same(const Sequences& a, const Sequences& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Sequence& x, const Sequence& y) {
    return x.literal_count == y.literal_count && x.match_length == y.match_length && x.offset == y.offset;
  });
}

TEST(ParseRows, AreTheParsesBehindAnyFinder) {
  const Bytes bytes = copied_bytes(20'000, 5);
  const FinderInput finder_input{bytes, 3000};
  FullLengthCostModel costs;
  costs.literal_cost_bits = 6;  // not the default, so a row that ignores its costs is noticed
  const AnyParse<FullLengthCostModel> rows[] = {parse_of_row(0, costs), LazyParse{.skip = 12},
                                                parse_of_row(2, costs), parse_of_row(3, costs)};
  for (const AnyFinder& finder :
       {AnyFinder(HashChainParameters{.hash_bits = 12, .depth = 4, .cap_bytes = 64}),
        AnyFinder(CoopStitchParameters::from({}))}) {
    const MatchRecords records = find_reference(finder, finder_input).records;
    const ParseInput input{records, lzss_block_plan(4, 258)};
    const Sequences expected[] = {parse_greedy(input), parse_lazy(input, 12), parse_optimal(input, costs),
                                  parse_optimal_exact(input, costs)};
    for (std::size_t row = 0; row < std::size(rows); ++row) {
      EXPECT_EQ(rows[row].index(), row);
      EXPECT_TRUE(same(expected[row], find_and_parse_reference(finder, rows[row], finder_input, input.plan)))
          << row;
    }
    EXPECT_FALSE(same(expected[0], expected[1]));
    EXPECT_FALSE(same(expected[1], expected[2]));
    EXPECT_FALSE(same(expected[2], parse_optimal(input, FullLengthCostModel{})));
  }
  EXPECT_THROW(parse_of_row(4, costs), std::out_of_range);
}

TEST(OptimalParse, TheExactOneIsTheCheapestOfAllWays) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t count = random() % 27;
    const MatchRecords records = random_records(count, random);
    const ParseInput flat{records, lzss_block_plan(2, kUnlimitedLength)};
    ASSERT_EQ(parse_cost(parse_optimal_exact(flat, FullLengthCostModel{}), FullLengthCostModel{}),
              cheapest_of_all(flat, FullLengthCostModel{}, {0}, false))
        << "round " << round;
    // LZ4's costs without its rules for the end, so that short blocks have matches.
    const ParseInput lz4{records, lzss_block_plan(4, kUnlimitedLength)};
    ASSERT_EQ(parse_cost(parse_optimal_exact(lz4, Lz4CostModel{}), Lz4CostModel{}),
              cheapest_of_all(lz4, Lz4CostModel{}, {0, 1, 2, 3}, true))
        << "round " << round;
  }
}

template <typename Table = CostTable>
Table random_table(std::mt19937& random) {
  Table table{.literal = static_cast<std::uint32_t>(100 + random() % 60),
              .lengths = std::vector<std::uint32_t>(1 + random() % 20)};
  for (std::uint32_t& price : table.lengths) price = static_cast<std::uint32_t>(random() % 400);
  for (std::uint32_t& price : table.offsets) price = static_cast<std::uint32_t>(random() % 200);
  return table;
}

TEST(OptimalParse, PricesFromATableGiveTheCheapestOfAllWays) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const MatchRecords records = random_records(random() % 24, random);
    const ParseInput input{records, lzss_block_plan(3, kUnlimitedLength)};
    const CostTable table = random_table(random);
    ASSERT_EQ(parse_cost(parse_optimal_exact(input, table), table),
              cheapest_of_all(input, table, {0, 1, 2, 3}, false))
        << "round " << round;
  }
}

// A class for each power of two, of offsets and of lengths.
struct PowerClasses {
  static constexpr std::size_t kOffsetClassCount = 32;
  static constexpr std::uint32_t of_offset(std::uint32_t offset) {
    return static_cast<std::uint32_t>(std::bit_width(offset)) - 1;
  }
  static constexpr std::uint32_t of_length(std::uint32_t length) { return of_offset(length); }
};
constexpr BlockPlan kWidePlan{3, kUnlimitedLength, 1u << 31, 3, 0};

TEST(OptimalParse, WideRecordsGiveTheCheapestOfAllWays) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<WideRecord> records(random() % 24);
    for (std::size_t i = 0; i < records.size(); ++i)
      if (random() % 4 == 0)  // also offsets that the plan does not allow
        records[i] = {static_cast<std::uint32_t>(random() >> random() % 32) | 1u,
                      static_cast<std::uint32_t>(1 + random() % (records.size() - i))};
    const BasicParseInput<WideRecord> input{records, kWidePlan};
    const auto table = random_table<BasicCostTable<PowerClasses>>(random);
    const Sequences sequences = parse_optimal_exact(input, table);
    ASSERT_EQ(fault(input, sequences), "") << "round " << round;
    ASSERT_EQ(parse_cost(sequences, table), cheapest_of_all(input, table, {0, 1, 2, 3}, false))
        << "round " << round;
  }
}

TEST(Parses, TakeTheSameOfWideRecordsAsOfNarrowOnes) {
  for (const Shape& shape : shapes_of(5000)) {
    const MatchRecords records = found(shape.bytes);
    std::vector<WideRecord> wide;
    for (const MatchRecord record : records) wide.push_back({record_offset(record), record_length(record)});
    for (const BlockPlan& plan : {lz4_block_plan(), deflate_block_plan()}) {
      const ParseInput input{records, plan};
      const BasicParseInput<WideRecord> wide_input{wide, plan};
      for (std::size_t row = 0; row < std::variant_size_v<AnyParse<Lz4CostModel>>; ++row) {
        const auto parse = parse_of_row(row, Lz4CostModel{});
        EXPECT_TRUE(same(parse_reference(parse, input), parse_reference(parse, wide_input)))
            << shape.name << ", parse " << row;
      }
    }
  }
}

// A finder that only these tests know: the nearest earlier place with the same eight bytes, however far back.
struct FarFinder {};

BasicFoundMatches<WideRecord> find_reference(const FinderInput& input, const FarFinder&) {
  BasicFoundMatches<WideRecord> found;
  found.records.resize(input.block_bytes());
  std::map<std::uint64_t, std::size_t> newest;
  WideRecord before;
  for (std::size_t position = 0; position + 8 <= input.data.size(); ++position) {
    const auto [place, is_new] = newest.try_emplace(load_le64(input.data.data() + position), position);
    WideRecord record;
    if (!is_new) {
      record = {static_cast<std::uint32_t>(position - place->second), 0};
      if (record.offset == before.offset)  // the rest of the same repeat
        record.length = before.length - 1;
      else
        while (position + record.length < input.data.size() &&
               input.data[position + record.length] == input.data[place->second + record.length])
          ++record.length;
    }
    place->second = position;
    before = record;
    if (position >= input.history_bytes) found.records[position - input.history_bytes] = record;
  }
  return found;
}

TEST(Parses, MatchesBeyond64KRestoreTheContent) {
  const Bytes old = random_bytes(100'000, 1);
  Bytes data = old;
  std::mt19937 random(2);
  for (int piece = 0; piece < 40; ++piece) {
    const auto from = old.begin() + static_cast<std::ptrdiff_t>(random() % 90'000);
    data.insert(data.end(), from, from + static_cast<std::ptrdiff_t>(20 + random() % 3000));
    data.push_back(static_cast<std::byte>(random()));
  }
  for (const std::size_t history : {std::size_t{0}, old.size()})
    for (std::size_t row = 0; row < std::variant_size_v<AnyParse<Lz4CostModel>>; ++row) {
      const Sequences sequences = find_and_parse_reference(FarFinder{}, parse_of_row(row, Lz4CostModel{}),
                                                           FinderInput{data, history}, kWidePlan);
      Bytes restored(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(history));
      std::size_t far_matches = 0, literals = 0;
      for (const Sequence& sequence : sequences) {
        const auto next = data.begin() + static_cast<std::ptrdiff_t>(restored.size());
        restored.insert(restored.end(), next, next + sequence.literal_count);
        literals += sequence.literal_count;
        far_matches += sequence.offset > 65535;
        for (std::uint32_t i = 0; i < sequence.match_length; ++i)
          restored.push_back(restored[restored.size() - sequence.offset]);
      }
      EXPECT_TRUE(restored == data) << "parse " << row << ", history " << history;
      EXPECT_GE(far_matches, 10u);
      EXPECT_LT(literals, old.size() - history + 200);
    }
}

TEST(CostTable, ClassesOfOffsetsAscendAndHoldHalfAPowerOfTwoEach) {
  std::array<std::uint32_t, kOffsetClassCount> counts{};
  for (std::uint32_t offset = 1; offset <= 65536; ++offset) {
    ++counts.at(offset_class(offset));
    ASSERT_GE(offset_class(offset), offset_class(std::max(offset - 1, 1u)));
  }
  for (std::uint32_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i], i < 2 ? 1u : 1u << (i / 2 - 1)) << i;
}

TEST(CostTable, RefusesWhatDevicesCannotAddUp) {
  EXPECT_NO_THROW(check_cost_table({.literal = CostTable::kMostPrice}));
  EXPECT_THROW(check_cost_table({.literal = CostTable::kMostPrice + 1}), Error);
  EXPECT_THROW(check_cost_table({.literal = 1, .lengths = {}}), Error);
  EXPECT_THROW(check_cost_table({.literal = 1, .lengths = {0, CostTable::kMostPrice + 1}}), Error);
  CostTable table;
  table.offsets[31] = CostTable::kMostPrice + 1;
  EXPECT_THROW(check_cost_table(table), Error);
}

TEST(OptimalParse, OneShortBlockIsOneSegment) {
  for (const Shape& shape : shapes_of(1024)) {
    const ParseInput input{{}, lz4_block_plan()};
    const MatchRecords records = found(shape.bytes);
    const ParseInput whole{records, input.plan};
    const Sequences segments = parse_optimal(whole, Lz4CostModel{}),
                    exact = parse_optimal_exact(whole, Lz4CostModel{});
    EXPECT_EQ(parse_cost(segments, Lz4CostModel{}), parse_cost(exact, Lz4CostModel{})) << shape.name;
  }
}

TEST(OptimalParse, OnEqualCostTheLiteralWins) {
  // A match of 3 bytes at 27 bits costs as much as three literals of 9 bits.
  FullLengthCostModel model;
  model.match_fixed_cost_bits = 27;
  const MatchRecords records = {0, pack_match(1, 3), 0, 0};
  const Sequences sequences = parse_optimal_exact({records, lzss_block_plan(3, 258)}, model);
  ASSERT_EQ(sequences.size(), 1u);
  EXPECT_EQ(sequences[0].literal_count, 4u);
}

TEST(OptimalParse, OnEqualCostTheLongerMatchWins) {
  // From 1, matches of 9 and of 10 bytes lead to matches with the same end and the same cost.
  MatchRecords records(30, 0);
  records[1] = pack_match(1, 10);
  records[10] = pack_match(5, 12);
  records[11] = pack_match(5, 11);
  const Sequences sequences = parse_optimal_exact({records, lz4_block_plan()}, Lz4CostModel{});
  ASSERT_EQ(sequences.size(), 3u);
  EXPECT_EQ(sequences[0].match_length, 10u);
  EXPECT_EQ(sequences[1].match_length, 11u);
}

TEST(OptimalParse, TriesTheLongestLengthThatNeedsNoExtension) {
  // 30 bytes and 6 literals cost 10 bytes; 18 bytes, and 18 more from there, cost 6.
  MatchRecords records(43, 0);
  records[1] = pack_match(1, 30);
  records[19] = pack_match(7, 18);
  const Sequences sequences = parse_optimal_exact({records, lz4_block_plan()}, Lz4CostModel{});
  ASSERT_EQ(sequences.size(), 3u);
  EXPECT_EQ(sequences[0].match_length, 18u);
  EXPECT_EQ(sequences[1].match_length, 18u);
}

TEST(OptimalParse, SegmentsCostNextToNothingOnRealFiles) {
  const auto folder = corpora();
  if (!folder) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    const Bytes bytes = read_file(*folder / "silesia" / name, 2 << 20);
    std::uint64_t lz4_segments = 0, lz4_exact = 0, flat_segments = 0, flat_exact = 0;
    for (std::size_t begin = 0; begin < bytes.size(); begin += 65536) {
      const auto block = std::span(bytes).subspan(begin, std::min<std::size_t>(65536, bytes.size() - begin));
      const MatchRecords records = found(block);
      const auto cost = [&](const BlockPlan& plan, const auto& model, bool exact) {
        const ParseInput input{records, plan};
        const Sequences sequences = exact ? parse_optimal_exact(input, model) : parse_optimal(input, model);
        return parse_cost(sequences, model);
      };
      lz4_segments += cost(lz4_block_plan(), Lz4CostModel{}, false);
      lz4_exact += cost(lz4_block_plan(), Lz4CostModel{}, true);
      flat_segments += cost(lzss_block_plan(5, 258), FullLengthCostModel{}, false);
      flat_exact += cost(lzss_block_plan(5, 258), FullLengthCostModel{}, true);
    }
    EXPECT_LE(static_cast<double>(lz4_segments), static_cast<double>(lz4_exact) * 1.0001) << name;
    EXPECT_LE(static_cast<double>(flat_segments), static_cast<double>(flat_exact) * 1.0001) << name;
  }
}

TEST(LazyParse, WaitsForALongerMatchAtTheNextPosition) {
  MatchRecords records(40, 0);
  records[5] = pack_match(5, 6);
  records[6] = pack_match(2, 7);
  const BlockPlan plan = lzss_block_plan(4, 258);
  EXPECT_EQ(parse_greedy({records, plan})[0].literal_count, 5u);
  EXPECT_EQ(parse_lazy({records, plan})[0].literal_count, 6u);
  EXPECT_EQ(parse_lazy({records, plan}, 7)[0].literal_count, 6u);
  EXPECT_EQ(parse_lazy({records, plan}, 6)[0].literal_count, 5u);  // 6 bytes are enough to be taken at once
}

TEST(LazyParse, TakesTheFirstOfTwoEquallyLongMatches) {
  MatchRecords records(40, 0);
  records[5] = pack_match(5, 6);
  records[6] = pack_match(2, 6);
  EXPECT_EQ(parse_lazy({records, lzss_block_plan(4, 258)})[0].literal_count, 5u);
}

TEST(Lz4Cost, IsTheGrowthOfTheEncodedBlock) {
  const Lz4CostModel model;
  for (std::uint32_t length = 4; length < 1000; ++length)
    ASSERT_EQ(model.match_cost(length), (lz4_sequence_bytes(0, length)) * 8 * kCostUnitsPerBit) << length;
  EXPECT_EQ(model.literal_cost(), 8 * kCostUnitsPerBit);
}

}  // namespace
}  // namespace hemstitch
