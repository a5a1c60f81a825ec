// The engine, compared with the twins: bytes and statuses when compressing and restoring, with limits and on
// many threads.
#include <gtest/gtest.h>
#include <lz4.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <string_view>
#include <thread>

#include "engine/webgpu/webgpu_engine.hpp"
#include "engine_cases.hpp"
#include "format/encoded_size_webgpu.hpp"
#include "format/formats_webgpu.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "format/lz4/restore/lz4_restore_webgpu.hpp"
#include "hemstitch/hemstitch.hpp"
#include "restored_ranges.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using testing::Answer;
using testing::answers;
using testing::Bytes;
using testing::copy_of;
using testing::expect_twins;
using testing::Shape;
using Case = testing::EngineCase;

auto compressing(int level, std::size_t block_bytes) {
  return [=](BlockEngine& engine, std::span<BlockTask> tasks) {
    EncodeParameters parameters;
    parameters.level = level;
    parameters.block_bytes = block_bytes;
    engine.compress(tasks, parameters);
  };
}
void restoring(BlockEngine& engine, std::span<BlockTask> tasks) { engine.restore(tasks, Format::kLz4); }

class WebgpuEngine : public testing::WebgpuTest {
 protected:
  static std::shared_ptr<webgpu::Device> shared_device() {
    return {std::shared_ptr<void>(), &device()};  // exists as long as the program
  }
  static std::shared_ptr<webgpu::Device> shared_reversed_device() {
    return {std::shared_ptr<void>(), &reversed_device()};
  }
};

// Blocks as in a frame: the room is a byte less than the block.
std::vector<Case> blocks_of(const std::vector<Shape>& shapes) {
  std::vector<Case> cases;
  for (const Shape& shape : shapes)
    if (!shape.bytes.empty()) cases.push_back({shape.name, {}, shape.bytes, shape.bytes.size() - 1});
  return cases;
}

// The same with room to spare, for an engine that restores; compressed by liblz4 if the result fits.
std::vector<Case> compressed_blocks(const std::vector<Shape>& shapes) {
  std::vector<Case> cases;
  for (const Shape& shape : shapes) {
    Bytes compressed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(shape.bytes.size()))));
    const int bytes = LZ4_compress_default(
        reinterpret_cast<const char*>(shape.bytes.data()), reinterpret_cast<char*>(compressed.data()),
        static_cast<int>(shape.bytes.size()), static_cast<int>(compressed.size()));
    compressed.resize(static_cast<std::size_t>(bytes));
    cases.push_back({shape.name, {}, compressed, shape.bytes.size()});
  }
  return cases;
}

TEST_F(WebgpuEngine, EveryLevelWritesTheTwinsBytes) {
  const auto engine = webgpu::make_engine(shared_device());
  const std::vector<Case> cases = blocks_of(testing::boundary_shapes(1281));
  for (const int level : {1, 3}) expect_twins(*engine, cases, compressing(level, 65536));
  // The other levels differ in how far they search.
  for (int level = 1; level <= 12; ++level)
    expect_twins(*engine,
                 blocks_of({{"words", testing::wordy_bytes(5000)}, {"runs", testing::runs_bytes(3000, 2)}}),
                 compressing(level, 65536));
  expect_twins(*engine, blocks_of(testing::shapes_of(65536)), compressing(1, 65536));
  // As in pages.
  for (const int level : {1, 2})
    expect_twins(*engine, blocks_of(testing::boundary_shapes(4096)), compressing(level, 4096));
  expect_twins(
      *engine,
      blocks_of({{"mixed", testing::mixed_bytes(65537)}, {"period", testing::periodic_bytes(65537, 31)}}),
      compressing(3, 262144));
}

TEST_F(WebgpuEngine, HistoriesAndLittleRoom) {
  const auto engine = webgpu::make_engine(shared_device());
  std::vector<Case> cases;
  for (const testing::FinderCase& input : testing::finder_cases(5000)) {
    const std::span<const std::byte> data(input.data);
    const Bytes history = copy_of(data.first(input.history_bytes)),
                block = copy_of(data.subspan(input.history_bytes));
    if (block.empty()) continue;
    for (const std::size_t room : {block.size() - 1, block.size() + 100, block.size() / 3, std::size_t{0}})
      cases.push_back({input.name, history, block, room});
  }
  for (const int level : {1, 3}) expect_twins(*engine, cases, compressing(level, 65536));
}

TEST_F(WebgpuEngine, BlocksLongerThanADispatchTakes) {
  const auto engine = webgpu::make_engine(shared_device());
  const std::vector<Shape> shapes = {{"mixed", testing::mixed_bytes(200000, 5)},
                                     {"equal", testing::equal_bytes(1 << 20)},
                                     {"words", testing::wordy_bytes(100001)}};
  for (const int level : {1, 3}) expect_twins(*engine, blocks_of(shapes), compressing(level, 1 << 20));
  expect_twins(*engine, compressed_blocks(shapes), restoring);
}

// A batch that is so large that several threads copy it. Blocks that shrink, do not shrink, or are damaged
// alternate.
TEST_F(WebgpuEngine, BatchesThatSeveralThreadsCopy) {
  const auto engine = webgpu::make_engine(shared_device(), {.batch_bytes = std::uint64_t{8} << 20});
  std::vector<Shape> shapes;
  for (unsigned i = 0; i < 28; ++i) {
    Bytes bytes = i % 8 == 1 ? testing::wordy_bytes(65536 - i) : testing::random_bytes(65536 - i, i);
    if (i % 8 > 1) std::fill_n(bytes.begin() + 100 * i, 4000, static_cast<std::byte>(i));
    shapes.push_back({"block", std::move(bytes)});
  }
  const std::vector<Case> blocks = blocks_of(shapes);
  expect_twins(*engine, blocks, compressing(1, 65536));
  std::vector<Case> compressed = compressed_blocks(shapes);
  for (std::size_t i = 0; i < compressed.size(); i += 5)
    compressed[i].input.resize(compressed[i].input.size() / 2);
  expect_twins(*engine, compressed, restoring);
}

TEST_F(WebgpuEngine, RestoresWhatLiblz4Writes) {
  const auto engine = webgpu::make_engine(shared_device());
  expect_twins(*engine, compressed_blocks(testing::boundary_shapes(65537)), restoring);
}

TEST_F(WebgpuEngine, RestoresBlocksThatNoEncoderWrites) {
  const auto engine = webgpu::make_engine(shared_device());
  std::vector<Case> cases;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    testing::ValidData made = testing::valid_lz4_block(seed, seed % 20 == 0 ? 65536 : 4000);
    if (made.content.empty()) continue;
    cases.push_back({"made of " + std::to_string(seed), std::move(made.dictionary), std::move(made.data),
                     made.content.size()});
  }
  expect_twins(*engine, cases, restoring);
}

// Lengths around those that need another byte; with more than four, the shader uses a single invocation.
TEST_F(WebgpuEngine, RestoresLengthsOfAnyNumberOfBytes) {
  const auto engine = webgpu::make_engine(shared_device());
  Bytes data;
  for (std::uint32_t further = 0; further < 7; ++further)
    for (const std::uint32_t length : {14u + 255 * further, 15u + 255 * further, 16u + 255 * further}) {
      const Bytes literals = testing::random_bytes(length, length);
      data.insert(data.end(), literals.begin(), literals.end());
      // A match of `length` + 4 bytes, then one of the same length whose source is the literals.
      data.insert(data.end(), length + 5, static_cast<std::byte>(length));
      data.insert(data.end(), literals.begin(), literals.end());
    }
  expect_twins(*engine, compressed_blocks({{"lengths", data}}), restoring);
}

// Adds `count` damaged copies of the cases.
void add_damaged(std::vector<Case>& cases, int count, std::mt19937& random) {
  const std::size_t good = cases.size();
  for (int i = 0; i < count; ++i) {
    Case damaged = cases[random() % good];
    switch (random() % 4) {
      case 0:
        damaged.input.resize(random() % (damaged.input.size() + 1));
        break;
      case 1:
        damaged.room = random() % (damaged.room + 1);
        break;
      default:
        for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
          damaged.input[random() % damaged.input.size()] ^= static_cast<std::byte>(1 + random() % 255);
    }
    damaged.history = testing::random_bytes(random() % 3 * 100);
    cases.push_back(std::move(damaged));
  }
}

// Damaged blocks, blocks of noise, and rooms that are too small: the twin's statuses, and nothing written
// outside.
TEST_F(WebgpuEngine, RestoringAnyInputIsSafe) {
  const auto engine = webgpu::make_engine(shared_device());
  std::mt19937 random(77);
  std::vector<Case> cases = compressed_blocks(testing::shapes_of(3000));
  add_damaged(cases, 1500, random);
  for (std::uint32_t i = 0; i < 500; ++i)
    cases.push_back({"noise", testing::random_bytes(i % 7, i),
                     testing::random_bytes(random() % 200, i, 1 + i % 256), random() % 2000});
  cases.push_back({"endless literal count", {}, Bytes(5000, std::byte{255}), 100000});
  expect_twins(*engine, cases, restoring);
}

// Runs the cases as batches of few blocks that are large enough for many workgroups each, with both orders of
// workgroups.
void expect_few_blocks_as_twins(const std::vector<std::shared_ptr<webgpu::Device>>& devices,
                                const std::vector<Case>& cases) {
  constexpr std::size_t kBatch = 61;
  for (const auto& device : devices) {
    const auto engine = webgpu::make_engine(device, {.batch_bytes = std::uint64_t{16} << 20});
    for (std::size_t begin = 0; begin < cases.size(); begin += kBatch) {
      const std::size_t end = std::min(cases.size(), begin + kBatch);
      std::vector<Case> batch(cases.begin() + static_cast<std::ptrdiff_t>(begin),
                              cases.begin() + static_cast<std::ptrdiff_t>(end));
      batch.push_back(compressed_blocks({{"large", testing::mixed_bytes(20000)}})[0]);
      expect_twins(*engine, batch, restoring);
    }
  }
}

TEST_F(WebgpuEngine, FewBlocksGetManyWorkgroups) {
  const auto shader_of = [](std::uint32_t blocks, std::uint32_t block_bytes, std::uint32_t room_bytes) {
    webgpu::Lz4RestoreTable table;
    for (std::uint32_t i = 0; i < blocks; ++i) table.add(0, block_bytes, room_bytes);
    const webgpu::Lz4RestorePlan plan = plan_lz4_restore(table);
    return record_lz4_restore(plan, table).steps().front().shader;
  };
  constexpr std::string_view kFew = "format/lz4/restore/lz4_restore_few.wgsl";
  EXPECT_EQ(shader_of(1, 1000, 8192), kFew);
  EXPECT_EQ(shader_of(64, 4 << 20, 4 << 20), kFew);
  EXPECT_NE(shader_of(65, 1000, 65536), kFew);
  EXPECT_NE(shader_of(1, 1000, 8191), kFew);
  EXPECT_NE(shader_of(1, (8 << 20) + 1, 65536), kFew);
  EXPECT_NE(shader_of(1, 1000, (8 << 20) + 1), kFew);
}

// A literal and a match of four bytes, so many times.
Bytes block_of_steps(std::size_t matches) {
  Bytes block = {std::byte{0x40}, std::byte{'a'}, std::byte{'b'}, std::byte{'c'}, std::byte{'d'}};
  for (std::size_t i = 0; i < matches; ++i)
    block.insert(block.end(), {std::byte{4}, std::byte{0}, std::byte{0x10}, std::byte(i)});
  return block;
}

// The first block is long enough for both passes that shorten the ways.
TEST_F(WebgpuEngine, RestoresFewLargeBlocks) {
  std::vector<Case> cases = compressed_blocks({{"mixed", testing::mixed_bytes(300'000, 5)},
                                               {"equal", testing::equal_bytes(150'000)},
                                               {"words", testing::wordy_bytes(100'001)},
                                               {"random", testing::random_bytes(70'000, 3)},
                                               {"period", testing::periodic_bytes(70'000, 31)},
                                               {"wide period", testing::periodic_bytes(140'000, 65535)}});
  // Each match copies what the one before copied.
  constexpr std::size_t kSteps = 60'000;
  Bytes steps = block_of_steps(kSteps);
  cases.push_back({"steps", {}, steps, 5 * kSteps + 4});
  cases.push_back({"too small for its steps", {}, steps, 5 * kSteps + 3});
  steps[4 * kSteps / 2 + 1] = std::byte{0xFF};
  steps[4 * kSteps / 2 + 2] = std::byte{0xFF};
  cases.push_back({"damaged steps", {}, steps, 5 * kSteps + 4});
  cases.push_back({"endless literal count", {}, Bytes(50'000, std::byte{255}), 100'000});
  cases.push_back({"nothing", {}, {}, 10'000});
  expect_few_blocks_as_twins({shared_device(), shared_reversed_device()}, cases);
  expect_few_blocks_as_twins({shared_device()}, compressed_blocks(testing::boundary_shapes(1025)));
  const auto folder = testing::corpora();
  if (!folder) return;
  std::vector<Shape> files;
  for (const char* name : {"silesia/dickens", "silesia/x-ray"})
    files.push_back({name, testing::read_file(*folder / name, 200'000)});
  expect_few_blocks_as_twins({shared_device()}, compressed_blocks(files));
}

// Damaged blocks, blocks of noise, and rooms that are too small: the twin's statuses, and nothing written
// outside.
TEST_F(WebgpuEngine, RestoringAnyInputOfFewBlocksIsSafe) {
  std::mt19937 random(78);
  std::vector<Case> cases = compressed_blocks(testing::shapes_of(9000));
  // Sequences where chains stop, some of which end where a window does.
  for (std::uint32_t i = 0; i < 12; ++i) {
    Bytes data = testing::random_bytes(1900 + 13 * i, i);
    data.insert(data.end(), 1500 + 7 * i, std::byte{7});
    const Bytes words = testing::wordy_bytes(3000, i);
    data.insert(data.end(), words.begin(), words.end());
    for (Case& one : compressed_blocks({{"stops", data}})) cases.push_back(std::move(one));
  }
  add_damaged(cases, 400, random);
  for (std::uint32_t i = 0; i < 100; ++i)
    cases.push_back({"noise", testing::random_bytes(i % 7, i),
                     testing::random_bytes(random() % 5000, i, 1 + i % 256), random() % 20000});
  expect_few_blocks_as_twins({shared_device()}, cases);
}

// Compares the statuses themselves, although an engine makes one error of both.
TEST_F(WebgpuEngine, FewBlocksHaveTheTwinsStatuses) {
  std::mt19937 random(79);
  const Case good = compressed_blocks({{"mixed", testing::mixed_bytes(20000, 4)}})[0];
  std::vector<Case> cases(64, good);
  for (std::size_t i = 1; i < cases.size(); ++i) {
    Case& one = cases[i];
    if (i % 3 != 0) one.room = random() % one.room;
    if (i % 3 != 1) one.input[random() % one.input.size()] = std::byte{0xFF};
  }
  webgpu::Lz4RestoreTable table;
  for (const Case& one : cases)
    table.add(0, static_cast<std::uint32_t>(one.input.size()), static_cast<std::uint32_t>(one.room));
  ASSERT_TRUE(table.has_few_blocks());
  std::vector<std::byte> data(static_cast<std::size_t>(table.data_bytes));
  for (std::size_t i = 0; i < cases.size(); ++i)
    std::ranges::copy(cases[i].input, data.begin() + table.rows[i].begin);
  const webgpu::Lz4RestorePlan plan = plan_lz4_restore(table);
  const webgpu::BufferSet buffers = device().make_buffers(plan.buffers);
  testing::upload(device(), buffers, plan.data, data);
  testing::upload(device(), buffers, plan.rows, table.rows);
  device().run(record_lz4_restore(plan, table), buffers);
  const auto results =
      testing::download<webgpu::Lz4RestoreResult>(device(), buffers, plan.results, cases.size());
  int too_small = 0, corrupt = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Bytes output(cases[i].room);
    const Status expected = restore_lz4_block_reference(cases[i].input, {}, output).status;
    EXPECT_EQ(webgpu::restore_status(results[i].status), expected) << i;
    too_small += expected == Status::kOutputTooSmall ? 1 : 0;
    corrupt += expected == Status::kCorruptBlock ? 1 : 0;
  }
  EXPECT_GT(too_small, 10);
  EXPECT_GT(corrupt, 3);
}

// What the host makes of what a device says about its blocks.
TEST(WebgpuStagedBatch, ReadsResults) {
  const webgpu::BlockSizes blocks[] = {{0, 100, 100}, {0, 50, 40}};
  const webgpu::DeviceFormat& lz4 = *webgpu::device_format(Format::kLz4);
  const webgpu::StagedBatch encoded = lz4.stage_compress(blocks, 1, 65536);
  const std::uint32_t sizes[] = {70, webgpu::kEncodedTooLarge, 0, 72, 72};
  const webgpu::BatchOutput output = encoded.read_results(std::as_bytes(std::span(sizes)));
  EXPECT_EQ(output.bytes, 72u);
  ASSERT_EQ(output.blocks.size(), 2u);
  EXPECT_EQ(output.blocks[0].status, Status::kOk);
  EXPECT_EQ(output.blocks[0].bytes, 70u);
  EXPECT_EQ(output.blocks[1].status, Status::kOutputTooSmall);
  const webgpu::StagedBatch restored = lz4.stage_restore(blocks);
  const webgpu::Lz4RestoreResult results[] = {{.status = 2}, {.status = 0, .restored_bytes = 40}};
  const webgpu::BatchOutput content = restored.read_results(std::as_bytes(std::span(results)));
  EXPECT_EQ(content.bytes, 140u);
  EXPECT_EQ(content.blocks[0].status, Status::kOutputTooSmall);
  EXPECT_EQ(content.blocks[1].begin, 100u);
  EXPECT_EQ(content.blocks[1].bytes, 40u);
}

// As after a driver that stopped the shader: nothing restored, and not a word about it, must not pass as empty content.
TEST(WebgpuStagedBatch, WhatNoStepWroteIsAFault) {
  const webgpu::BlockSizes blocks[] = {{0, 100, 100}, {0, 50, 40}};
  for (const Format format : {Format::kLz4, Format::kGzip, Format::kZstd}) {
    const webgpu::StagedBatch staged = webgpu::device_format(format)->stage_restore(blocks);
    ASSERT_EQ(staged.results.size(), 1u);
    const auto copied = std::ranges::find_if(
        staged.tables, [&](const auto& table) { return table.to == staged.results[0].from; });
    ASSERT_NE(copied, staged.tables.end());
    ASSERT_EQ(copied->rows.size(), staged.results[0].bytes);
    const webgpu::BatchOutput output = staged.read_results(copied->rows);
    ASSERT_EQ(output.blocks.size(), 2u);
    for (const webgpu::BlockOutput& block : output.blocks) EXPECT_EQ(block.status, Status::kDeviceFault);
  }
}

TEST_F(WebgpuEngine, ASecondRunCompilesNoShader) {
  const auto device = std::make_shared<webgpu::Device>(testing::device_options());
  const auto run = [&] {
    const auto engine = webgpu::make_engine(device);  // an engine for each file, as in the tool
    const std::vector<Shape> shapes = {{"words", testing::wordy_bytes(70000)}};
    expect_twins(*engine, blocks_of(shapes), compressing(3, 262144));
    expect_twins(*engine, compressed_blocks(shapes), restoring);
  };
  run();
  const std::size_t compiled = device->pipeline_count();
  EXPECT_GT(compiled, 0u);
  run();
  EXPECT_EQ(device->pipeline_count(), compiled);
}

TEST_F(WebgpuEngine, SmallLimitsCutBatches) {
  webgpu::DeviceOptions options = testing::device_options();
  // 16 blocks' heads of 64 KB in a binding, and few workgroups in a dimension.
  options.limits = webgpu::DeviceLimits{.binding_bytes = std::uint64_t{1} << 20,
                                        .buffer_bytes = std::uint64_t{1} << 20,
                                        .workgroups_per_dimension = 60};
  const auto limited = std::make_shared<webgpu::Device>(options);
  webgpu::EngineOptions engine_options;
  engine_options.slot_count = 1;
  const auto engine = webgpu::make_engine(limited, engine_options);
  EXPECT_LT(engine->preferred_batch_bytes(), std::size_t{262144});
  std::vector<Case> cases = blocks_of(testing::shapes_of(20000));
  for (Case& one : blocks_of(testing::boundary_shapes(33))) cases.push_back(std::move(one));
  expect_twins(*engine, cases, compressing(3, 65536));
  expect_twins(*engine, compressed_blocks(testing::shapes_of(20000)), restoring);
}

TEST_F(WebgpuEngine, ABlockThatADeviceCannotHoldIsAnError) {
  webgpu::DeviceOptions options = testing::device_options();
  options.limits = webgpu::DeviceLimits{.binding_bytes = 100000, .buffer_bytes = 100000};
  const auto engine = webgpu::make_engine(std::make_shared<webgpu::Device>(options));
  const std::vector<Case> cases = blocks_of({{"words", testing::wordy_bytes(60000)}});
  EXPECT_THROW(answers(*engine, cases, compressing(3, 65536)), Error);
}

// More batches than slots, from more threads than slots, each with its own level and sizes.
TEST_F(WebgpuEngine, ManyThreadsShareTheRing) {
  webgpu::EngineOptions options;
  options.slot_count = 2;
  const auto engine = webgpu::make_engine(shared_device(), options);
  const auto reference = make_reference_backend()->make_engine({});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number)
    threads.emplace_back([&, number]() noexcept {
      for (std::uint32_t round = 0; round < 4; ++round) {
        const std::size_t bytes = 1000 + 7919 * number * (round + 1);
        const std::vector<Case> cases = blocks_of({{"words", testing::wordy_bytes(bytes, number)},
                                                   {"runs", testing::runs_bytes(bytes / 2 + 1, round)}});
        const auto work = compressing(number % 2 == 0 ? 1 : 3, 65536);
        const auto got = answers(*engine, cases, work), expected = answers(*reference, cases, work);
        if (got != expected) ++wrong;
        std::vector<Case> back;
        for (std::size_t i = 0; i < cases.size(); ++i)
          if (expected[i].status == Status::kOk)
            back.push_back({"", {}, expected[i].bytes, cases[i].input.size()});
        if (answers(*engine, back, restoring) != answers(*reference, back, restoring)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(WebgpuWorkspace, AtMostTwelveBytesForAByteOfInput) {
  for (const std::uint32_t block_bytes : {65536u, 262144u, 1048576u, 4194304u}) {
    const std::uint64_t bytes = std::uint64_t{64} << 20;
    const WorkspacePlan plan = webgpu::device_workspace(Format::kLz4, kMaxLevel, block_bytes, bytes);
    EXPECT_LE(plan.total_bytes(), 12 * bytes) << plan.text();
    EXPECT_GE(plan.total_bytes(), 10 * bytes) << plan.text();
  }
}

TEST_F(WebgpuEngine, ManyRangesAreThoseOfTheContent) {
  testing::expect_ranges_of_content("webgpu", 600'000, 20'001);
}

TEST_F(WebgpuEngine, RealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  const auto engine = webgpu::make_engine(shared_device());
  std::vector<Shape> shapes;
  for (const char* name :
       {"canterbury/alice29.txt", "silesia/nci", "silesia/samba", "silesia/x-ray", "silesia/xml"})
    shapes.push_back({name, testing::read_file(*folder / name, 65536)});
  for (int level = 1; level <= 12; ++level)
    expect_twins(*engine, blocks_of(shapes), compressing(level, 65536));
}

}  // namespace
}  // namespace hemstitch
