// Blocks for Zstandard's encoder behind the parse: content, and sequences that cover it, made by hand, at random and by the lazy parse; and what
// the twin writes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/sequence.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/compress/entropy/zstd_block_writer.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "format/zstd/compress/parse/zstd_prices.hpp"
#include "format/zstd/compress/zstd_device_prices.hpp"
#include "format/zstd/compress/zstd_join.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "match/far/far.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/near_three/near_three.hpp"
#include "shapes.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {

struct ZstdEncodeCase {
  std::string name;
  Bytes data;  // history, then the block
  std::size_t history_bytes = 0;
  std::vector<Sequence> parsed;
  bool can_be_read = true;  // the offsets are there

  std::span<const std::byte> content() const { return std::span(data).subspan(history_bytes); }
  Bytes by_twin() const {
    Bytes block;
    if (!content().empty()) put_zstd_block(content(), parsed, block);
    return block;
  }
};

using LiteralOf = std::function<std::byte(std::uint32_t)>;  // of a random number
inline LiteralOf below(std::uint32_t values) {
  return [values](std::uint32_t random) { return static_cast<std::byte>((random >> 8) % values); };
}

// The content that these sequences stand for. The last one may lack, if it is empty.
inline ZstdEncodeCase zstd_case_of(std::string name, std::vector<Sequence> sequences,
                                   const LiteralOf& literal, std::size_t history_bytes = 300,
                                   std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  ZstdEncodeCase one{std::move(name), random_bytes(history_bytes, seed), history_bytes, {}};
  for (const Sequence& sequence : sequences) {
    for (std::uint32_t i = 0; i < sequence.literal_count; ++i)
      one.data.push_back(literal(static_cast<std::uint32_t>(random())));
    for (std::uint32_t i = 0; i < sequence.match_length; ++i)
      one.data.push_back(one.data[one.data.size() - sequence.offset]);
  }
  if (sequences.empty() || sequences.back().match_length != 0) sequences.push_back({});
  one.parsed = std::move(sequences);
  return one;
}

inline std::vector<Sequence> random_zstd_sequences(std::uint32_t seed, std::size_t most_bytes,
                                                   std::size_t history_bytes) {
  std::mt19937 random(seed);
  const auto below_of = [&](std::uint32_t most) { return static_cast<std::uint32_t>(random() % most); };
  std::vector<Sequence> sequences;
  const std::uint32_t most_match = 2U << below_of(12), most_run = 1U << below_of(9),
                      kinds = 1 + below_of(6) * below_of(60);
  std::vector<std::uint32_t> offsets(kinds);
  for (std::uint32_t& offset : offsets)
    offset = 1 + below_of(std::min<std::uint32_t>(1U << (1 + below_of(20)),
                                                  static_cast<std::uint32_t>(history_bytes)));
  for (std::size_t bytes = 0;;) {
    const Sequence next{below_of(3) == 0 ? 0 : below_of(most_run), 3 + below_of(1 + below_of(most_match)),
                        offsets[below_of(1 + below_of(kinds))]};
    bytes += next.literal_count + next.match_length;
    if (bytes + 20 > most_bytes) break;
    sequences.push_back(next);
  }
  if (below_of(3) != 0) sequences.push_back({1 + below_of(20), 0, 0});
  return sequences;
}

// By the finders of a low level, and the lazy parse.
inline ZstdEncodeCase parsed_zstd_case(std::string name, Bytes data, std::size_t history_bytes) {
  const FinderInput input{data, history_bytes};
  const MatchRecords records = find_hash_chain(input, {.depth = 1});
  const NearOffsets near = find_near_three(input, {.depth = 1});
  const WideRecords far = find_far(input, {.hash_bits = 12});
  std::vector<Sequence> parsed = parse_zstd_lazy({input.data, history_bytes, records, near, {far}});
  return {std::move(name), std::move(data), history_bytes, std::move(parsed)};
}

// Small blocks around each size at which a form changes.
inline std::vector<ZstdEncodeCase> small_zstd_encode_cases() {
  std::vector<ZstdEncodeCase> cases;
  const auto add = [&](const std::string& name, const std::vector<Sequence>& sequences,
                       const LiteralOf& literal, std::size_t history_bytes = 300) {
    cases.push_back(
        zstd_case_of(name, sequences, literal, history_bytes, static_cast<std::uint32_t>(cases.size() + 1)));
  };
  cases.push_back({"empty", {}, 0, {{}}});
  for (std::uint32_t bytes = 1; bytes <= 200; ++bytes)
    add("few values, " + std::to_string(bytes), {{bytes, 0, 0}}, below(2 + bytes % 5));
  for (const std::uint32_t bytes : {1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097}) {
    add("one value, " + std::to_string(bytes), {{bytes, 0, 0}}, below(1));
    add("noise, " + std::to_string(bytes), {{bytes, 0, 0}}, below(256));
    for (const std::uint32_t values : {2, 3, 16, 100, 128, 129, 130, 200, 250})
      add(std::to_string(values) + " values, " + std::to_string(bytes), {{bytes, 0, 0}}, below(values));
    // The last literal is another one.
    ZstdEncodeCase last = zstd_case_of("last, " + std::to_string(bytes), {{bytes, 0, 0}}, below(1));
    last.data.back() = std::byte{255};
    cases.push_back(last);
  }
  // How many weights there are, and which: a few values as high as they can be.
  for (const std::uint32_t value : {1, 2, 127, 128, 129, 130, 254, 255})
    for (const std::uint32_t kinds : {2, 3, 9})
      add("values up to " + std::to_string(value), {{400, 0, 0}}, [&](std::uint32_t random) {
        return static_cast<std::byte>(value - std::min(value, random % kinds * (random % 7)));
      });
  // All of 2^n values equally often: weights that are all equal.
  for (const std::uint32_t values : {2, 4, 64, 128, 256}) {
    ZstdEncodeCase equal =
        zstd_case_of("equally often, " + std::to_string(values), {{1024, 2000, 9}}, below(1));
    for (std::size_t i = 0; i < 1024; ++i)
      equal.data[equal.history_bytes + i] = static_cast<std::byte>(i % values);
    for (std::size_t i = 1024; i < 3024; ++i)
      equal.data[equal.history_bytes + i] = equal.data[equal.history_bytes + i - 9];
    cases.push_back(equal);
  }
  // Equal weights have no form by FSE: 128 of them, directly; and 192, which have no form at all. The last value has a shorter code than they.
  for (const auto& [values, of_last] : {std::pair<std::uint32_t, std::uint32_t>{128, 128}, {192, 64}}) {
    ZstdEncodeCase equal =
        zstd_case_of("equal weights, " + std::to_string(values), {{4 * (values + of_last), 3, 4}}, below(1));
    for (std::uint32_t i = 0; i < 4 * (values + of_last); ++i)
      equal.data[equal.history_bytes + i] = static_cast<std::byte>(std::min(i / 4, values));
    std::fill_n(equal.data.end() - 3, 3, static_cast<std::byte>(values));
    cases.push_back(equal);
  }
  // An own table is as large as the predefined one.
  add("tables that tie",
      {{2, 3, 9}, {2, 3, 9}, {2, 3, 9}, {2, 3, 9}, {4, 3, 9}, {4, 3, 9}, {4, 3, 9}, {4, 3, 9}}, below(2));
  add("one sequence", {{0, 3, 300}}, below(1));
  add("one sequence, then a literal", {{1, 3, 7}, {1, 0, 0}}, below(9));
  for (const std::uint32_t count :
       {1, 2, 3, 4, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513}) {
    std::vector<Sequence> alike(count, {5, 5, 200});
    add("alike, " + std::to_string(count), alike, below(3));
    for (std::uint32_t i = 0; i < count; ++i) alike[i] = {i % 3, 3 + i % 5, 1 + i % 7};
    add("in turns, " + std::to_string(count), alike, below(3));
    for (std::uint32_t i = 0; i < count; ++i) alike[i] = {0, 3, 1 + i % 2};
    add("no literals, " + std::to_string(count), alike, below(3));
    // The last ones touch, and become one; so do all.
    for (std::uint32_t i = 0; i < count; ++i) alike[i] = {i + 5 > count ? 0U : 1U, 3, 50};
    add("last ones touch, " + std::to_string(count), alike, below(3));
    for (std::uint32_t i = 0; i < count; ++i) alike[i] = {0, 3, 50};
    add("all touch, " + std::to_string(count), alike, below(3));
    alike.push_back({0, 4, 51});
    alike.push_back({0, 4, 50});
    add("all touch but two, " + std::to_string(count), alike, below(3));
  }
  add("back and forth",
      {{1, 3, 1}, {0, 3, 2}, {0, 3, 3}, {0, 3, 1}, {0, 3, 2}, {0, 3, 4}, {5, 3, 1}, {5, 3, 2}, {5, 3, 4}},
      below(5));
  // Two offsets for long, then others: far to look back, also to where they were last.
  for (const std::uint32_t count : {250, 300, 600}) {
    std::vector<Sequence> two{{2, 3, 90}, {2, 3, 80}, {2, 3, 70}};
    for (std::uint32_t i = 0; i < count; ++i) two.push_back({i % 2, 3, 10 + i % 2});
    for (const std::uint32_t offset : {70, 80, 90, 10, 11, 70, 100}) two.push_back({1, 3, offset});
    add("two offsets for long, " + std::to_string(count), two, below(4));
  }
  for (std::uint32_t code = 0; code < kZstdLiteralCodes.size() && kZstdLiteralCodes[code].base < 3000;
       ++code) {
    const std::uint32_t run = kZstdLiteralCodes[code].base,
                        more = run + (1U << kZstdLiteralCodes[code].bits) - 1;
    add("runs, " + std::to_string(run), {{run, 4, 9}, {more, 5, 3}, {run, 6, 9}, {more, 0, 0}}, below(5));
  }
  for (std::uint32_t code = 0; code < kZstdMatchCodes.size() && kZstdMatchCodes[code].base < 3000; ++code) {
    const std::uint32_t length = kZstdMatchCodes[code].base,
                        more = length + (1U << kZstdMatchCodes[code].bits) - 1;
    add("matches, " + std::to_string(length), {{2, length, 9}, {3, more, 3}, {4, length, 8}}, below(5));
  }
  // Blocks that hardly shrink, or just not.
  for (std::uint32_t seed = 0; seed < 60; ++seed)
    add("hardly smaller, " + std::to_string(seed), {{90 + seed * 13, 3, 20}, {seed, 4, 100}},
        [&](std::uint32_t random) { return static_cast<std::byte>((random >> 8) % (150 + seed)); });
  for (std::uint32_t seed = 1; seed <= 120; ++seed)
    cases.push_back(zstd_case_of("random, " + std::to_string(seed),
                                 random_zstd_sequences(seed, 200 + seed * 40, 3000),
                                 below(seed % 4 == 0 ? 256 : 1 + seed % 90), 3000, seed));
  return cases;
}

// Blocks of up to 64 KB.
inline std::vector<ZstdEncodeCase> large_zstd_encode_cases() {
  constexpr std::uint32_t kMost = kZstdOwnBlockBytes;
  std::vector<ZstdEncodeCase> cases;
  const auto add = [&](const std::string& name, const std::vector<Sequence>& sequences,
                       const LiteralOf& literal, std::size_t history_bytes = 300) {
    cases.push_back(
        zstd_case_of(name, sequences, literal, history_bytes, static_cast<std::uint32_t>(cases.size() + 1)));
  };
  add("one match", {{0, kMost, 1}}, below(1));
  add("one match but a byte", {{0, kMost - 1, 1}}, below(1));
  add("a byte, one match", {{1, kMost - 1, 1}}, below(1));
  add("many that touch", {{0, 1000, 5}, {0, 1000, 5}, {0, 60'000, 5}, {0, 3, 4}, {0, 3, 5}}, below(1));
  add("literals at last", {{0, 3, 300}, {kMost - 3, 0, 0}}, below(40));
  add("literals at first", {{kMost - 3, 3, 7}}, below(40));
  for (const std::uint32_t bytes : {kMost, kMost - 1, std::uint32_t{16384}, std::uint32_t{16383}}) {
    add("one value, " + std::to_string(bytes), {{bytes, 0, 0}}, below(1));
    add("noise, " + std::to_string(bytes), {{bytes, 0, 0}}, below(256));
    add("values, " + std::to_string(bytes), {{bytes, 0, 0}}, below(77));
  }
  // Codes of 11 bits, and more if they could be: each value half as often as the one before.
  add("rarer and rarer", {{kMost, 0, 0}}, [](std::uint32_t random) {
    return static_cast<std::byte>(std::countr_zero(random | 1U << 20) * 7 % 256);
  });
  std::vector<Sequence> dense(kMost / 3, {0, 3, 0});
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i].offset = i % 2 == 0 ? 3 : 9;
  dense.push_back({1, 0, 0});
  add("21,845 sequences", dense, below(7));
  for (std::size_t i = 0; i + 1 < dense.size(); ++i)
    dense[i].offset = static_cast<std::uint32_t>(1 + i * i % 251);
  add("21,845 sequences of many offsets", dense, below(7));
  std::vector<Sequence> records;
  for (std::uint32_t i = 0; i < kMost / 44; ++i) {
    records.push_back({2 + i % 3, 20, 40});
    records.push_back({1, 14 + i % 3, 40});
  }
  add("records", records, below(256));
  // One of each offset code, to the edge of the window.
  std::vector<Sequence> far;
  for (unsigned log = 0; log <= 23; ++log)
    for (const std::uint32_t offset : {(1U << log) - 1, 1U << log, (1U << log) + 1})
      if (offset >= 1 && offset <= 8U << 20) far.push_back({log % 4, 3 + log, offset});
  add("each offset", far, below(20), 8 << 20);
  std::vector<Sequence> codes;
  std::uint32_t codes_bytes = 0;
  for (const ZstdCode& code : kZstdMatchCodes)
    if (codes_bytes + code.base + 60 < kMost) {
      codes.push_back({static_cast<std::uint32_t>(codes.size()), code.base, 100});
      codes_bytes += code.base + static_cast<std::uint32_t>(codes.size());
    }
  add("each match code", codes, below(20));
  for (std::uint32_t seed = 1; seed <= 6; ++seed)
    cases.push_back(zstd_case_of("random, large, " + std::to_string(seed),
                                 random_zstd_sequences(seed + 500, kMost, 70'000),
                                 below(seed % 3 == 0 ? 256 : 1 + seed * 19), 70'000, seed));
  for (const std::size_t history : {std::size_t{0}, std::size_t{100'001}}) {
    const std::size_t bytes = history + kMost;
    cases.push_back(parsed_zstd_case("words", wordy_bytes(bytes, 7), history));
    cases.push_back(parsed_zstd_case("copies", copied_bytes(bytes, 7), history));
    cases.push_back(parsed_zstd_case("mixed", mixed_bytes(bytes, 7), history));
    cases.push_back(parsed_zstd_case("runs", runs_bytes(bytes, 7), history));
  }
  // More bits than the content has. No window has such offsets. The last block, so that bits behind its room are behind all others.
  for (std::size_t i = 0; i + 1 < dense.size(); ++i)
    dense[i].offset = static_cast<std::uint32_t>((1 << 29) + i);
  cases.push_back({"21,845 sequences of impossible offsets", random_bytes(kMost), 0, dense, false});
  return cases;
}

// A frame of one block behind its history.
inline Bytes zstd_frame_behind(std::span<const std::byte> history, std::span<const std::byte> block) {
  HandMadeFrame frame(16 << 20);
  frame.raw({});
  constexpr std::size_t kRawBytes = 100'000;
  for (; !history.empty(); history = history.subspan(std::min(kRawBytes, history.size())))
    frame.raw(history.first(std::min(kRawBytes, history.size())));
  Bytes data = frame.end();
  unmark_last_zstd_block(std::span(data).subspan(6));
  data.insert(data.end(), block.begin(), block.end());
  data.insert(data.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
  return data;
}

inline void expect_libzstd_reads(const ZstdEncodeCase& one, std::span<const std::byte> block) {
  if (!one.can_be_read) return;
  const ZstdRead read =
      read_by_libzstd(zstd_frame_behind(std::span(one.data).first(one.history_bytes), block), {}, 1 << 20);
  ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << one.name << ": " << read.why;
  ASSERT_TRUE(read.content == one.data) << one.name;
}

// A device's prices against the twin's, which has them by value, with extra bits.
inline void expect_zstd_prices(const ZstdEncodeCase& one, const ZstdDevicePrices& prices) {
  constexpr int kUnits = 16;
  const ZstdPrices expected = zstd_prices_of(one.content(), one.parsed);
  for (std::size_t i = 0; i < expected.literal.size(); ++i)
    ASSERT_EQ(prices.literal[i], expected.literal[i]) << one.name << ", literal " << i;
  for (std::size_t i = 0; i < expected.offset.size(); ++i)
    ASSERT_EQ(prices.offset_code[i], expected.offset[i] - static_cast<int>(i) * kUnits)
        << one.name << ", offset " << i;
  const auto check = [&](const auto& codes, const auto& by_value, const std::int16_t* by_code,
                         const char* what) {
    for (std::size_t i = 0; i < codes.size() && codes[i].base < by_value.size(); ++i)
      ASSERT_EQ(by_code[i], by_value[codes[i].base] - codes[i].bits * kUnits) << one.name << what << i;
  };
  check(kZstdLiteralCodes, expected.run, prices.run_code, ", run ");
  check(kZstdMatchCodes, expected.match, prices.match_code, ", match ");
}

}  // namespace hemstitch::testing
