// The exhaustive and the cooperative finders, each against a second version of its definition.
#include "match/finders.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "hemstitch/finder_numbers.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::finder_cases;
using testing::FinderCase;

// How many bytes equal those at this offset before them: one more than from the next byte on, or none. It
// stores a row of numbers for each offset, so it has nothing in common with the twins, which compare bytes at
// each position.
class NaiveLengths {
 public:
  explicit NaiveLengths(const testing::Bytes& data) : size_(data.size()), lengths_(size_ * (size_ + 1)) {
    for (std::size_t offset = 1; offset < size_; ++offset)
      for (std::size_t position = size_; position-- > offset;)
        lengths_[offset * (size_ + 1) + position] =
            data[position] == data[position - offset]
                ? static_cast<std::uint16_t>(lengths_[offset * (size_ + 1) + position + 1] + 1)
                : std::uint16_t{0};
  }
  // 0 for an offset that reaches before the data.
  std::uint32_t at(std::size_t position, std::size_t offset, std::uint32_t max) const {
    return offset > position ? 0 : std::min<std::uint32_t>(max, lengths_[offset * (size_ + 1) + position]);
  }

 private:
  std::size_t size_;
  std::vector<std::uint16_t> lengths_;
};

Match naive_best(const NaiveLengths& lengths, std::size_t position, const std::vector<std::uint32_t>& offsets,
                 const FinderParameters& parameters) {
  Match best;
  for (const std::uint32_t offset : offsets) {
    if (offset > position) continue;
    const std::uint32_t length = lengths.at(position, offset, parameters.max_match_len);
    if (length < parameters.min_match_len) continue;
    if (length > best.length || (length == best.length && offset < best.offset)) best = {offset, length};
  }
  return best;
}

MatchRecords naive_exhaustive(const FinderCase& input, const NaiveLengths& lengths,
                              const FinderParameters& parameters) {
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t offset = 1; offset <= parameters.window_size && offset < input.data.size(); ++offset)
    offsets.push_back(offset);
  MatchRecords records;
  for (std::size_t position = input.history_bytes; position < input.data.size(); ++position) {
    const Match best = naive_best(lengths, position, offsets, parameters);
    records.push_back(pack_match(best.offset, best.length));
  }
  return records;
}

std::vector<FinderParameters> exhaustive_parameters() {
  return {{.window_size = 1},
          {.window_size = 8},
          {.min_match_len = 3, .window_size = 300},
          {.min_match_len = 4, .max_match_len = 4, .window_size = 700},
          {.min_match_len = 9, .max_match_len = 1000, .window_size = 1500},
          {.max_match_len = 130, .window_size = 65535}};
}

void expect_same(const MatchRecords& expected, const MatchRecords& actual, const std::string& what) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(expected[i], actual[i])
        << what << ", position " << i << ": (" << record_offset(actual[i]) << ", " << record_length(actual[i])
        << ") instead of (" << record_offset(expected[i]) << ", " << record_length(expected[i]) << ")";
}

std::string text_of(const FinderParameters& p) {
  return " min " + std::to_string(p.min_match_len) + " max " + std::to_string(p.max_match_len) + " window " +
         std::to_string(p.window_size) + " stride " + std::to_string(p.stride) + " near " +
         std::to_string(p.near_range) + " origin " + std::to_string(p.band_origin) + " top " +
         std::to_string(p.top_k) + " good " + std::to_string(p.good_match_len);
}

TEST(BruteForce, EqualsTheDoubleLoop) {
  for (const FinderCase& input : finder_cases(1600)) {
    const NaiveLengths lengths(input.data);
    for (const FinderParameters& parameters : exhaustive_parameters()) {
      FindCounters counters;
      const MatchRecords records = brute_force_reference(input.input(), parameters, counters);
      expect_same(naive_exhaustive(input, lengths, parameters), records, input.name + text_of(parameters));
    }
  }
}

TEST(BruteForce, CountsTheProbesOfTheDefinition) {
  const FinderCase input{"copies", testing::copied_bytes(1000, 1), 100};
  FindCounters counters;
  brute_force_reference(input.input(), {.window_size = 150}, counters);
  EXPECT_EQ(counters.probes, (100u + 149u) * 50u / 2 + 850u * 150u);
}

// Pieces that are searched separately must join without a seam, with any window.
TEST(BruteForce, PiecesDoNotShow) {
  const FinderCase whole{"copies", testing::copied_bytes(1'100'000, 11), 0};
  const FinderParameters parameters{.window_size = 65535};
  FindCounters counters;
  const MatchRecords records = brute_force_reference(whole.input(), parameters, counters);
  EXPECT_FALSE(first_wrong_record(whole.input(), records));
  // The same data with another cut: the pieces begin at other positions.
  const FinderCase shifted{"copies", whole.data, 123'456};
  const MatchRecords rest = brute_force_reference(shifted.input(), parameters, counters);
  expect_same(MatchRecords(records.begin() + 123'456, records.end()), rest, "after 123456 bytes");
}

TEST(LazyScan, EqualsItsDefinition) {
  const std::vector<FinderParameters> sets = {
      {.window_size = 1000, .near_range = 100, .far_step = 8},
      {.window_size = 500, .near_range = 0, .far_step = 3},
      {.window_size = 50, .near_range = 200, .far_step = 8},
      {.window_size = 65535, .near_range = 7, .far_step = 97},
      {.min_match_len = 3, .window_size = 900, .near_range = 30, .far_step = 1}};
  for (const FinderCase& input : finder_cases(1800)) {
    const NaiveLengths lengths(input.data);
    for (const FinderParameters& parameters : sets) {
      std::vector<std::uint32_t> offsets;
      for (std::uint32_t offset = 1; offset <= parameters.window_size && offset < input.data.size(); ++offset)
        if (offset <= parameters.near_range || (offset - parameters.near_range) % parameters.far_step == 0)
          offsets.push_back(offset);
      MatchRecords expected;
      for (std::size_t position = input.history_bytes; position < input.data.size(); ++position) {
        const Match best = naive_best(lengths, position, offsets, parameters);
        expected.push_back(pack_match(best.offset, best.length));
      }
      FindCounters counters;
      expect_same(expected, lazy_scan_reference(input.input(), parameters, counters),
                  input.name + text_of(parameters));
    }
  }
}

TEST(LazyScan, EndsAtAGoodMatch) {
  // 40 bytes repeat from 100 back, and 60 bytes that begin with the same 40 repeat from 200 back.
  FinderCase input{"good", testing::random_bytes(260, 9), 0};
  std::copy_n(input.data.begin(), 60, input.data.begin() + 200);
  std::copy_n(input.data.begin(), 40, input.data.begin() + 100);
  FinderParameters parameters{.window_size = 250, .near_range = 250, .good_match_len = 40};
  FindCounters counters;
  MatchRecords records = lazy_scan_reference(input.input(), parameters, counters);
  EXPECT_EQ(records[200], pack_match(100, 40));
  parameters.good_match_len = 41;
  records = lazy_scan_reference(input.input(), parameters, counters);
  EXPECT_EQ(records[200], pack_match(200, 60));
}

// The definition of founding document 000 (docs/founding.md), as plainly as possible: with sets and sorting
// instead of bands that skip and lists that insert.
struct NaiveStitch {
  const FinderCase& input;
  const NaiveLengths& lengths;
  const FinderParameters& parameters;

  std::vector<Match> phase_a(std::size_t position, std::uint32_t thread, std::vector<Match>& shown) const {
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t offset = 1; offset <= parameters.near_range; ++offset) offsets.push_back(offset);
    const std::uint32_t before_band = parameters.band_origin + thread * parameters.stride;
    for (std::uint32_t i = 1; i <= parameters.window_size; ++i) offsets.push_back(before_band + i);
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());

    std::vector<Match> found;
    for (const std::uint32_t offset : offsets) {
      if (offset > position) continue;
      const std::uint32_t length = lengths.at(position, offset, parameters.max_match_len);
      if (length >= parameters.min_match_len) found.push_back({offset, length});
      if (parameters.good_match_len != 0 && length >= parameters.good_match_len) break;
    }
    std::sort(found.begin(), found.end(), better_match);

    if (parameters.top_k_policy == TopKPolicy::kLongest) {
      shown.assign(found.begin(),
                   found.begin() + std::min<std::ptrdiff_t>(parameters.top_k, std::ssize(found)));
    } else {
      const std::uint32_t width = (parameters.window_size + parameters.top_k - 1) / parameters.top_k;
      for (std::uint32_t bucket = 0; bucket < parameters.top_k; ++bucket)
        for (const Match& match : found)  // the first of the bucket is its best
          if (match.offset > before_band && match.offset <= before_band + parameters.window_size &&
              (match.offset - before_band - 1) / width == bucket) {
            shown.push_back(match);
            break;
          }
    }
    return found;
  }

  MatchRecords records() const {
    MatchRecords result;
    const std::size_t block_bytes = input.data.size() - input.history_bytes;
    for (std::size_t group = 0; group < block_bytes; group += 64) {
      const std::size_t count = std::min<std::size_t>(64, block_bytes - group);
      std::vector<std::vector<Match>> own(count), shown(count);
      for (std::uint32_t t = 0; t < count; ++t)
        own[t] = phase_a(input.history_bytes + group + t, t, shown[t]);
      for (std::uint32_t t = 0; t < count; ++t) {
        std::vector<Match> matches = own[t];
        const bool good = parameters.good_match_len != 0 && !matches.empty() &&
                          matches.front().length >= parameters.good_match_len;
        if (parameters.stitch && !good)
          for (std::uint32_t other = 0; other < count; ++other)
            for (const Match& hint : shown[other]) {
              const std::size_t position = input.history_bytes + group + t;
              if (other == t || hint.offset > position) continue;
              const std::uint32_t length = lengths.at(position, hint.offset, parameters.max_match_len);
              if (length >= parameters.min_match_len) matches.push_back({hint.offset, length});
            }
        std::sort(matches.begin(), matches.end(), better_match);
        result.push_back(matches.empty() ? 0 : pack_match(matches.front().offset, matches.front().length));
      }
    }
    return result;
  }
};

std::vector<FinderParameters> stitch_parameters() {
  std::vector<FinderParameters> sets = {
      {.window_size = 16, .stride = 8, .near_range = 8},
      {.window_size = 16, .stride = 16, .near_range = 4, .top_k = 1},
      {.window_size = 10, .stride = 31, .near_range = 0, .top_k = 16},
      {.min_match_len = 3, .window_size = 7, .stride = 7, .near_range = 40, .top_k = 3},
      {.min_match_len = 3,
       .window_size = 24,
       .stride = 24,
       .near_range = 64,
       .band_origin = 64,
       .good_match_len = 20},
      {.max_match_len = 12, .window_size = 20, .stride = 5, .near_range = 12, .good_match_len = 12},
      {.window_size = 64, .stride = 16, .near_range = 16, .stitch = false},
  };
  for (std::size_t i = 0, count = sets.size(); i < count; ++i) {
    sets.push_back(sets[i]);
    sets.back().top_k_policy = TopKPolicy::kLongestPerBucket;
  }
  return sets;
}

TEST(CoopStitch, EqualsTheDocumentsWords) {
  for (const FinderCase& input : finder_cases(1500)) {
    const NaiveLengths lengths(input.data);
    for (const FinderParameters& parameters : stitch_parameters())
      expect_same(NaiveStitch{input, lengths, parameters}.records(),
                  coop_stitch_reference(input.input(), parameters).records, input.name + text_of(parameters));
  }
}

TEST(CoopStitch, PresetsEqualTheDocumentsWords) {
  const FinderCase input{"copies", testing::copied_bytes(6000, 21), 5000};
  const NaiveLengths lengths(input.data);
  for (const std::string_view name : finder_preset_names())
    expect_same(NaiveStitch{input, lengths, finder_preset(name)}.records(),
                coop_stitch_reference(input.input(), finder_preset(name)).records, std::string(name));
}

TEST(CoopStitch, PhaseAAloneIsTheResultWithoutStitch) {
  for (const FinderCase& input : finder_cases(1500)) {
    FinderParameters parameters{.window_size = 16, .stride = 8, .near_range = 8};
    const CoopStitchResult with = coop_stitch_reference(input.input(), parameters);
    parameters.stitch = false;
    const CoopStitchResult without = coop_stitch_reference(input.input(), parameters);
    expect_same(without.records, with.before_stitch, input.name);
    expect_same(without.records, without.before_stitch, input.name);
    EXPECT_EQ(without.counters.stitch_probes, 0u);
  }
}

TEST(CoopStitch, CarriesAnOffsetToItsNeighbours) {
  // A repetition 3000 bytes back: only the position whose band includes 3000 can find it alone.
  FinderCase input{"one repetition", testing::random_bytes(6400, 31), 0};
  std::copy_n(input.data.begin() + 3328 - 3000, 64, input.data.begin() + 3328);
  const FinderParameters parameters{.window_size = 64, .stride = 64, .near_range = 16};
  const CoopStitchResult result = coop_stitch_reference(input.input(), parameters);
  std::size_t before = 0, after = 0;
  for (std::size_t position = 3328; position < 3328 + 60; ++position) {
    before += record_offset(result.before_stitch[position]) == 3000;
    after += record_offset(result.records[position]) == 3000;
  }
  EXPECT_EQ(before, 1u);  // position 46 of the group: 46 * 64 + 1 .. 47 * 64 holds 3000
  EXPECT_EQ(after, 60u);
}

TEST(CoopStitch, CountsProbesAndRepetitions) {
  // All equal: from position 200 on, every offset matches, so every list is full. min_match_len keeps phase A
  // complete.
  const FinderCase input{"equal", std::vector<std::byte>(4096, std::byte{1}), 2048};
  const FinderParameters parameters{
      .max_match_len = 10, .window_size = 16, .stride = 8, .near_range = 8, .top_k = 4};
  const CoopStitchResult result = coop_stitch_reference(input.input(), parameters);
  const std::uint64_t positions = 2048;
  // 8 near offsets and 16 in the band; at position 0 of a group, 8 of them are the same.
  const std::uint64_t own_probes = positions * 24 - positions / 64 * 8;
  EXPECT_EQ(result.counters.probes - result.counters.stitch_probes, own_probes);
  // The last 4 positions have no room for a match of 5 bytes, so their lists are empty.
  EXPECT_EQ(result.counters.stitch_probes, (positions - 4) * 63 * 4);
  // Of equal lengths the smallest offset wins, so each list is 1..4, which is in the near range of every
  // position.
  EXPECT_EQ(result.counters.repeated_probes, result.counters.stitch_probes);
  EXPECT_EQ(result.records[0], pack_match(1, 10));
  EXPECT_GT(result.counters.byte_comparisons, result.counters.probes);
}

TEST(CoopStitch, PlanTellsCoverageAndGaps) {
  const CoopStitchPlan four = coop_stitch_plan(finder_preset("4k"));
  EXPECT_EQ(four.largest_offset, 4288u);
  EXPECT_EQ(four.covered_offset_count, 4288u);
  EXPECT_TRUE(four.gaps.empty());
  EXPECT_EQ(four.probes(), 572u);
  EXPECT_EQ(four.workgroup_bytes, 1024u);
  EXPECT_NE(four.text().find("4288"), std::string::npos);

  const CoopStitchPlan gaps = coop_stitch_plan(finder_preset("32k-gaps"));
  EXPECT_EQ(gaps.largest_offset, 32512u);
  ASSERT_EQ(gaps.gaps.size(), 63u);
  EXPECT_EQ(gaps.gaps.front().first_offset, 257u);
  EXPECT_EQ(gaps.gaps.front().last_offset, 512u);
  EXPECT_EQ(gaps.covered_offset_count, 32512u - 63u * 256u);
  EXPECT_NE(gaps.text().find("257 to 512"), std::string::npos);

  const CoopStitchPlan near = coop_stitch_plan(finder_preset("near-1k"));
  EXPECT_EQ(near.largest_offset, 33792u);
  EXPECT_EQ(near.covered_offset_count, 33792u);
  EXPECT_EQ(near.probes(), 1788u);
}

// The inverse definition: brute force, except inside runs.
MatchRecords naive_window_index(const FinderCase& input, const NaiveLengths& lengths,
                                const FinderParameters& parameters) {
  MatchRecords records = naive_exhaustive(input, lengths, parameters);
  std::vector<std::uint32_t> near;
  for (std::uint32_t offset = 1; offset <= std::min(8u, parameters.window_size); ++offset)
    near.push_back(offset);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Match run = naive_best(lengths, input.history_bytes + i, near, parameters);
    if (run.length >= 128) records[i] = pack_match(run.offset, run.length);
  }
  return records;
}

TEST(WindowIndex, EqualsTheExhaustiveSearchOutsideRuns) {
  for (const FinderCase& input : finder_cases(1600)) {
    const NaiveLengths lengths(input.data);
    for (const FinderParameters& parameters : exhaustive_parameters()) {
      const MatchRecords expected = naive_window_index(input, lengths, parameters);
      for (const std::uint32_t group_positions : {64u, 100u, 1024u}) {
        FindCounters counters;
        expect_same(expected, window_index_reference(input.input(), parameters, counters, group_positions),
                    input.name + text_of(parameters) + " group " + std::to_string(group_positions));
      }
    }
  }
}

TEST(WindowIndex, ARunOf128BytesEndsTheSearch) {
  // Twice 129 equal bytes, each time followed by the same 60. From the second equal byte on, the run at
  // offset 1 is 128, 127, .. bytes long, and the repetition 188, 187, ..
  std::vector<std::byte> piece(129, std::byte{1});
  const std::vector<std::byte> tail = testing::random_bytes(60, 5, 200);
  piece.insert(piece.end(), tail.begin(), tail.end());
  FinderCase input{"two runs", piece, 0};
  const std::vector<std::byte> between = testing::random_bytes(500, 6);
  input.data.insert(input.data.end(), between.begin(), between.end());
  const std::size_t second = input.data.size();
  const auto offset = static_cast<std::uint32_t>(second);
  input.data.insert(input.data.end(), piece.begin(), piece.end());
  FindCounters counters;
  const MatchRecords records = window_index_reference(input.input(), {.window_size = 4096}, counters);
  EXPECT_EQ(records[second], pack_match(offset, 189));
  EXPECT_EQ(records[second + 1], pack_match(1, 128));
  EXPECT_EQ(records[second + 2], pack_match(offset, 187));
}

TEST(WindowIndex, RunsAreNotIndexed) {
  const FinderCase input{"equal", std::vector<std::byte>(50'000, std::byte{7}), 0};
  FindCounters counters;
  window_index_reference(input.input(), {.window_size = 4096}, counters);
  EXPECT_LT(counters.probes, 50'000u * 8 + 130u * 4096u);
}

TEST(Finders, OnRealTextAllMatchesAreRight) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  const std::vector<std::byte> text = testing::read_file(*folder / "canterbury" / "alice29.txt");
  const FinderInput input{text, 0};
  const auto find = [&](Finder finder, const FinderParameters& parameters) {
    return find_reference(checked_finder(row_of(finder), parameters), input).records;
  };
  FinderParameters parameters{.window_size = 4096};
  const MatchRecords exhaustive = find(Finder::kBruteForce, parameters);
  EXPECT_FALSE(first_wrong_record(input, exhaustive));
  EXPECT_EQ(exhaustive, find(Finder::kWindowIndex, parameters));
  parameters.near_range = 1024;
  EXPECT_FALSE(first_wrong_record(input, find(Finder::kLazyScan, parameters)));
  EXPECT_FALSE(first_wrong_record(input, find(Finder::kCoopStitch, {})));
}

// The table is made from the finders' own parameters. What it says of each must hold when the finder is
// chosen by name.
TEST(Finders, EveryRowFindsWithWhatItSays) {
  const std::vector<std::byte> page = testing::copied_bytes(4096, 5);
  EXPECT_EQ(finder_names(), (std::vector<std::string_view>{"brute_force", "lazy_scan", "coop_stitch",
                                                           "window_index", "hash_chain", "hash_pairs"}));
  for (const FinderRow& row : finder_rows()) {
    EXPECT_EQ(&row_named(row.name), &row);
    const AnyFinder finder = checked_finder(row, row.defaults());
    EXPECT_EQ(&row_of(finder), &row) << row.name;
    const FoundMatches found = find_reference(finder, {page, 0});
    EXPECT_EQ(found.records.size(), page.size()) << row.name;
    EXPECT_GT(std::count_if(found.records.begin(), found.records.end(), [](MatchRecord r) { return r != 0; }),
              1000)
        << row.name;
    EXPECT_FALSE(first_wrong_record({page, 0}, found.records)) << row.name;
    EXPECT_EQ(found.counters.has_value(), row.counts) << row.name;
    EXPECT_EQ(found.before_stitch.has_value(), row.keeps_before_stitch) << row.name;
  }
  EXPECT_THROW(row_named("stitch"), Error);
}

// Each field must reach the finders that use it, and a finder must use only the fields that its row names.
TEST(Finders, RowsNameTheFieldsThatTheirFindersRead) {
  const std::vector<std::byte> block = testing::copied_bytes(20'000, 6);
  const std::pair<const char*, void (*)(FinderParameters&)> changes[] = {
      {"window_size", [](auto& p) { p.window_size = 40; }},
      {"stride", [](auto& p) { p.stride = 9; }},
      {"near_range", [](auto& p) { p.near_range = 3; }},
      {"band_origin", [](auto& p) { p.band_origin = 30; }},
      {"top_k", [](auto& p) { p.top_k = 1; }},
      {"top_k_policy", [](auto& p) { p.top_k_policy = TopKPolicy::kLongestPerBucket; }},
      {"stitch", [](auto& p) { p.stitch = false; }},
      {"good_match_len", [](auto& p) { p.good_match_len = 5; }},
      {"far_step", [](auto& p) { p.far_step = 3; }},
      {"hash_bits", [](auto& p) { p.hash_bits = 8; }},
      {"cap_bytes", [](auto& p) { p.cap_bytes = 4; }},
      {"depth", [](auto& p) { p.depth = 1; }},
      {"stitch_reach", [](auto& p) { p.stitch_reach = 1; }},
      {"hash_bytes", [](auto& p) { p.hash_bytes = 6; }}};
  const FinderParameters usual{.window_size = 900, .depth = 2};
  for (const FinderRow& row : finder_rows()) {
    const auto find = [&](const FinderParameters& parameters) {
      return find_reference(checked_finder(row, parameters), {block, 0}).records;
    };
    const MatchRecords expected = find(usual);
    for (const auto& [field, change] : changes) {
      FinderParameters parameters = usual;
      change(parameters);
      EXPECT_EQ(find(parameters) != expected, row.reads(field)) << row.name << " " << field;
    }
  }
}

// Only blocks with few values show the effect of this field.
TEST(Finders, AWidthForFewValuesReachesItsFinder) {
  const std::vector<std::byte> letters = testing::random_bytes(20'000, 6, 4);
  for (const FinderRow& row : finder_rows()) {
    const auto find = [&](std::uint32_t few_values_hash_bytes) {
      FinderParameters parameters{.window_size = 900, .depth = 2};
      parameters.few_values_hash_bytes = few_values_hash_bytes;
      return find_reference(checked_finder(row, parameters), {letters, 0}).records;
    };
    EXPECT_EQ(find(8) != find(0), row.reads("few_values_hash_bytes")) << row.name;
  }
}

TEST(FirstWrongRecord, FindsEveryKindOfLie) {
  // The period continues after the end of the data, so only the size shows that a match ends too late.
  const std::vector<std::byte> bytes = testing::periodic_bytes(320, 10);
  const FinderInput input{std::span(bytes).first(300), 0};
  const MatchRecords none(300, 0);
  EXPECT_FALSE(first_wrong_record(input, none));
  const auto is_found = [&](std::size_t position, MatchRecord record) {
    MatchRecords records = none;
    records[position] = record;
    return first_wrong_record(input, records) == position;
  };
  EXPECT_FALSE(is_found(20, pack_match(10, 30)));
  EXPECT_FALSE(is_found(290, pack_match(10, 10)));
  EXPECT_TRUE(is_found(20, pack_match(9, 30)));        // other bytes
  EXPECT_TRUE(is_found(20, pack_match(21, 3)));        // before the data
  EXPECT_TRUE(is_found(290, pack_match(10, 11)));      // past its end
  EXPECT_TRUE(is_found(20, 30));                       // offset 0
  EXPECT_TRUE(is_found(20, std::uint32_t{10} << 16));  // length 0
}

TEST(Finders, EveryNumberHasItsNameOnce) {
  FinderParameters parameters;
  std::set<std::string_view> names;
  std::set<const std::uint32_t*> members;
  for (const FinderNumber& number : finder_numbers()) {
    names.insert(number.name);
    members.insert(&(parameters.*number.member));
  }
  EXPECT_EQ(names.size(), finder_numbers().size());
  EXPECT_EQ(members.size(), finder_numbers().size());
  // All members but top_k_policy, and stitch with its padding, have a name.
  EXPECT_EQ((members.size() + 2) * sizeof(std::uint32_t), sizeof(FinderParameters));
}

}  // namespace
}  // namespace hemstitch
