// DEFLATE written by shaders, compared with the twins: the tokens and parts of each chunk, and the bytes and
// statuses of the engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/webgpu/webgpu_engine.hpp"
#include "engine_cases.hpp"
#include "format/deflate/compress/deflate_chunk.hpp"
#include "format/deflate/compress/deflate_compress_webgpu.hpp"
#include "format/formats_webgpu.hpp"
#include "shapes.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::Bytes;
using testing::EngineCase;
using testing::operator+;
using testing::Shape;

// The words of a part before its codes, as in deflate_parts.wgsl.
struct DevicePart {
  std::uint32_t kind, bits, header_bits, unit_begin, unit_end, content_begin, content_end, begin_bit, block,
      ends_block;
  std::uint32_t codes[320], header[80];
};
static_assert(sizeof(DevicePart) == 1640);

class WebgpuDeflate : public testing::WebgpuTest {
 protected:
  static std::shared_ptr<Device> shared_device() {
    return {std::shared_ptr<void>(), &device()};  // exists as long as the program
  }

  // Runs a batch of blocks, and compares the tokens and parts of every chunk with the twin's.
  static void expect_chunks(Device& one, const std::vector<testing::FinderCase>& inputs,
                            const DeflateLevel& level) {
    DeflateCompressTable table;
    Bytes data;
    std::uint64_t output_bytes = 0;
    for (const testing::FinderCase& input : inputs) {
      const auto block_bytes = static_cast<std::uint32_t>(input.input().block_bytes());
      const auto room = static_cast<std::uint32_t>(deflate_data_room(block_bytes));
      table.add(static_cast<std::uint32_t>(data.size()), static_cast<std::uint32_t>(input.history_bytes),
                block_bytes, room);
      // A gap continues the bytes before it, so that a match beyond the end of a block is noticed.
      data.insert(data.end(), input.data.begin(), input.data.end());
      for (int gap = 0; gap < 7 && !input.data.empty(); ++gap)
        data.push_back(input.data[static_cast<std::size_t>(gap) % input.data.size()]);
      output_bytes += divided_up(room, 4) * 4;
    }
    const DeflateCompressPlan plan = plan_deflate_compress(table, output_bytes, level);
    const BufferSet buffers = one.make_buffers(plan.buffers);
    // The previous contents must not matter.
    for (std::size_t part = 0; part < buffers.size(); ++part)
      one.write(buffers[part],
                Bytes(static_cast<std::size_t>(plan.buffers.parts()[part].bytes), std::byte{0xA5}));
    testing::upload(one, buffers, plan.blocks.data, data);
    testing::upload(one, buffers, plan.blocks.rows, table.blocks.rows);
    testing::upload(one, buffers, plan.blocks.tiles, table.blocks.tiles);
    testing::upload(one, buffers, plan.chunks.rows, table.chunks.rows);
    testing::upload(one, buffers, plan.chunks.tiles, table.chunks.tiles);
    testing::upload(one, buffers, plan.block_chunks, table.block_chunks);
    testing::upload(one, buffers, plan.pieces, table.pieces);
    one.run(record_deflate_compress(plan, table, level, DeflateEnd::kFlush, output_bytes), buffers);
    const auto decisions =
        testing::download<std::uint32_t>(one, buffers, plan.decisions, table.blocks.data_bytes);
    const auto parts = testing::download<DevicePart>(one, buffers, plan.parts,
                                                     table.chunks.rows.size() * plan.parts_a_chunk);
    for (std::size_t block = 0; block < inputs.size(); ++block) {
      const FinderInput input = inputs[block].input();
      const MatchRecords records = find_hash_chain(input, level.finder);
      const NearOffsets near = find_near_three(input, level.near);
      for (std::uint32_t number = table.block_chunks[block]; number < table.block_chunks[block + 1];
           ++number) {
        const BlockRow& row = table.chunks.rows[number];
        if (row.block_bytes == 0) continue;
        const std::size_t at = row.begin - table.blocks.rows[block].block_begin();
        const auto content = std::span(data).subspan(row.begin, row.block_bytes);
        const DeflateChunk expected =
            make_deflate_chunk(content, std::span(records).subspan(at, row.block_bytes),
                               std::span(near).subspan(at, row.block_bytes), level);
        const std::string name = inputs[block].name + ", chunk at " + std::to_string(at);
        ASSERT_NO_FATAL_FAILURE(
            expect_tokens(expected, content, std::span(decisions).subspan(row.begin, row.block_bytes), name));
        ASSERT_NO_FATAL_FAILURE(
            expect_parts(expected, std::span(parts).subspan(number * plan.parts_a_chunk), name));
      }
    }
  }

  static void expect_tokens(const DeflateChunk& expected, std::span<const std::byte> content,
                            std::span<const std::uint32_t> decisions, const std::string& name) {
    std::size_t position = 0;
    for (const DeflateToken& token : expected.tokens) {
      const std::uint32_t decision = decisions[position];
      const std::uint32_t value =
          decision == 0 ? static_cast<std::uint32_t>(content[position]) : record_offset(decision);
      ASSERT_EQ(record_length(decision), token.match_length) << name << ", position " << position;
      ASSERT_EQ(value, token.value) << name << ", position " << position;
      position += token.content_bytes();
    }
  }

  static void expect_parts(const DeflateChunk& expected, std::span<const DevicePart> parts,
                           const std::string& name) {
    for (std::size_t i = 0; i < expected.parts.size(); ++i) {
      const DeflateChunkPart& part = expected.parts[i];
      ASSERT_EQ(parts[i].content_begin, part.content_begin) << name << ", part " << i;
      ASSERT_EQ(parts[i].content_end, part.content_end) << name << ", part " << i;
      ASSERT_EQ(parts[i].kind, static_cast<std::uint32_t>(part.block.type)) << name << ", part " << i;
      ASSERT_EQ(parts[i].bits, part.block.bits) << name << ", part " << i;
      for (std::uint32_t symbol = 0; symbol < kDeflateLitlenCount; ++symbol)
        ASSERT_EQ(parts[i].codes[symbol] >> 16, part.block.lengths.litlen[symbol])
            << name << ", part " << i << ", symbol " << symbol;
      for (std::uint32_t symbol = 0; symbol < kDeflateDistanceCount; ++symbol)
        ASSERT_EQ(parts[i].codes[kDeflateFixedLitlenCount + symbol] >> 16,
                  part.block.lengths.distance[symbol])
            << name << ", part " << i << ", distance " << symbol;
    }
  }
};

auto compressing(int level, Format format) {
  return [=](BlockEngine& engine, std::span<BlockTask> tasks) {
    EncodeParameters parameters;
    parameters.format = format;
    parameters.level = level;
    parameters.block_bytes = std::size_t{1} << 20;
    engine.compress(tasks, parameters);
  };
}

// Blocks with the room that a frame gives them.
std::vector<EngineCase> blocks_of(const std::vector<Shape>& shapes) {
  std::vector<EngineCase> cases;
  for (const Shape& shape : shapes)
    cases.push_back({shape.name, {}, shape.bytes, deflate_data_room(shape.bytes.size())});
  return cases;
}

// Sizes around the boundaries of tokens, segments and tiles, each with a few shapes.
std::vector<Shape> small_shapes() {
  std::vector<Shape> shapes;
  for (const std::size_t bytes : {0, 1, 2, 3, 4, 7, 258, 1023, 1024, 1025, 1279, 1281}) {
    std::vector<Shape> all = testing::shapes_of(bytes);
    for (std::size_t i = bytes % 3; i < all.size(); i += 7) shapes.push_back(std::move(all[i]));
  }
  return shapes;
}

TEST_F(WebgpuDeflate, TokensAndPartsAreTheTwins) {
  // Every second input for each of two levels and orders.
  std::vector<testing::FinderCase> split, whole;
  for (testing::FinderCase& input : testing::finder_cases(1500))
    (split.size() > whole.size() ? whole : split).push_back(std::move(input));
  split.push_back({"halves", testing::random_bytes(17000, 1, 16) + testing::wordy_bytes(12000, 2), 3000});
  expect_chunks(device(), whole, deflate_level(6));
  expect_chunks(reversed_device(), split, deflate_level(12));
}

TEST_F(WebgpuDeflate, SmallBlocksAreTheTwins) {
  const auto engine = make_engine(shared_device());
  const std::vector<EngineCase> cases = blocks_of(small_shapes());
  for (const int level : {1, 6, 9}) expect_twins(*engine, cases, compressing(level, Format::kGzip));
  for (const int level : {3, 12}) expect_twins(*engine, cases, compressing(level, Format::kBgzf));
}

TEST_F(WebgpuDeflate, BlocksAroundTheSizeOfAChunkAreTheTwins) {
  const auto engine = make_engine(shared_device());
  const auto expect = [&](int level, Format format, const std::vector<Shape>& shapes) {
    expect_twins(*engine, blocks_of(shapes), compressing(level, format));
  };
  expect(1, Format::kGzip,
         {{"words", testing::wordy_bytes(65535, 1)}, {"period", testing::periodic_bytes(65540, 32768)}});
  expect(3, Format::kZlib,
         {{"random", testing::random_bytes(65536, 6)}, {"mixed", testing::mixed_bytes(65537, 3)}});
  expect(6, Format::kDeflate,
         {{"random behind words", testing::wordy_bytes(65536, 7) + testing::random_bytes(65536, 7)},
          {"all equal", testing::equal_bytes(65536)}});
  expect(9, Format::kBgzf,
         {{"mixed", testing::mixed_bytes(65280, 4)},
          {"period 2", testing::periodic_bytes(66000, 2)},
          {"two stored blocks", testing::random_bytes(65536, 8)}});
  expect(12, Format::kGzip,
         {{"halves", testing::random_bytes(32768, 1, 16) + testing::wordy_bytes(32768, 2)},
          {"random", testing::random_bytes(65537, 5)},
          {"copies", testing::copied_bytes(8192 * 3 + 1000, 8)}});
}

TEST_F(WebgpuDeflate, ABlockOfAMegabyteIsTheTwins) {
  const auto engine = make_engine(shared_device());
  const std::vector<EngineCase> cases = blocks_of({{"mixed", testing::mixed_bytes(1 << 20, 3)}});
  expect_twins(*engine, cases, compressing(1, Format::kDeflate));
}

TEST_F(WebgpuDeflate, HistoriesAndLittleRoom) {
  const auto engine = make_engine(shared_device());
  std::vector<EngineCase> cases;
  for (const testing::FinderCase& input : testing::finder_cases(1500)) {
    if (input.history_bytes == 0 && cases.size() > 10) continue;
    const std::span<const std::byte> data(input.data);
    const Bytes history = testing::copy_of(data.first(input.history_bytes)),
                block = testing::copy_of(data.subspan(input.history_bytes));
    for (const std::size_t room : {deflate_data_room(block.size()), block.size() / 3, std::size_t{5}})
      cases.push_back({input.name, history, block, room});
  }
  // As far back as matches reach, and a byte farther.
  for (const std::size_t distance : {32768, 32769}) {
    const Bytes history = testing::random_bytes(distance, 5);
    const Bytes block(history.begin(), history.begin() + 1000);
    cases.push_back({std::to_string(distance) + " back", history, block, deflate_data_room(block.size())});
  }
  expect_twins(*engine, cases, compressing(6, Format::kGzip));
}

// Literals whose frequencies are Fibonacci numbers have the longest codes.
TEST_F(WebgpuDeflate, CodesOf15Bits) {
  Bytes content;
  std::uint32_t count = 1, before = 1;
  for (unsigned symbol = 0; symbol < 22 && content.size() < 60000; ++symbol) {
    content.insert(content.end(), count, static_cast<std::byte>(symbol));
    std::swap(count, before);
    count += before;
  }
  std::mt19937 random(1);
  std::shuffle(content.begin(), content.end(), random);
  const auto engine = make_engine(shared_device());
  expect_twins(*engine, blocks_of({{"rare literals", content}}), compressing(6, Format::kGzip));
}

// One slot's buffers serve all formats and both directions, in any order, and grow with the batches.
TEST_F(WebgpuDeflate, ASlotTakesAnyWork) {
  const auto engine = make_engine(shared_device(), {.slot_count = 1});
  const auto reference = make_reference_backend()->make_engine({});
  for (const std::size_t bytes : {2'000, 17'000, 9'000})
    for (const Format format : {Format::kLz4, Format::kBgzf}) {
      const std::vector<EngineCase> cases =
          blocks_of({{"words", testing::wordy_bytes(bytes)}, {"mixed", testing::mixed_bytes(bytes, 3)}});
      expect_twins(*engine, cases, compressing(3, format));
      std::vector<EngineCase> compressed;
      for (const testing::Answer& answer : answers(*reference, cases, compressing(3, format)))
        compressed.push_back({"compressed", {}, answer.bytes, bytes});
      expect_twins(*engine, compressed,
                   [format](BlockEngine& one, std::span<BlockTask> tasks) { one.restore(tasks, format); });
    }
}

TEST_F(WebgpuDeflate, SmallLimitsCutBatches) {
  DeviceOptions options = testing::device_options();
  options.limits = DeviceLimits{.binding_bytes = std::uint64_t{1} << 20,
                                .buffer_bytes = std::uint64_t{1} << 20,
                                .workgroups_per_dimension = 60};
  EngineOptions engine_options;
  engine_options.slot_count = 1;
  const auto engine = make_engine(std::make_shared<Device>(options), engine_options);
  std::vector<Shape> shapes = testing::shapes_of(1500);
  shapes.push_back({"words", testing::wordy_bytes(70000)});
  expect_twins(*engine, blocks_of(shapes), compressing(3, Format::kGzip));
}

TEST_F(WebgpuDeflate, RealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  const auto engine = make_engine(shared_device());
  const auto expect = [&](int level, const char* name) {
    expect_twins(*engine, blocks_of({{name, testing::read_file(*folder / name, 65536)}}),
                 compressing(level, Format::kGzip));
  };
  expect(1, "canterbury/alice29.txt");
  expect(3, "silesia/x-ray");
  expect(6, "silesia/nci");
  expect(9, "silesia/xml");
  expect(12, "silesia/ooffice");
}

TEST(WebgpuDeflateWorkspace, AtMostTwentyBytesForAByteOfInput) {
  for (const std::uint32_t block_bytes : {65280u, 1u << 20})
    for (const int level : {1, 12}) {
      const BlockSizes block{block_bytes > 65536 ? 32768u : 0u, block_bytes,
                             static_cast<std::uint32_t>(deflate_data_room(block_bytes))};
      const std::vector<BlockSizes> blocks((64u << 20) / block_bytes, block);
      const StagedBatch staged = device_format(Format::kGzip)->stage_compress(blocks, level, block_bytes);
      EXPECT_LE(staged.buffers.total_bytes(), 20 * blocks.size() * (std::uint64_t{block_bytes} + 32768))
          << level;
    }
}

}  // namespace
}  // namespace hemstitch
