// The tools that judge finders: costs, counts, descriptions, and the map.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <tuple>

#include "core/status.hpp"
#include "core/xml_text.hpp"
#include "evaluate/analysis.hpp"
#include "evaluate/evaluation.hpp"
#include "format/formats.hpp"
#include "match/common/scan_offsets.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

// Tries every way to cover the input.
std::uint64_t cheapest(const MatchRecords& records, const FinderParameters& p, std::size_t position,
                       bool all_lengths) {
  if (position == records.size()) return 0;
  std::uint64_t best = p.literal_cost + cheapest(records, p, position + 1, all_lengths);
  const std::uint32_t longest = std::min(record_length(records[position]), p.max_match_len);
  for (std::uint32_t length = p.min_match_len; length <= longest; ++length)
    if (all_lengths || length == longest)
      best = std::min(best, p.match_fixed_cost + cheapest(records, p, position + length, all_lengths));
  return best;
}

TEST(Evaluation, CostsAreTheCheapestOfAllParses) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<std::byte> data = testing::random_bytes(14, seed, 2);
    const FinderParameters parameters{
        .min_match_len = 3, .max_match_len = 6, .window_size = 14, .match_fixed_cost = 15 + seed % 15};
    FindCounters counters;
    const MatchRecords records = brute_force_reference({data, 0}, parameters, counters);
    EXPECT_EQ(cost_all_lengths_bits(records, parameters), cheapest(records, parameters, 0, true)) << seed;
    const ParseFigures figures = parse_figures({}, records, parameters);
    EXPECT_DOUBLE_EQ(figures.cost * 8 * 14, static_cast<double>(cheapest(records, parameters, 0, false)))
        << seed;
    EXPECT_EQ(figures.literal_count + figures.matched_bytes, 14u);
  }
}

// With matches of all lengths, the optimum needs only the longest match at each position.
TEST(Evaluation, AWiderWindowNeverCostsMore) {
  const std::vector<std::byte> data = testing::copied_bytes(20'000, 3);
  double before = 2;
  for (const std::uint32_t window : {16u, 256u, 4096u, 65535u}) {
    const double cost = optimum(data, window, {}).figures.cost_all_lengths.value();
    EXPECT_LT(cost, before) << window;
    before = cost;
  }
}

// With a format, the cost is a size. It must be close to zlib's, which has as many matches but another parse.
TEST(Evaluation, JudgesByTheCostsOfAFormat) {
  const std::vector<std::byte> data = testing::wordy_bytes(300'000);
  const FinderChoice choice = choose_finder("hash_chain:depth=64:min_match_len=3");
  const auto judged_by = [&](Format format) {
    return judge(data, choice.find({data, 0}), choice.parameters, &FormatTable::instance().of(format));
  };
  uLongf zlib_bytes = compressBound(data.size());
  std::vector<Bytef> packed(zlib_bytes);
  ASSERT_EQ(
      compress2(packed.data(), &zlib_bytes, reinterpret_cast<const Bytef*>(data.data()), data.size(), 9),
      Z_OK);
  const JudgedMatches gzip = judged_by(Format::kGzip), bgzf = judged_by(Format::kBgzf),
                      lz4 = judged_by(Format::kLz4);
  EXPECT_NEAR(double(gzip.bits) / 8 / double(zlib_bytes), 1, 0.1);
  EXPECT_EQ(judged_by(Format::kZlib).bits, gzip.bits);
  EXPECT_EQ(judged_by(Format::kDeflate).bits, gzip.bits);
  EXPECT_GT(bgzf.bits, gzip.bits);
  EXPECT_GT(lz4.bits, gzip.bits);
  for (const auto& [judged, most_offset, chunk_bytes] :
       {std::tuple{&gzip, 32768u, std::size_t{65536}}, {&bgzf, 32768u, 65280}, {&lz4, 65535u, data.size()}}) {
    ASSERT_FALSE(judged->matches.empty());
    for (const PositionedMatch& match : judged->matches) {
      EXPECT_LE(match.offset, most_offset);
      EXPECT_LE(match.position % chunk_bytes + match.length, chunk_bytes);
      if (judged == &bgzf) {
        EXPECT_LE(match.offset, match.position % chunk_bytes);
      }
      EXPECT_TRUE(std::equal(data.begin() + match.position, data.begin() + match.position + match.length,
                             data.begin() + match.position - match.offset));
    }
  }
}

TEST(Evaluation, TellsBothSidesOfTheStitch) {
  const std::vector<std::byte> data = testing::copied_bytes(30'000, 4);
  const Evaluation with = evaluate(data, choose_finder("coop_stitch:16k"));
  const Evaluation without = evaluate(data, choose_finder("coop_stitch:16k:stitch=off"));
  EXPECT_TRUE(with.verified);
  ASSERT_TRUE(with.without_stitch);
  EXPECT_FALSE(without.without_stitch);
  EXPECT_EQ(with.without_stitch->cost, without.figures.cost);
  EXPECT_LT(with.figures.cost, without.figures.cost);
  EXPECT_GT(with.counters->stitch_probes, 0u);
  EXPECT_EQ(without.counters->stitch_probes, 0u);
  EXPECT_EQ(with.latency_bytes, 30'000u);
  EXPECT_GT(with.warm_seconds, 0);

  const Evaluation chain = evaluate(data, choose_finder("hash_chain:depth=1"));
  EXPECT_TRUE(chain.verified);
  EXPECT_FALSE(chain.counters);
  ASSERT_TRUE(chain.without_stitch);
  EXPECT_LT(chain.figures.cost, chain.without_stitch->cost);
}

TEST(FinderChoice, ReadsDescriptions) {
  const FinderChoice choice =
      choose_finder("coop_stitch:near-1k:top_k=8:top_k_policy=bucket:min_match_len=5:stitch=off");
  EXPECT_EQ(choice.parameters.near_range, 1024u);
  EXPECT_EQ(choice.parameters.top_k, 8u);
  EXPECT_EQ(choice.parameters.min_match_len, 5u);
  EXPECT_EQ(choice.parameters.top_k_policy, TopKPolicy::kLongestPerBucket);
  EXPECT_FALSE(choice.parameters.stitch);
  EXPECT_EQ(choose_finder("hash_chain:depth=3").parameters.depth, 3u);
  EXPECT_EQ(choose_finder("level:12").parameters.depth, 64u);
  EXPECT_EQ(choose_finder("level:1").parameters.depth, 1u);
  EXPECT_EQ(choose_finder("window_index").parameters.window_size, 4096u);
}

TEST(FinderChoice, SearchesWhereItIsTold) {
  EXPECT_EQ(choose_finder("coop_stitch").backend, "reference");
  EXPECT_EQ(choose_finder("window_index:backend=reference").backend, "reference");
  try {
    choose_finder("window_index:backend=abacus");
    ADD_FAILURE() << "the abacus was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUnknownBackend);
  }
}

TEST(FinderChoice, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "window_index"},
      {"stitch", "'stitch'"},
      {"coop_stitch:5k", "'5k'"},
      {"window_index:4k", "'4k'"},
      {"level:13", "13"},
      {"level", "'level'"},
      {"level:x", "'x'"},
      {"brute_force:window_size=70000", "window_size"},
      {"brute_force:window_size=", "window_size="},
      {"brute_force:window_size=1k", "'1k'"},
      {"brute_force:window_size=-1", "'-1'"},
      {"brute_force:depth=4", "'depth'"},
      {"brute_force:size=4", "'size'"},
      {"coop_stitch:stitch=maybe", "'maybe'"},
      {"coop_stitch:top_k_policy=", "longest"},
  };
  for (const auto& [description, named] : cases) {
    try {
      choose_finder(description);
      ADD_FAILURE() << description << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption) << description;
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos)
          << description << ": " << error.what();
    }
  }
}

TEST(FinderChoice, RecordsWhatAFinderReads) {
  const auto names = [](const char* description) {
    std::string text;
    for (const auto& [name, value] : parameters_read(choose_finder(description)))
      text += std::string(name) + "=" + std::to_string(value) + " ";
    return text;
  };
  EXPECT_EQ(names("hash_chain").find("stride"), std::string::npos);
  EXPECT_NE(names("hash_chain:depth=7").find("depth=7 "), std::string::npos);
  EXPECT_NE(names("coop_stitch:32k").find("stride=512 "), std::string::npos);
  EXPECT_NE(names("lazy_scan").find("far_step=8 "), std::string::npos);
}

TEST(Analysis, ClassesHaveTheirEdges) {
  EXPECT_EQ(distance_class(1), 0u);
  EXPECT_EQ(distance_class(1024), 0u);
  EXPECT_EQ(distance_class(1025), 1u);
  EXPECT_EQ(distance_class(32768), 3u);
  EXPECT_EQ(distance_class(65535), 4u);
  EXPECT_EQ(length_class(3), 0u);
  EXPECT_EQ(length_class(5), 1u);
  EXPECT_EQ(length_class(128), 5u);
  EXPECT_EQ(length_class(258), 6u);
}

TEST(Analysis, SharesAddUp) {
  const std::vector<std::byte> data = testing::copied_bytes(50'000, 5);
  const FinderChoice choice = choose_finder("brute_force:window_size=65535");
  const MatchAnalysis analysis = analyze(data, choice, choice.find({data, 0}));
  MatchShare by_distance, by_length;
  for (const MatchShare& share : analysis.by_distance) {
    by_distance.match_count += share.match_count;
    by_distance.matched_bytes += share.matched_bytes;
  }
  for (const MatchShare& share : analysis.by_length) {
    by_length.match_count += share.match_count;
    by_length.matched_bytes += share.matched_bytes;
  }
  EXPECT_EQ(by_distance.match_count, analysis.matches.size());
  EXPECT_EQ(by_length.match_count, analysis.matches.size());
  EXPECT_EQ(by_distance.matched_bytes, by_length.matched_bytes);
  EXPECT_EQ(by_distance.matched_bytes + analysis.literal_count, data.size());
  EXPECT_DOUBLE_EQ(analysis.cost, evaluate(data, choice).figures.cost);
}

TEST(Analysis, ComparesCandidatesAsTheParseSeesThem) {
  const FinderParameters parameters;
  const MatchRecords first = {pack_match(1, 9), pack_match(2, 4), 0, pack_match(3, 300), pack_match(1, 5)};
  const MatchRecords second = {pack_match(1, 8), 0, pack_match(7, 5), pack_match(9, 258), pack_match(8, 5)};
  const FinderComparison comparison = compare_candidates(first, second, parameters);
  EXPECT_EQ(comparison.longer, 1u);
  EXPECT_EQ(comparison.shorter, 1u);
  EXPECT_EQ(comparison.equal, 3u);  // 4 is too short to count, 300 is cut to 258
}

TEST(Analysis, TheMapIsDrawnForAnyFile) {
  const FinderChoice choice = choose_finder("window_index");
  for (const testing::FinderCase& input : testing::finder_cases(3000)) {
    if (input.data.empty()) continue;
    const MatchAnalysis analysis = analyze(input.data, choice, choice.find({input.data, 0}));
    const std::string svg = match_map_svg(analysis, "a<b>&c", input.data.size());
    EXPECT_TRUE(svg.starts_with("<svg ")) << input.name;
    EXPECT_TRUE(svg.ends_with("</svg>\n")) << input.name;
    EXPECT_NE(svg.find("a&lt;b&gt;&amp;c"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << input.name;
    EXPECT_EQ(svg.find("inf\""), std::string::npos) << input.name;
  }
}

// What XML takes as it is, what it takes escaped, and what it does not take: control characters, and bytes that are no UTF-8 (too
// long, cut off, surrogates, beyond the last character).
TEST(XmlText, OfAnyBytes) {
  EXPECT_EQ(xml_text(""), "");
  EXPECT_EQ(xml_text("a b\x7f"), "a b\x7f");
  EXPECT_EQ(xml_text("<a href=\"b\">&amp;"), "&lt;a href=\"b\"&gt;&amp;amp;");
  EXPECT_EQ(xml_text("\x01\t\n\x1f"), "????");
  for (const std::string right : {"\xC2\x80", "\xC3\xA4", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                  "\xEE\x80\x80", "\xEF\xBF\xBD", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(xml_text(right), right);
    EXPECT_EQ(xml_text(right + "<" + right), right + "&lt;" + right);
    for (std::size_t cut = 1; cut < right.size(); ++cut)
      EXPECT_EQ(xml_text(right.substr(0, cut) + "a"), std::string(cut, '?') + "a");
  }
  for (const std::string wrong :
       {"\x80", "\xFF", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xEF\xBF\xBE",
        "\xEF\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"})
    EXPECT_EQ(xml_text("a" + wrong + "b"), "a" + std::string(wrong.size(), '?') + "b");
}

TEST(Analysis, RefusesAMatchThatIsNone) {
  const FinderChoice choice = choose_finder("brute_force");
  const std::vector<std::byte> data = testing::bytes_of("abcabcabc?bcabc");
  MatchRecords records = choice.find({data, 0});
  records[10] = pack_match(3, 5);
  EXPECT_THROW(analyze(data, choice, records), Error);
}

TEST(Analysis, TheMapShowsARunAtTheBottom) {
  const std::vector<std::byte> run(3000, std::byte{1});
  const FinderChoice choice = choose_finder("window_index");
  const std::string svg = match_map_svg(analyze(run, choice, choice.find({run, 0})), "run", run.size());
  // The lowest row of the first column, in the colour of the nearest distances.
  EXPECT_NE(svg.find("<rect x=\"84.00\" y=\"411.00\" width=\"3.00\" height=\"5.00\" fill=\"#1d3557\"/>"),
            std::string::npos);
}

TEST(ScanOffsets, StopsAtEveryEqualByte) {
  const std::vector<std::byte> data = testing::random_bytes(400, 77, 3);
  const std::byte* text = data.data() + 200;
  for (std::uint32_t first = 1; first <= 60; ++first)
    for (std::uint32_t last = first - 1; last <= 200; last += 7) {
      std::vector<std::uint32_t> expected, tried;
      for (std::uint32_t offset = first; offset <= last; ++offset)
        if (*(text - offset) == *text) expected.push_back(offset);
      FindCounters counters;
      EXPECT_FALSE(scan_offsets(text, first, last, counters, [&](std::uint32_t offset) {
        tried.push_back(offset);
        return false;
      }));
      ASSERT_EQ(tried, expected) << first << ".." << last;
      EXPECT_EQ(counters.probes, last + 1 - first - expected.size());
    }
}

// Recorded figures on real text, within the required 1%.
TEST(Evaluation, ReproducesTheKnownCostsOfAlice) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  const std::vector<std::byte> alice = testing::read_file(*folder / "canterbury" / "alice29.txt");
  const auto cost = [&](const char* description) {
    return evaluate(alice, choose_finder(description)).figures.cost;
  };
  EXPECT_NEAR(cost("coop_stitch:4k"), 0.908, 0.009);
  EXPECT_NEAR(cost("coop_stitch:4k:stitch=off"), 0.927, 0.009);
  EXPECT_NEAR(cost("coop_stitch:near-1k:min_match_len=5"), 0.707, 0.007);
  EXPECT_NEAR(cost("brute_force:window_size=4288"), 0.644, 0.006);
  EXPECT_NEAR(cost("brute_force:window_size=33792"), 0.476, 0.005);
}

// The criteria of founding document 000 (docs/founding.md): a cost within 5 % of the optimum of its window of 4K, at 40
// probes a byte. The finders that were made for them meet them. Its own design does not, by far.
// `farther`: what the finder that sees 64K may cost at most, as a part of that optimum.
void expect_criteria_of_document_000(const std::vector<std::byte>& text, double farther) {
  const double best = optimum(text, 4096, {}).figures.cost;
  const auto probes_a_byte = [&](const Evaluation& evaluation) {
    return static_cast<double>(evaluation.counters->probes + evaluation.counters->lookups) /
           static_cast<double>(text.size());
  };
  const Evaluation index = evaluate(text, choose_finder("window_index"));
  EXPECT_LE(index.figures.cost, 1.01 * best);
  EXPECT_LE(probes_a_byte(index), 40.0);
  EXPECT_LE(evaluate(text, choose_finder("hash_chain:depth=8")).figures.cost, farther * best);
  const Evaluation own = evaluate(text, choose_finder("coop_stitch:4k"));
  EXPECT_GT(own.figures.cost, 1.05 * best);
  EXPECT_GT(probes_a_byte(own), 40.0);
}

TEST(Evaluation, DocumentsCriteriaOnAMadeText) {
  expect_criteria_of_document_000(testing::wordy_bytes(std::size_t{64} << 10), 0.9);
}

TEST(Evaluation, DocumentsCriteriaOnAlice) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  expect_criteria_of_document_000(testing::read_file(*folder / "canterbury" / "alice29.txt"), 0.8);
}

}  // namespace
}  // namespace hemstitch
