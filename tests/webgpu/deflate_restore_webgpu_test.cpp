// DEFLATE restored by shaders, compared with the reference decoder: statuses, sizes and bytes of valid
// streams and of all kinds of damage. The bytes are compared with zlib's as well. No byte outside of a
// stream's room may be written.
#include "format/deflate/restore/deflate_restore_webgpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "conformance_files.hpp"
#include "deflate_restore_cases.hpp"
#include "engine/webgpu/webgpu_engine.hpp"
#include "engine_cases.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/restore_status_webgpu.hpp"
#include "libdeflate_stream.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::Bytes;
using testing::DeflateBitWriter;
using testing::zlib_stream;
using Case = testing::DeflateCase;
using Verdict = testing::DeflateVerdict;

std::vector<Bytes> streams_of(std::span<const std::byte> content) {
  std::vector<Bytes> streams = testing::zlib_streams(content);
  streams.push_back(testing::libdeflate_stream(content, 12));
  return streams;
}

void add(std::vector<Case>& cases, std::vector<Case> more) {
  std::ranges::move(more, std::back_inserter(cases));
}

class WebgpuDeflateRestore : public testing::WebgpuTest {
 protected:
  static std::vector<Verdict> restored(Device& one, const std::vector<Case>& cases) {
    DeflateRestoreTable table;
    for (const Case& each : cases)
      table.add(static_cast<std::uint32_t>(each.history.size()),
                static_cast<std::uint32_t>(each.stream.size()), static_cast<std::uint32_t>(each.room));
    // Noise between the streams, which must not be read.
    Bytes data = testing::random_bytes(static_cast<std::size_t>(table.data_bytes), 8);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto place = data.begin() + static_cast<std::ptrdiff_t>(table.rows[i].begin);
      std::ranges::copy(cases[i].history, place);
      std::ranges::copy(cases[i].stream, place + static_cast<std::ptrdiff_t>(cases[i].history.size()));
    }
    const DeflateRestorePlan plan = plan_deflate_restore(table);
    const BufferSet buffers = one.make_buffers(plan.buffers);
    const auto output_bytes = static_cast<std::size_t>(table.output_bytes);
    testing::upload(one, buffers, plan.data, data);
    testing::upload(one, buffers, plan.rows, table.rows);
    testing::upload(one, buffers, plan.output, Bytes(output_bytes, std::byte{0xA5}));
    one.run(record_deflate_restore(plan, table), buffers);
    const auto states = testing::download<DeflateRestoreState>(one, buffers, plan.results, cases.size());
    const Bytes output = testing::download<std::byte>(one, buffers, plan.output, output_bytes);
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Verdict verdict{restore_status(states[i].status), {}};
      const auto begin = output.begin() + static_cast<std::ptrdiff_t>(table.rows[i].output_begin);
      if (verdict.status == Status::kOk)
        verdict.content.assign(begin, begin + static_cast<std::ptrdiff_t>(states[i].restored_bytes));
      for (std::size_t at = cases[i].room; at % 4 != 0; ++at)
        EXPECT_EQ(begin[static_cast<std::ptrdiff_t>(at)], std::byte{0xA5})
            << cases[i].name << ": a byte behind the room was written";
      verdicts.push_back(std::move(verdict));
    }
    return verdicts;
  }

  static void expect_reference(const std::vector<Case>& cases) {
    std::vector<Verdict> expected;
    for (const Case& one : cases) {
      expected.push_back(testing::deflate_verdict(one.stream, one.history, one.room));
      if (expected.back().status != Status::kOk || one.room >= 100'000) continue;
      const testing::ZlibVerdict zlib = testing::zlib_verdict(one.stream, one.history);
      ASSERT_EQ(zlib.status, Status::kOk) << one.name;
      ASSERT_EQ(zlib.content, expected.back().content) << one.name;
    }
    for (Device* one : both_orders()) {
      const std::vector<Verdict> got = restored(*one, cases);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        ASSERT_EQ(got[i].status, expected[i].status) << cases[i].name << ", stream " << i;
        ASSERT_TRUE(got[i].content == expected[i].content)
            << cases[i].name << ", stream " << i << ": " << got[i].content.size() << " bytes, not those "
            << expected[i].content.size();
      }
    }
  }
};

TEST_F(WebgpuDeflateRestore, WhatEveryWriterWrites) {
  std::vector<Case> cases;
  for (const std::size_t bytes : {1, 65, 5000})
    for (const testing::Shape& shape : testing::shapes_of(bytes))
      for (const Bytes& stream : streams_of(shape.bytes)) {
        // Exact, a byte short, or with room left.
        const std::size_t room = bytes + (cases.size() % 3) - 1;
        cases.push_back({shape.name + ", room for " + std::to_string(room), stream, room});
      }
  for (const Bytes& stream : streams_of({})) cases.push_back({"nothing", stream, 0});
  expect_reference(cases);
}

// Some are of hundreds of tiny blocks, which are left to others.
TEST_F(WebgpuDeflateRestore, StreamsThatNoEncoderWrites) {
  std::vector<Case> cases;
  std::vector<Bytes> contents;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    testing::ValidData made = testing::valid_deflate_stream(seed, seed % 50 == 0 ? 70'000 : 3000);
    cases.push_back({"made of " + std::to_string(seed), std::move(made.data), made.content.size(),
                     std::move(made.dictionary)});
    contents.push_back(std::move(made.content));
  }
  for (Device* one : both_orders()) {
    const std::vector<Verdict> verdicts = restored(*one, cases);
    std::size_t left = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (verdicts[i].status == Status::kDeviceFault) {
        ++left;
        continue;
      }
      ASSERT_EQ(verdicts[i].status, Status::kOk) << cases[i].name;
      ASSERT_TRUE(verdicts[i].content == contents[i]) << cases[i].name;
    }
    EXPECT_LT(left, cases.size() / 20);
  }
}

// What stands between head and trailer, of zlib and of gzip.
TEST_F(WebgpuDeflateRestore, ConformanceFiles) {
  std::vector<Case> cases;
  for (const auto& [name, format] : {std::pair{"zlib", Format::kZlib}, {"gzip", Format::kGzip}})
    for (const testing::ConformanceFile& file : testing::conformance_files(name)) {
      const std::span<const std::byte> data(file.data);
      const DeflateHead head = read_deflate_head(format, data.data(), data.size(), false);
      if (head.status != Status::kOk) continue;
      const auto stream = data.first(data.size() - deflate_trailer_bytes(format)).subspan(head.bytes);
      cases.push_back({file.name, testing::copy_of(stream), file.room});
    }
  EXPECT_GT(cases.size(), 120u);
  expect_reference(cases);
}

// More input, and more output, than a turn processes; runs are cut anywhere.
TEST_F(WebgpuDeflateRestore, StreamsOfManyTurns) {
  std::vector<Case> cases;
  const Bytes words = testing::wordy_bytes(300'000), noise = testing::random_bytes(150'000, 3);
  for (const int level : {0, 6})
    for (const Bytes* const content : {&words, &noise})
      cases.push_back({"level " + std::to_string(level), zlib_stream(*content, level), content->size()});
  cases.push_back({"equal", zlib_stream(testing::equal_bytes(400'000)), 400'000});
  cases.push_back({"codes of 8 bits", zlib_stream(noise, 6, Z_HUFFMAN_ONLY), noise.size()});
  Case damaged = cases[1];
  damaged.stream[damaged.stream.size() - 20] ^= std::byte{0x55};
  cases.push_back(damaged);
  expect_reference(cases);
}

TEST_F(WebgpuDeflateRestore, MatchesReachAsFarAsHistory) {
  std::vector<Case> cases;
  for (const std::size_t bytes : {1, 101, 32767, 32768})
    add(cases, testing::deflate_cases_with_history(bytes, 3000));
  expect_reference(cases);
}

TEST_F(WebgpuDeflateRestore, SmallStreamsCutAnywhereAndFlipped) {
  std::vector<Case> cases;
  for (const auto& [level, strategy] :
       {std::pair{0, Z_DEFAULT_STRATEGY}, {9, Z_DEFAULT_STRATEGY}, {6, Z_FIXED}})
    for (const Bytes& content :
         {Bytes(), testing::equal_bytes(300), testing::wordy_bytes(90), testing::random_bytes(200, 9, 3)}) {
      const Bytes stream = zlib_stream(content, level, strategy);
      if (stream.size() > 100) continue;
      // Every seventh bit, beginning with another one in each stream.
      add(cases,
          testing::cut_and_flipped_deflate_cases(stream, content.size(), cases.size() % 7, 7,
                                                 [&](std::size_t bit) { return content.size() + bit % 3; }));
    }
  expect_reference(cases);
}

TEST_F(WebgpuDeflateRestore, UnusualCodes) { expect_reference(testing::unusual_deflate_codes()); }

TEST_F(WebgpuDeflateRestore, ThousandsOfTinyBlocksAreLeftToOthers) {
  DeflateBitWriter empty;
  for (int i = 0; i < 50'000; ++i) empty.block(false, 1).code(0, 7);
  empty.block(true, 1).code(0, 7);
  const Bytes words = testing::wordy_bytes(3000);
  const std::vector<Case> cases = {{"words", zlib_stream(words), 3000},
                                   {"empty blocks", empty.bytes(), 10},
                                   {"words again", zlib_stream(words), 3000}};
  const std::vector<Verdict> verdicts = restored(device(), cases);
  EXPECT_EQ(verdicts[1].status, Status::kDeviceFault);
  for (const int sound : {0, 2}) {
    EXPECT_EQ(verdicts[sound].status, Status::kOk);
    EXPECT_EQ(verdicts[sound].content, words);
  }
}

TEST_F(WebgpuDeflateRestore, MutatedStreamsAndNoise) {
  std::mt19937 random(5);
  std::vector<Bytes> contents, streams;
  for (std::uint32_t i = 0; i < 12; ++i) {
    contents.push_back(i % 3 == 0 ? testing::runs_bytes(200 + 40 * i, i)
                                  : testing::wordy_bytes(300 + 50 * i, i));
    streams.push_back(i % 2 == 0 ? zlib_stream(contents[i], 9, Z_DEFAULT_STRATEGY, i % 4 == 0 ? 1 : 8)
                                 : testing::libdeflate_stream(contents[i], 12));
  }
  std::vector<Case> cases;
  for (int i = 0; i < 500; ++i) {
    const std::size_t which = random() % streams.size();
    Case one{"mutated", streams[which], contents[which].size() - 1 + random() % 3};
    testing::mutate_deflate_stream(one.stream, random);
    if (random() % 4 == 0) one.history = Bytes(random() % 300, static_cast<std::byte>(i));
    cases.push_back(std::move(one));
  }
  for (std::uint32_t i = 0; i < 100; ++i)
    cases.push_back({"noise", testing::random_bytes(random() % 200, i, 1 + i % 256), random() % 2000});
  expect_reference(cases);
}

TEST_F(WebgpuDeflateRestore, TheEngineRestoresBlocksOfBgzf) {
  const auto engine = webgpu::make_engine({std::shared_ptr<void>(), &device()});
  std::vector<testing::EngineCase> cases = {{"the empty block alone", {}, zlib_stream({}), 0}};
  const auto restoring = [](BlockEngine& one, std::span<BlockTask> tasks) {
    one.restore(tasks, Format::kBgzf);
  };
  testing::expect_twins(*engine, cases, restoring);
  for (const testing::Shape& shape : testing::shapes_of(65'280))
    cases.push_back({shape.name, {}, zlib_stream(shape.bytes), shape.bytes.size()});
  cases.push_back({"too little room", {}, zlib_stream(testing::wordy_bytes(500)), 499});
  cases.push_back({"damaged", {}, Bytes(30, std::byte{0xFF}), 100});
  testing::expect_twins(*engine, cases, restoring);
}

TEST(WebgpuDeflateRestorePlan, TurnsAreEnoughAndStreamsHaveABound) {
  DeflateRestoreTable table;
  table.add(0, 0, 0);
  EXPECT_EQ(table.turns, 2u);
  table.rows.clear();
  table.add(0, 65'536, 65'535);
  EXPECT_EQ(table.turns, 11u);
  table.add(5, 65'536, 131'072);
  EXPECT_EQ(table.turns, 14u);
  EXPECT_EQ(table.rows[1].begin, 65'536u);
  EXPECT_EQ(table.data_bytes, 65'536u + 65'544u);
  EXPECT_THROW(table.add(0, kMostDeflateStreamBytes + 1, 0), Error);
}

}  // namespace
}  // namespace hemstitch
