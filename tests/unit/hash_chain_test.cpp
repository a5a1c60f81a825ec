#include "match/hash_chain/hash_chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/status.hpp"
#include "finder_definition.hpp"
#include "match/hash_chain/hash_width.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

TEST(HashChain, EqualsItsDefinitionOnEveryShape) {
  for (const Shape& shape : boundary_shapes(1281)) {
    for (const std::size_t history : kHistorySizes) {
      if (history > shape.bytes.size()) continue;
      const FinderInput input{shape.bytes, history};
      for (const std::uint32_t depth : {1u, 4u, 64u}) {
        const HashChainParameters parameters{
            .hash_bits = 12, .depth = depth, .cap_bytes = 16, .stitch_reach = depth < 64 ? 8u : 16u};
        ASSERT_EQ(find_hash_chain(input, parameters), hash_chain_by_definition(input, parameters))
            << shape.name << ", history " << history << ", depth " << depth;
      }
    }
  }
}

TEST(HashChain, EqualsItsDefinitionForEveryParameter) {
  std::vector<Shape> shapes = {{"words", wordy_bytes(3000, 1)},
                               {"two letters", random_bytes(3000, 2, 2)},
                               {"runs", runs_bytes(3000, 3)},
                               {"period 100", periodic_bytes(3000, 100)}};
  for (const Shape& shape : shapes) {
    const FinderInput input{shape.bytes, 500};
    for (const std::uint32_t depth : {1u, 4u, 8u, 16u, 64u})
      for (const std::uint32_t cap_bytes : {4u, 5u, 64u, 65535u})
        for (const unsigned hash_bits :
             {8u, 16u})  // with 8, most candidates are there by chance, and count toward depth
          for (const std::uint32_t window_bytes : {1u, 100u, 65535u})
            for (const bool stitch : {false, true}) {
              const HashChainParameters parameters{hash_bits,    depth,  cap_bytes,
                                                   window_bytes, stitch, std::min(depth, 16u)};
              ASSERT_EQ(find_hash_chain(input, parameters), hash_chain_by_definition(input, parameters))
                  << shape.name << ", depth " << depth << ", cap " << cap_bytes << ", bits " << hash_bits
                  << ", window " << window_bytes << ", stitch " << stitch;
            }
  }
}

TEST(HashChain, EqualsItsDefinitionAtEveryHashWidth) {
  std::vector<Shape> shapes = {{"four letters", random_bytes(3000, 3, 4)},
                               {"words", wordy_bytes(3000, 1)},
                               {"runs", runs_bytes(3000, 3)}};
  // So short that few positions have a hash, or none.
  for (std::size_t bytes = 0; bytes < 20; ++bytes) shapes.push_back({"short", periodic_bytes(bytes, 3)});
  for (const Shape& shape : shapes)
    for (const std::size_t history : {std::size_t{0}, std::size_t{3}, std::size_t{500}})
      for (const std::uint32_t hash_bytes : {4u, 5u, 6u, 7u, 8u}) {
        if (history > shape.bytes.size()) continue;
        const FinderInput input{shape.bytes, history};
        const HashChainParameters parameters{.hash_bits = 12, .depth = 4, .hash_bytes = hash_bytes};
        ASSERT_EQ(find_hash_chain(input, parameters), hash_chain_by_definition(input, parameters))
            << shape.name << " of " << shape.bytes.size() << ", history " << history << ", hashes of "
            << hash_bytes;
      }
}

TEST(HashChain, EqualsItsDefinitionWhereTheBlockChoosesItsHashWidth) {
  const std::vector<Shape> shapes = {
      {"four letters", random_bytes(9000, 3, 4)},
      {"words", wordy_bytes(9000, 1)},
      {"words, then four letters", wordy_bytes(700, 1) + random_bytes(8300, 3, 4)}};
  for (const Shape& shape : shapes)
    for (const std::size_t history : {0, 700, 809})
      for (const std::uint32_t few_values_hash_bytes : {5u, 8u}) {
        const FinderInput input{shape.bytes, history};
        const HashChainParameters parameters{
            .hash_bits = 12, .depth = 8, .few_values_hash_bytes = few_values_hash_bytes};
        ASSERT_EQ(find_hash_chain(input, parameters), hash_chain_by_definition(input, parameters))
            << shape.name << ", history " << history << ", hashes of " << few_values_hash_bytes;
      }
}

TEST(HashWidth, IsMoreThanFourBytesInBlocksWithFewValues) {
  const HashChainParameters parameters{.few_values_hash_bytes = 7};
  const auto width = [&](const Bytes& block) { return hash_width_of(block, parameters); };
  EXPECT_EQ(width(random_bytes(65'536, 1, 4)), 6u);
  EXPECT_EQ(width(random_bytes(65'537, 1, 4)), 7u);
  EXPECT_EQ(width(random_bytes(100'000, 1, 2)), 7u);
  EXPECT_EQ(width(random_bytes(100'000, 1, 5)), 4u);  // 625 values
  EXPECT_EQ(width(random_bytes(100'000, 1)), 4u);
  EXPECT_EQ(width(wordy_bytes(100'000)), 4u);
  EXPECT_EQ(width(Bytes(100'000, std::byte{0})), 4u);
  EXPECT_EQ(width(runs_bytes(100'000, 1)), 4u);
  // Few values, but most words are the same: a page of zeros, with four letters on a third of it.
  EXPECT_EQ(width(Bytes(70'000, std::byte{0}) + random_bytes(30'000, 1, 4)), 4u);
  // Four letters, but not at the beginning, or not everywhere.
  EXPECT_EQ(width(Bytes(3000, std::byte{0}) + random_bytes(100'000, 1, 4)), 7u);
  EXPECT_EQ(width(random_bytes(80'000, 1, 4) + wordy_bytes(20'000)), 4u);
  // In lines, as in FASTA.
  Bytes lines = random_bytes(100'000, 1, 4);
  for (std::size_t i = 70; i < lines.size(); i += 71) lines[i] = std::byte{10};
  EXPECT_EQ(width(lines), 7u);
}

TEST(HashWidth, IsFourBytesInShortBlocksAndWhereNobodyAsks) {
  const Bytes letters = random_bytes(100'000, 1, 4);
  const std::span<const std::byte> all = letters;
  EXPECT_EQ(hash_width_of(all, {}), 4u);
  EXPECT_EQ(hash_width_of(all, {.hash_bytes = 5}), 5u);
  EXPECT_EQ(hash_width_of(all, {.hash_bytes = 5, .few_values_hash_bytes = 8}), 8u);
  EXPECT_FALSE(has_few_values({}));
  EXPECT_FALSE(has_few_values(all.first(8191)));
  EXPECT_TRUE(has_few_values(all.first(8192)));
}

TEST(HashWidth, ThresholdsAreExact) {
  EXPECT_FALSE(are_few_values(15, 1000));
  EXPECT_TRUE(are_few_values(16, 1000));
  EXPECT_TRUE(are_few_values(480, 43'690));  // 20,971,200 of 20,971,520
  EXPECT_FALSE(are_few_values(480, 43'691));
  EXPECT_FALSE(are_few_values(481, 1000));
  EXPECT_TRUE(are_few_values(64, 327'680));
  EXPECT_FALSE(are_few_values(64, 327'681));
  // Products that just fit into 32 bits.
  EXPECT_FALSE(are_few_values(480, 4096 * 4095 / 2));

  // Blocks on either side. With sixteen runs, each is one stretch of the sample.
  for (const std::size_t values : {15, 16}) {
    Bytes runs;
    for (std::size_t stretch = 0; stretch < 16; ++stretch)
      runs.insert(runs.end(), 512, static_cast<std::byte>(stretch % values));
    EXPECT_EQ(has_few_values(runs), values == 16) << values;
  }
  // Counts how many of each kind have few values: it must be some, but not all.
  const HashChainParameters parameters{.few_values_hash_bytes = 7};
  std::size_t fifth = 0, behind_zeros = 0;
  for (const FinderCase& one : few_values_cases()) {
    const std::uint32_t width = hash_width_of(one.data, parameters);
    ASSERT_EQ(width, chain_hash_width(one.data, parameters)) << one.name;
    (one.name[0] == 'a' ? fifth : behind_zeros) += width == 6 ? 1 : 0;
  }
  EXPECT_TRUE(fifth > 5 && fifth < 30) << fifth;
  EXPECT_TRUE(behind_zeros > 5 && behind_zeros < 27) << behind_zeros;
}

TEST(HashChain, GivesTrueMatchesOnLargeBlocksWithHistory) {
  for (const Shape& shape : shapes_of(200'000))
    for (const std::size_t history :
         {std::size_t{0}, std::size_t{1000}, std::size_t{65535}, std::size_t{65536}}) {
      const FinderInput input{shape.bytes, history};
      const MatchRecords records = find_hash_chain(input, {.hash_bits = 14, .depth = 4});
      ASSERT_EQ(records.size(), shape.bytes.size() - history);
      ASSERT_EQ(first_false_match(input, records), "") << shape.name << ", history " << history;
    }
}

TEST(HashChain, LengthsBeyondARecordSaturate) {
  const Bytes zeros(200'000, std::byte{0});
  const MatchRecords records = find_hash_chain({zeros, 0}, {});
  EXPECT_EQ(records[0], 0u);
  for (std::size_t i = 1; i + 4 <= zeros.size(); ++i)
    ASSERT_EQ(records[i],
              pack_match(1, static_cast<std::uint32_t>(std::min<std::size_t>(zeros.size() - i, 65535))))
        << i;
}

// Heads of 16 bits would confuse the two.
TEST(HashChain, TheWindowEndsAt65535) {
  for (const std::size_t distance : {std::size_t{65535}, std::size_t{65536}}) {
    Bytes bytes = random_bytes(distance + 64, 5);
    std::copy_n(bytes.begin(), 32, bytes.begin() + static_cast<std::ptrdiff_t>(distance));
    const MatchRecords records = find_hash_chain({bytes, 0}, {.hash_bits = 16, .depth = 64});
    const Match found{record_offset(records[distance]), record_length(records[distance])};
    if (distance == 65535)
      EXPECT_TRUE(found.offset == 65535 && found.length >= 32) << found.offset << ", " << found.length;
    else
      EXPECT_LT(found.length, 32u);
  }
}

// The purpose of the stitch: at the first byte of the repeat, the nearest occurrences of its four bytes are
// others.
TEST(HashChain, TheStitchCarriesALongMatchBackToItsBeginning) {
  Bytes bytes;
  const auto append = [&](const std::string& text) {
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  };
  append("; the quick brown fox jumps; the a; the b; the c; the d");
  const std::size_t repeat = bytes.size();
  append("; the quick brown fox jumps!!!!!");
  const auto length_there = [&](bool stitch) {
    return record_length(
        find_hash_chain({bytes, 0}, {.hash_bits = 14, .depth = 1, .stitch = stitch})[repeat]);
  };
  EXPECT_EQ(length_there(false), 6u);  // "; the "
  EXPECT_EQ(length_there(true), 27u);  // "; the quick brown fox jumps"
}

TEST(HashChain, InvalidParametersAreErrorsThatNameTheField) {
  const auto message = [](const HashChainParameters& parameters) -> std::string {
    try {
      find_hash_chain({}, parameters);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message({.hash_bits = 7}).find("hash_bits"), std::string::npos);
  EXPECT_NE(message({.hash_bits = 17}).find("hash_bits"), std::string::npos);
  EXPECT_NE(message({.depth = 0}).find("depth"), std::string::npos);
  EXPECT_NE(message({.cap_bytes = 3}).find("cap_bytes"), std::string::npos);
  EXPECT_NE(message({.cap_bytes = 65536}).find("cap_bytes"), std::string::npos);
  EXPECT_NE(message({.window_bytes = 0}).find("window_bytes"), std::string::npos);
  EXPECT_NE(message({.window_bytes = 65536}).find("window_bytes"), std::string::npos);
  EXPECT_NE(message({.stitch_reach = 0}).find("stitch_reach"), std::string::npos);
  EXPECT_NE(message({.stitch_reach = 17}).find("stitch_reach"), std::string::npos);
  EXPECT_EQ(message({.stitch_reach = 16}), "no error");
  EXPECT_NE(message({.hash_bytes = 3}).find("hash_bytes is 3, it can be 4 to 8"), std::string::npos);
  EXPECT_NE(message({.hash_bytes = 9}).find("hash_bytes"), std::string::npos);
  EXPECT_NE(message({.few_values_hash_bytes = 4}).find("few_values_hash_bytes is 4, it can be 5 to 8"),
            std::string::npos);
  EXPECT_NE(message({.few_values_hash_bytes = 9}).find("few_values_hash_bytes"), std::string::npos);
  EXPECT_EQ(message({.hash_bytes = 8, .few_values_hash_bytes = 8}), "no error");
  EXPECT_EQ(message({}), "no error");
}

}  // namespace
}  // namespace hemstitch
