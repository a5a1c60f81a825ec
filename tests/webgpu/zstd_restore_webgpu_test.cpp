// Frames of Zstandard restored by shaders, compared with the reference: statuses, sizes and bytes of what libzstd writes, of what no encoder
// writes, and of all kinds of damage. No byte outside of a frame's room may be written.
#include "format/zstd/restore/zstd_restore_webgpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "conformance_files.hpp"
#include "engine/webgpu/webgpu_engine.hpp"
#include "engine_cases.hpp"
#include "format/formats.hpp"
#include "format/formats_webgpu.hpp"
#include "format/restore_status_webgpu.hpp"
#include "pipeline/frame_batch.hpp"
#include "valid_data/valid_data.hpp"
#include "webgpu_test.hpp"
#include "zstd_frames.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::Bytes;

// The blocks of a frame, without its header and checksum.
struct Case {
  std::string name;
  Bytes blocks;
  std::size_t room = 0;
  Bytes history = {};
};
struct Verdict {
  Status status = Status::kInternal;
  Bytes content;
};

Bytes blocks_of(const Bytes& frame) {
  const auto header = read_zstd_header(std::span(frame).subspan(4, zstd_header_rest_bytes(frame[4])));
  const auto begin = frame.begin() + static_cast<std::ptrdiff_t>(4 + zstd_header_rest_bytes(frame[4]));
  return {begin, frame.end() - (header->has_checksum ? 4 : 0)};
}

Bytes blocks_by_libzstd(std::span<const std::byte> content, int level, int window_log = 0) {
  return blocks_of(testing::written_by_libzstd(content, {.level = level, .window_log = window_log}));
}

Verdict by_reference(const Case& one) {
  Bytes content(one.room);
  BlockTask task;
  task.input = one.blocks;
  task.history = one.history;
  task.output = content;
  FormatTable::instance().codec(Format::kZstd, &FormatRow::reference)->restore({&task, 1});
  if (task.status != Status::kOk) return {task.status, {}};
  content.resize(task.output_bytes);
  return {task.status, content};
}

class WebgpuZstdRestore : public testing::WebgpuTest {
 protected:
  static std::vector<Verdict> restored(Device& one, const std::vector<Case>& cases) {
    ZstdRestoreTable table;
    for (const Case& each : cases)
      table.add(static_cast<std::uint32_t>(each.history.size()),
                static_cast<std::uint32_t>(each.blocks.size()), static_cast<std::uint32_t>(each.room));
    // Noise between the frames, which must not be read.
    Bytes data = testing::random_bytes(static_cast<std::size_t>(table.data_bytes), 8);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto place = data.begin() + static_cast<std::ptrdiff_t>(table.rows[i].begin);
      std::ranges::copy(cases[i].history, place);
      std::ranges::copy(cases[i].blocks, place + static_cast<std::ptrdiff_t>(cases[i].history.size()));
    }
    const ZstdRestorePlan plan = plan_zstd_restore(table);
    const BufferSet buffers = one.make_buffers(plan.buffers);
    const auto output_bytes = static_cast<std::size_t>(table.output_bytes);
    testing::upload(one, buffers, plan.data, data);
    testing::upload(one, buffers, plan.rows, table.rows);
    testing::upload(one, buffers, plan.output, Bytes(output_bytes, std::byte{0xA5}));
    // Those of an earlier batch.
    const Bytes literals = testing::random_bytes(static_cast<std::size_t>(table.literals_bytes), 9);
    testing::upload(one, buffers, plan.literals, literals);
    one.run(record_zstd_restore(plan, table), buffers);
    const auto states = testing::download<ZstdRestoreState>(one, buffers, plan.results, cases.size());
    const Bytes output = testing::download<std::byte>(one, buffers, plan.output, output_bytes);
    const Bytes literals_after = testing::download<std::byte>(one, buffers, plan.literals, literals.size());
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].room == 0) {
        const auto at = static_cast<std::ptrdiff_t>(table.rows[i].literals_begin);
        EXPECT_TRUE(
            std::equal(literals.begin() + at, literals.begin() + at + 16, literals_after.begin() + at))
            << cases[i].name << ": other literals were written";
      }
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

  // Frames that devices leave to others count as right, and are counted.
  static std::size_t expect_reference(const std::vector<Case>& cases) {
    std::vector<Verdict> expected;
    for (const Case& one : cases) expected.push_back(by_reference(one));
    std::size_t left = 0;
    for (Device* one : both_orders()) {
      const std::vector<Verdict> got = restored(*one, cases);
      left = 0;
      for (std::size_t i = 0; i < cases.size(); ++i) {
        if (got[i].status == Status::kDeviceFault) {
          ++left;
          continue;
        }
        EXPECT_EQ(got[i].status, expected[i].status) << cases[i].name << ", frame " << i;
        EXPECT_TRUE(got[i].content == expected[i].content)
            << cases[i].name << ", frame " << i << ": " << got[i].content.size() << " bytes, not those "
            << expected[i].content.size();
        if (HasFailure()) return left;
      }
    }
    return left;
  }
};

TEST_F(WebgpuZstdRestore, WhatLibzstdWrites) {
  std::vector<Case> cases{{"nothing", blocks_by_libzstd({}, 3), 0}};
  for (const std::size_t bytes : {1, 65, 5000})
    for (const testing::Shape& shape : testing::shapes_of(bytes))
      for (const int level : {-5, 3, 19}) {
        // Exact, a byte short, or with room left.
        const std::size_t room = bytes + (cases.size() % 3) - 1;
        cases.push_back({shape.name + ", room for " + std::to_string(room),
                         blocks_by_libzstd(shape.bytes, level, level == 3 ? 10 : 0), room});
      }
  EXPECT_EQ(expect_reference(cases), 0u);
}

// More input, and more output, than a turn processes; tables and offsets that later blocks repeat; runs are cut anywhere.
TEST_F(WebgpuZstdRestore, FramesOfManyTurns) {
  std::vector<Case> cases;
  const Bytes words = testing::wordy_bytes(400'000), noise = testing::random_bytes(150'000, 3),
              mixed = testing::mixed_bytes(300'000), few = testing::random_bytes(200'000, 4, 20);
  for (const int level : {1, 19})
    for (const Bytes* const content : {&words, &noise, &mixed, &few})
      cases.push_back(
          {"level " + std::to_string(level), blocks_by_libzstd(*content, level), content->size()});
  cases.push_back({"a window of 1 KB", blocks_by_libzstd(mixed, 3, 10), mixed.size()});
  cases.push_back({"equal", blocks_by_libzstd(testing::equal_bytes(400'000), 3), 400'000});
  Case damaged = cases[0];
  damaged.blocks[damaged.blocks.size() - 20] ^= std::byte{0x55};
  cases.push_back(damaged);
  EXPECT_EQ(expect_reference(cases), 0u);
}

// The blocks of the first frame of each file, and what follows them: what a device gets of it at most. Left out is what lavapipe does not restore: where
// tens of thousands of sequences of three bytes repeat each other, a byte is looked for through up to 64 of them, which the shader does not count (kTurnSteps), so that lavapipe
// stops it.
TEST_F(WebgpuZstdRestore, ConformanceFiles) {
  std::vector<Case> cases;
  for (const testing::ConformanceFile& file : testing::conformance_files("zstd")) {
    if (file.name.starts_with("zstd/valid/sequences-325")) continue;
    const std::span<const std::byte> data(file.data);
    if (data.size() < 5 || load_le32(data.data()) != kZstdMagic) continue;
    const std::size_t head_bytes = 4 + zstd_header_rest_bytes(data[4]);
    if (data.size() < head_bytes) continue;
    const auto header = read_zstd_header(data.subspan(4, head_bytes - 4));
    if (!header) continue;
    const auto blocks = data.subspan(head_bytes);
    cases.push_back({file.name, testing::copy_of(blocks), file.room});
    if (header->has_checksum && blocks.size() >= 4)
      cases.push_back(
          {file.name + ", no checksum", testing::copy_of(blocks.first(blocks.size() - 4)), file.room});
  }
  EXPECT_GT(cases.size(), 100u);
  EXPECT_EQ(expect_reference(cases), 0u);
}

TEST_F(WebgpuZstdRestore, FramesThatNoEncoderWrites) {
  std::vector<Case> cases;
  const auto add = [&](std::uint64_t seed, std::size_t most_bytes) {
    const testing::ValidData made = testing::valid_zstd_frame(seed, most_bytes);
    cases.push_back({"made of " + std::to_string(seed), blocks_of(made.data), made.content.size()});
  };
  for (std::uint64_t seed = 0; seed < 400; ++seed) add(seed, 3000);
  for (std::uint64_t seed = 0; seed < 6; ++seed) add(seed, 140'000);
  // Any weight in the place of the only one that is given, as one of 1 that another one must complete.
  for (unsigned weight = 0; weight < 16; ++weight) {
    Bytes block = testing::joined({testing::coded_literals(64, 3, true, false), testing::numbers({0})});
    block[4] = static_cast<std::byte>(weight << 4);
    cases.push_back({"a weight of " + std::to_string(weight),
                     blocks_of(testing::HandMadeFrame().compressed(block).end()), 200});
  }
  const auto add_block = [&](const std::string& name, std::initializer_list<Bytes> sections,
                             std::size_t room) {
    cases.push_back(
        {name, blocks_of(testing::HandMadeFrame().compressed(testing::joined(sections)).end()), room});
  };
  const Bytes none = testing::numbers({0});
  add_block("four streams of four literals", {testing::coded_literals(4, 3, true, false), none}, 100);
  // One sequence: each table is a single code, and the literals' code is none (36), with 16 extra bits.
  const Bytes equal(70'000, std::byte{'e'});
  for (const unsigned code : {35, 36})
    add_block("a code of " + std::to_string(code),
              {testing::plain_literals(equal, 3, true), testing::numbers({1, 0x54, code, 0, 0, 100, 0, 1})},
              70'003);
  add_block("more literals than fit", {testing::coded_literals(1000, 3, true, false), none}, 200);
  cases.push_back({"behind them", blocks_by_libzstd({}, 3), 0});
  // Codes of 12 bits, and frames of tiny blocks.
  const std::size_t left = expect_reference(cases);
  EXPECT_LT(left, cases.size() / 10);
}

TEST_F(WebgpuZstdRestore, DamagedFrames) {
  std::mt19937 random(5);
  std::vector<Case> cases;
  for (std::uint32_t i = 0; i < 900; ++i) {
    constexpr int kLevels[] = {-3, 1, 3, 19};
    const Bytes content = i % 3 == 0   ? testing::runs_bytes(100 + i % 400, i)
                          : i % 3 == 1 ? testing::wordy_bytes(50 + 2 * (i % 400), i)
                                       : testing::random_bytes(i % 400, i, 20);
    Case one{"damaged", blocks_by_libzstd(content, kLevels[i % 4], i % 2 == 0 ? 10 : 0),
             content.size() + random() % 3 - (content.empty() ? 0 : 1)};
    for (auto changes = random() % 4; changes > 0; --changes)
      one.blocks[random() % std::min<std::size_t>(one.blocks.size(), 100)] ^= std::byte{1} << random() % 8;
    if (random() % 8 == 0) one.blocks.resize(random() % (one.blocks.size() + 1));
    if (random() % 16 == 0) one.blocks.push_back(std::byte{1});
    cases.push_back(std::move(one));
  }
  for (std::uint32_t i = 0; i < 300; ++i) {
    const testing::ValidData made = testing::valid_zstd_frame(i, 2000);
    Case one{"damaged, made of " + std::to_string(i), blocks_of(made.data), made.content.size()};
    for (auto changes = random() % 3 + 1; changes > 0; --changes)
      one.blocks[random() % one.blocks.size()] ^= std::byte{1} << random() % 8;
    cases.push_back(std::move(one));
  }
  for (std::uint32_t i = 0; i < 100; ++i)
    cases.push_back({"noise", testing::random_bytes(random() % 200, i, 1 + i % 256), random() % 2000});
  EXPECT_LT(expect_reference(cases), 20u);
}

// After history, the three offsets are those of blocks that are not known.
TEST_F(WebgpuZstdRestore, MatchesReachIntoHistory) {
  std::vector<Case> cases;
  const Bytes history = testing::random_bytes(777, 6), literals = testing::random_bytes(10, 7);
  for (const std::uint32_t offset : {1U, 10U, 11U, 787U, 788U})
    for (const std::uint32_t value : {3 + offset, 1U}) {
      const ZstdSequence sequence{.literals = 10, .match = 40, .offset_value = value};
      const Bytes block =
          testing::joined({testing::plain_literals(literals, 2), testing::sequences_section({&sequence, 1})});
      const Bytes blocks = blocks_of(testing::HandMadeFrame().compressed(block).end());
      for (const std::size_t room : {std::size_t{50}, std::size_t{49}})
        for (const Bytes& before : {Bytes(), history})
          cases.push_back({"offset " + std::to_string(offset), blocks, room, before});
    }
  EXPECT_EQ(expect_reference(cases), 0u);
}

TEST_F(WebgpuZstdRestore, ThousandsOfTinyBlocksAreLeftToOthers) {
  testing::HandMadeFrame tiny;
  const Bytes block = testing::joined(
      {testing::coded_literals(64, 3, true, false), testing::numbers({0})});  // a Huffman table each
  for (int i = 0; i < 500; ++i) tiny.compressed(block);
  const Bytes words = testing::wordy_bytes(3000);
  const std::vector<Case> cases = {{"words", blocks_by_libzstd(words, 3), 3000},
                                   {"tiny blocks", blocks_of(tiny.end()), 500 * 64},
                                   {"words again", blocks_by_libzstd(words, 3), 3000}};
  ASSERT_EQ(by_reference(cases[1]).status, Status::kOk);
  const std::vector<Verdict> verdicts = restored(device(), cases);
  EXPECT_EQ(verdicts[1].status, Status::kDeviceFault);
  for (const int sound : {0, 2}) {
    EXPECT_EQ(verdicts[sound].status, Status::kOk);
    EXPECT_EQ(verdicts[sound].content, words);
  }
}

TEST_F(WebgpuZstdRestore, TheEngineRestoresFrames) {
  const auto engine = webgpu::make_engine({std::shared_ptr<void>(), &device()});
  std::vector<testing::EngineCase> cases = {{"the empty frame alone", {}, blocks_by_libzstd({}, 3), 0}};
  const auto restoring = [](BlockEngine& one, std::span<BlockTask> tasks) {
    one.restore(tasks, Format::kZstd);
  };
  testing::expect_twins(*engine, cases, restoring);
  for (const testing::Shape& shape : testing::shapes_of(65'536))
    cases.push_back({shape.name, {}, blocks_by_libzstd(shape.bytes, 3), shape.bytes.size()});
  cases.push_back({"too little room", {}, blocks_by_libzstd(testing::wordy_bytes(500), 3), 499});
  cases.push_back({"damaged", {}, Bytes(30, std::byte{0xFF}), 100});
  testing::expect_twins(*engine, cases, restoring);
}

// As `-r` and restore_many() do. None is left to another backend.
TEST_F(WebgpuZstdRestore, ShortFramesAreRestoredTogether) {
  std::vector<Bytes> contents, frames;
  for (const std::size_t bytes : {0, 1, 1000, 70'000, 200'000})
    for (const int level : {1, 19}) {
      contents.push_back(testing::mixed_bytes(bytes));
      frames.push_back(testing::written_by_libzstd(contents.back(), {.level = level}));
    }
  RestoreOptions options;
  options.backend = "webgpu";
  FrameRestorer restorer(options);
  LargeBuffer room = restorer.make_output();
  const std::vector<std::span<const std::byte>> inputs(frames.begin(), frames.end());
  const auto restored = restorer.restore(inputs, room);
  ASSERT_EQ(restored.size(), inputs.size());
  for (std::size_t i = 0; i < restored.size(); ++i) {
    ASSERT_TRUE(restored[i].content) << i;
    EXPECT_TRUE(std::ranges::equal(*restored[i].content, contents[i])) << i;
  }
  StreamReport report;
  restorer.report(report);
  EXPECT_EQ(report.backend, "webgpu");
  EXPECT_EQ(report.fallback_blocks, 0u) << report.fallback_reason;
}

TEST(WebgpuZstdRestorePlan, TurnsAreEnoughAndFramesHaveABound) {
  ZstdRestoreTable table;
  table.add(0, 0, 0);
  EXPECT_EQ(table.turns, 2u);
  EXPECT_EQ(table.literals_bytes, 16u);
  table.add(5, 65'536, 131'072);
  EXPECT_EQ(table.turns, 14u);
  EXPECT_EQ(table.literals_bytes, 16u + 131'072 + 16);
  EXPECT_EQ(table.data_bytes, 65'544u);
  EXPECT_THROW(table.add(0, kMostZstdFrameBytes + 1, 0), Error);
  EXPECT_THROW(table.add(kMostZstdFrameBytes, 0, 1), Error);
}

TEST(WebgpuZstdRestorePlan, DevicesDoNotCompress) {
  const DeviceFormat& zstd = *device_format(Format::kZstd);
  EXPECT_FALSE(zstd.compresses());
  const BlockSizes block{0, 100, 100};
  EXPECT_THROW(zstd.stage_compress({&block, 1}, 3, 65'536), Error);
  EXPECT_THROW(zstd.compress_limits(3, 65'536, 1 << 20, 1 << 20), Error);
  EXPECT_THROW(zstd.counted_bytes(block), Error);
}

}  // namespace
}  // namespace hemstitch
