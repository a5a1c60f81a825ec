// The public interface of match finding: what it accepts and returns.
#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <functional>
#include <thread>

#include "hemstitch/match.hpp"
#include "match/finder_parameters.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

using Change = std::function<void(FinderParameters&)>;

TEST(FinderParameters, AFinderThatIsNoneIsRejected) {
  for (const int finder : {-1, 7}) {
    try {
      LzssMatcher({}, static_cast<Finder>(finder));
      ADD_FAILURE() << finder;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      EXPECT_EQ(std::string(error.what()).find("finder is "), 0u) << error.what();
    }
  }
}

TEST(FinderParameters, ARejectedSetNamesTheField) {
  struct Case {
    Finder finder;
    Change change;
    std::string field;
  };
  const std::vector<Case> cases = {
      {Finder::kBruteForce, [](auto& p) { p.min_match_len = 2; }, "min_match_len is 2"},
      {Finder::kBruteForce, [](auto& p) { p.min_match_len = 259; }, "min_match_len is 259"},
      {Finder::kBruteForce, [](auto& p) { p.max_match_len = 65536; }, "max_match_len is 65536"},
      {Finder::kBruteForce, [](auto& p) { p.window_size = 0; }, "window_size is 0"},
      {Finder::kWindowIndex, [](auto& p) { p.window_size = 65536; }, "window_size is 65536"},
      {Finder::kWindowIndex, [](auto& p) { p.literal_cost = 0; }, "literal_cost is 0"},
      {Finder::kWindowIndex, [](auto& p) { p.match_fixed_cost = 4097; }, "match_fixed_cost is 4097"},
      {Finder::kLazyScan, [](auto& p) { p.near_range = 65536; }, "near_range is 65536"},
      {Finder::kLazyScan, [](auto& p) { p.far_step = 0; }, "far_step is 0"},
      {Finder::kLazyScan, [](auto& p) { p.good_match_len = 4; }, "good_match_len is 4"},
      {Finder::kCoopStitch, [](auto& p) { p.good_match_len = 259; }, "good_match_len is 259"},
      {Finder::kCoopStitch, [](auto& p) { p.stride = 0; }, "stride is 0"},
      {Finder::kCoopStitch, [](auto& p) { p.top_k = 0; }, "top_k is 0"},
      {Finder::kCoopStitch, [](auto& p) { p.top_k = 17; }, "top_k is 17"},
      {Finder::kCoopStitch, [](auto& p) { p.top_k_policy = static_cast<TopKPolicy>(2); },
       "top_k_policy is 2"},
      {Finder::kCoopStitch, [](auto& p) { p.stride = 1037; }, "stride is 1037"},
      {Finder::kCoopStitch, [](auto& p) { p.band_origin = 65535 - 63 * 64 - 256 + 1; },
       "band_origin is 61248"},
      {Finder::kCoopStitch, [](auto& p) { p.stride = 0xFFFFFFFFu; }, "stride is 4294967295"},
      {Finder::kCoopStitch, [](auto& p) { p.band_origin = 0xFFFFFFFFu; }, "band_origin is 4294967295"},
  };
  for (const Case& c : cases) {
    FinderParameters parameters;
    EXPECT_NO_THROW(LzssMatcher(parameters, c.finder));
    c.change(parameters);
    try {
      LzssMatcher matcher(parameters, c.finder);
      FAIL() << c.field << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      EXPECT_NE(std::string(error.what()).find(c.field), std::string::npos) << error.what();
    }
  }
}

TEST(FinderParameters, TheLastAllowedValuesAreAllowed) {
  FinderParameters parameters;
  parameters.band_origin = 65535 - 63 * 64 - 256;
  EXPECT_NO_THROW(check_finder_parameters(Finder::kCoopStitch, parameters));
  parameters = {.min_match_len = 3, .max_match_len = 65535, .window_size = 255, .stride = 1036, .top_k = 16};
  EXPECT_NO_THROW(check_finder_parameters(Finder::kCoopStitch, parameters));
  parameters = {.min_match_len = 65535, .max_match_len = 65535, .window_size = 65535};
  EXPECT_NO_THROW(check_finder_parameters(Finder::kBruteForce, parameters));
}

TEST(FinderParameters, PresetsAreThoseOfTheDocuments) {
  for (const std::string_view name : finder_preset_names())
    EXPECT_NO_THROW(check_finder_parameters(Finder::kCoopStitch, finder_preset(name)));
  EXPECT_EQ(finder_preset("4k").window_size, FinderParameters{}.window_size);
  EXPECT_EQ(finder_preset("near-1k").good_match_len, 128u);
  try {
    finder_preset("5k");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("32k-gaps"), std::string::npos);
  }
}

TEST(LzssMatcher, AParseThatIsNoneIsRejected) {
  for (const int parse : {-1, 3}) {
    try {
      LzssMatcher({}, Finder::kHashChain, static_cast<Parse>(parse));
      ADD_FAILURE() << parse;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      EXPECT_EQ(std::string(error.what()).find("parse is "), 0u) << error.what();
    }
  }
}

TEST(LzssMatcher, TheParseIsTheOneThatWasAskedFor) {
  EXPECT_EQ(parse_names(), (std::vector<std::string_view>{"greedy", "lazy", "optimal"}));
  EXPECT_EQ(LzssMatcher().parse(), Parse::kOptimal);
  // "abc" repeats at 11, and "bcdefg" at 12: greedy takes the first match and cuts the second, lazy waits for
  // the second. If a match costs more than 6 literals, the cheapest parse has no match.
  const std::string text = "abc1bcdefg2abcdefg3";
  const auto bytes = std::as_bytes(std::span(text));
  const FinderParameters parameters{.min_match_len = 3, .literal_cost = 9, .match_fixed_cost = 55};
  const auto with = [&](Parse parse) {
    const LzssMatcher matcher(parameters, Finder::kBruteForce, parse);
    EXPECT_EQ(matcher.parse(), parse);
    matcher.prepare();
    const auto matches = matcher.find_matches(bytes);
    const MatchBlock block{bytes, 0};
    EXPECT_EQ(matcher.submit({&block, 1}).take().front(), matches);
    return matches;
  };
  const auto matches = [](std::initializer_list<PositionedMatch> list) { return std::vector(list); };
  EXPECT_EQ(with(Parse::kGreedy), matches({{11, 11, 3}, {14, 8, 4}}));
  EXPECT_EQ(with(Parse::kLazy), matches({{12, 8, 6}}));
  EXPECT_EQ(with(Parse::kOptimal), matches({}));
}

TEST(LzssMatcher, AnotherBackendIsNotReplaced) {
  try {
    LzssMatcher matcher({}, Finder::kCoopStitch, "abacus");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUnknownBackend);
    EXPECT_NE(std::string(error.what()).find("'abacus'"), std::string::npos);
  }
}

TEST(LzssMatcher, WithoutCudaTheReasonIsGiven) {
  try {
    LzssMatcher matcher({}, Finder::kHashChain, Parse::kGreedy, "cuda");
    GTEST_SKIP() << "there is a device here";
  } catch (const Error& error) {
#ifdef HEMSTITCH_CUDA
    EXPECT_EQ(error.status(), Status::kDeviceUnavailable) << error.what();
#else
    EXPECT_EQ(error.status(), Status::kUnknownBackend) << error.what();
#endif
  }
}

// Literals and matches in order must restore the input, and repetitions must have matches.
TEST(LzssMatcher, MatchesAndLiteralsRestoreTheInput) {
  for (const Finder finder : {Finder::kBruteForce, Finder::kLazyScan, Finder::kCoopStitch,
                              Finder::kWindowIndex, Finder::kHashChain, Finder::kHashPairs})
    for (const testing::FinderCase& input : testing::finder_cases(3000)) {
      const auto parse = static_cast<Parse>(input.name.size() % 3);
      const LzssMatcher matcher({.min_match_len = 3}, finder, parse);
      std::vector<std::byte> restored;
      const std::vector<PositionedMatch> matches = matcher.find_matches(input.data);
      if (input.name == "all equal" || input.name == "period 7" || input.name == "period 64") {
        EXPECT_FALSE(matches.empty()) << input.name;
      }
      for (const PositionedMatch& match : matches) {
        ASSERT_GE(match.position, restored.size()) << input.name;
        ASSERT_GE(match.length, 3u);
        ASSERT_LE(match.length, 258u);
        restored.insert(restored.end(), input.data.begin() + std::ssize(restored),
                        input.data.begin() + static_cast<std::ptrdiff_t>(match.position));
        ASSERT_LE(match.offset, restored.size()) << input.name;
        for (std::uint32_t i = 0; i < match.length; ++i)
          restored.push_back(restored[restored.size() - match.offset]);
      }
      ASSERT_LE(restored.size(), input.data.size()) << input.name;
      restored.insert(restored.end(), input.data.begin() + std::ssize(restored), input.data.end());
      EXPECT_EQ(restored, input.data) << input.name;
    }
}

struct Stopped : std::exception {};

TEST_WITH_THREADS(LzssMatcher, CallersCancelBetweenPieces) {
  const std::vector<std::byte> data = testing::copied_bytes(100'000, 5);
  const MatchBlock whole{data, 0};
  std::vector<MatchBlock> blocks;
  for (std::size_t begin = 0; begin < data.size(); begin += 5'000)
    blocks.push_back({std::span(data).subspan(begin, 5'000), 0});
  for (const Finder finder : {Finder::kBruteForce, Finder::kLazyScan, Finder::kCoopStitch,
                              Finder::kWindowIndex, Finder::kHashChain, Finder::kHashPairs}) {
    const std::string name(finder_names()[static_cast<std::size_t>(finder)]);
    std::atomic<int> pieces = 0;
    int most_pieces = INT_MAX;
    const LzssMatcher matcher({.window_size = 32, .stride = 1, .near_range = 0}, finder, Parse::kOptimal,
                              "reference", {}, [&] {
                                if (++pieces > most_pieces) throw Stopped();
                              });
    // Returns how many pieces there are.
    const auto expect_stops = [&](const auto& call) {
      most_pieces = INT_MAX;
      pieces = 0;
      call();
      const int all_pieces = pieces.exchange(0);
      most_pieces = 3;
      EXPECT_THROW(call(), Stopped) << name;
      EXPECT_GT(pieces, 3) << name;
      EXPECT_LT(pieces, all_pieces) << name;
      return all_pieces;
    };
    expect_stops([&] { matcher.find_matches(blocks); });
    if (finder == Finder::kHashPairs) continue;  // its blocks are short
    const int pieces_of_finding = expect_stops([&] { matcher.find_candidates(data); });
    EXPECT_GT(expect_stops([&] { matcher.find_matches({&whole, 1}); }), pieces_of_finding + 5) << name;
  }
}

TEST_WITH_THREADS(LzssMatcher, OneServesAll) {
  const std::vector<std::byte> data = testing::copied_bytes(7'000, 5);
  std::vector<MatchBlock> blocks;
  for (std::size_t begin = 0; begin + 2'000 <= data.size(); begin += 1'000)
    blocks.push_back({std::span(data).subspan(begin, 2'000), 1'000});
  for (const Finder finder : {Finder::kWindowIndex, Finder::kCoopStitch}) {
    const LzssMatcher matcher({}, finder);
    const auto expected = matcher.find_matches(blocks);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        PendingMatches pending = matcher.submit(blocks);
        EXPECT_EQ(matcher.find_matches(blocks[1].data).empty(), false);
        EXPECT_EQ(pending.take(), expected);
      });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(LzssMatcher, ARunIsOneLiteralAndMatches) {
  const std::vector<std::byte> run(1 + 258 + 20, std::byte{9});
  const std::vector<PositionedMatch> expected = {{1, 1, 258}, {259, 1, 20}};
  EXPECT_EQ(LzssMatcher().find_matches(run), expected);
}

TEST(LzssMatcher, CostsDecide) {
  // A repetition of 5 bytes: 45 bits of literals (9 each) or a match.
  const std::vector<std::byte> unique = testing::random_bytes(100, 1);
  std::vector<std::byte> data = unique;
  data.insert(data.end(), unique.begin(), unique.begin() + 5);
  data.push_back(~unique[5]);
  EXPECT_EQ(LzssMatcher({.match_fixed_cost = 44}, Finder::kBruteForce).find_matches(data).size(), 1u);
  EXPECT_EQ(LzssMatcher({.match_fixed_cost = 45}, Finder::kBruteForce).find_matches(data).size(), 0u);
}

// Matchers on devices leave out what no match reaches.
TEST(LzssMatcher, WhatStandsBeforeTheLast64KDoesNotShow) {
  const testing::Bytes data = testing::wordy_bytes(150'000, 4);
  for (const Finder finder :
       {Finder::kLazyScan, Finder::kCoopStitch, Finder::kWindowIndex, Finder::kHashChain}) {
    FinderParameters parameters = finder_defaults(finder);
    if (finder == Finder::kHashChain) parameters.window_size = 65535, parameters.depth = 1000;
    if (finder == Finder::kLazyScan) parameters.window_size = 65535, parameters.far_step = 101;
    const LzssMatcher matcher(parameters, finder);
    EXPECT_EQ(matcher.find_candidates(data, 130'000),
              matcher.find_candidates(std::span(data).subspan(130'000 - 65536), 65536))
        << static_cast<int>(finder);
  }
}

TEST(LzssMatcher, CandidatesCountFromTheEndOfTheHistory) {
  const testing::FinderCase input{"copies", testing::copied_bytes(2000, 3), 0};
  const LzssMatcher matcher({.window_size = 500}, Finder::kBruteForce);
  const std::vector<std::uint32_t> all = matcher.find_candidates(input.data);
  ASSERT_EQ(all.size(), 2000u);
  const std::vector<std::uint32_t> rest = matcher.find_candidates(input.data, 700);
  EXPECT_EQ(rest, std::vector<std::uint32_t>(all.begin() + 700, all.end()));
  EXPECT_TRUE(matcher.find_candidates(input.data, 2000).empty());
  EXPECT_THROW(matcher.find_candidates(input.data, 2001), Error);
}

}  // namespace
}  // namespace hemstitch
