// What a device's LzssMatcher must do, for CUDA and WebGPU alike.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hemstitch/match.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

using Lists = std::vector<std::vector<PositionedMatch>>;

inline std::vector<MatchBlock> blocks_of(const std::vector<FinderCase>& cases) {
  std::vector<MatchBlock> blocks;
  for (const FinderCase& one : cases) blocks.push_back({one.data, one.history_bytes});
  return blocks;
}

inline std::string name_of(Finder finder, Parse parse) {
  return std::string(finder_names()[static_cast<std::size_t>(finder)]) + ", " +
         std::string(parse_names()[static_cast<std::size_t>(parse)]);
}

// A matcher with three slots, and at least 30 blocks, whose matches are `expected`.
inline void expect_submissions_in_flight(const LzssMatcher& matcher, const std::vector<MatchBlock>& blocks,
                                         const Lists& expected) {
  const auto part = [&](std::size_t i) { return std::span(blocks).subspan(10 * i, 10); };
  const auto expected_part = [&](std::size_t i) {
    const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(10 * i);
    return Lists(begin, begin + 10);
  };
  PendingMatches first = matcher.submit(part(0)), second = matcher.submit(part(1));
  {
    const PendingMatches dropped = matcher.submit(part(0));
    EXPECT_THROW(matcher.submit(part(2)), Error);
  }
  PendingMatches third = matcher.submit(part(2));
  // In another order than they were submitted in.
  EXPECT_EQ(third.take(), expected_part(2));
  EXPECT_EQ(first.take(), expected_part(0));
  while (!second.is_ready()) continue;
  EXPECT_EQ(second.take(), expected_part(1));
  EXPECT_THROW(second.take(), Error);
  // They keep their slots until they are destroyed.
  EXPECT_THROW(matcher.submit(part(0)), Error);
  { const PendingMatches gone = std::move(first); }
  EXPECT_EQ(matcher.submit(part(1)).take(), expected_part(1));
  first = matcher.submit({});
  EXPECT_TRUE(first.take().empty());
}

// The backend refuses these at the door, in a message that has the word.
inline void expect_matcher_refused(const char* backend, Finder finder, const FinderParameters& parameters,
                                   const char* word) {
  try {
    LzssMatcher matcher(parameters, finder, backend);
    FAIL() << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidOption);
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

// What no device takes.
inline void expect_refusals(const char* backend) {
  expect_matcher_refused(backend, Finder::kHashPairs, {}, "hash_pairs");
  expect_matcher_refused(backend, Finder::kHashChain, {.depth = 0}, "depth");
  expect_matcher_refused(backend, Finder::kCoopStitch, {.stride = 2000}, "stride");
  const Bytes bytes(3);
  const MatchBlock wrong{bytes, 4};
  EXPECT_THROW(LzssMatcher({}, Finder::kCoopStitch, backend).submit({&wrong, 1}), Error);
}

}  // namespace hemstitch::testing
