// hash_chain, hash_pairs and near_three, compared with their twins.
#include <gtest/gtest.h>

#include "finder_batch_webgpu.hpp"
#include "match/common/common_length.hpp"
#include "match/hash_chain/hash_chain_webgpu.hpp"
#include "match/hash_pairs/hash_pairs_webgpu.hpp"
#include "match/links/links_webgpu.hpp"
#include "match/near_three/near_three_webgpu.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::download;
using testing::WebgpuFinderBatch;

class WebgpuFinders : public testing::WebgpuTest {
 protected:
  // Runs one of the hash finders, and returns the records of the whole data.
  template <typename Parameters>
  static std::vector<MatchRecord> find(Device& device, const WebgpuFinderBatch& inputs,
                                       const Parameters& parameters) {
    BufferPlan plan;
    const BlockBatch batch = inputs.plan(plan);
    const HashFinderBuffers ids{plan.add("heads", link_heads_bytes(batch.block_count, parameters.hash_bits)),
                                plan.add("records", inputs.data_bytes() * 4),
                                plan.add("other", inputs.data_bytes() * 4),
                                plan.add("marks", batch.tile_count * 4)};
    const BufferSet buffers = device.make_buffers(plan);
    inputs.upload_to(device, buffers, batch);
    // The previous contents must not matter.
    for (const BufferId id : {ids.heads, ids.records, ids.other, ids.marks})
      device.write(buffers[id.index],
                   std::vector<std::byte>(static_cast<std::size_t>(plan.bytes(id)), std::byte{0xA5}));
    Recording recording;
    record(recording, batch, ids, parameters);
    device.run(recording, buffers);
    return download<MatchRecord>(device, buffers, ids.other, inputs.data_bytes());
  }

  static void record(Recording& recording, const BlockBatch& batch, const HashFinderBuffers& ids,
                     const HashChainParameters& parameters) {
    record_hash_chain(recording, batch, ids, parameters);
  }

  static void expect_twin(const std::vector<testing::FinderCase>& inputs,
                          const HashChainParameters& parameters) {
    const WebgpuFinderBatch batch(inputs);
    for (Device* one : both_orders())
      EXPECT_EQ(batch.first_difference(
                    find(*one, batch, parameters),
                    [&](const FinderInput& input) { return find_hash_chain(input, parameters); }),
                "");
  }
  static void record(Recording& recording, const BlockBatch& batch, const HashFinderBuffers& ids,
                     const HashPairsParameters& parameters) {
    record_hash_pairs(recording, batch, {.output = {ids.other}, .spare = ids.records}, parameters);
  }
  // Takes only inputs without history.
  static void expect_twin(std::vector<testing::FinderCase> inputs, const HashPairsParameters& parameters) {
    std::erase_if(inputs, [](const testing::FinderCase& one) { return one.history_bytes != 0; });
    const WebgpuFinderBatch batch(inputs);
    for (Device* one : both_orders())
      EXPECT_EQ(batch.first_difference(
                    find(*one, batch, parameters),
                    [&](const FinderInput& input) { return find_hash_pairs(input, parameters); }),
                "");
  }

  // In pieces, or with a workgroup for each block.
  static std::vector<MatchRecord> find_near(Device& device, const WebgpuFinderBatch& inputs,
                                            const NearThreeParameters& parameters, bool by_pieces) {
    std::vector<LinkPiece> pieces;
    if (by_pieces)
      for (const BlockRow& row : inputs.table().rows) add_link_pieces(row, parameters.window_bytes, pieces);
    BufferPlan plan;
    const BlockBatch batch = inputs.plan(plan);
    const std::size_t owners = by_pieces ? pieces.size() : batch.block_count;
    const NearThreeBuffers ids{plan.add("heads", link_heads_bytes(owners, parameters.hash_bits)),
                               plan.add("links", inputs.data_bytes() * 4),
                               plan.add("records", inputs.data_bytes() * 4)};
    std::optional<LinkPieces> given;
    if (by_pieces)
      given = LinkPieces{plan.add("pieces", pieces.size() * sizeof(LinkPiece)),
                         static_cast<std::uint32_t>(pieces.size())};
    const BufferSet buffers = device.make_buffers(plan);
    inputs.upload_to(device, buffers, batch);
    if (given) testing::upload(device, buffers, given->pieces, pieces);
    for (const BufferId id : {ids.heads, ids.links, ids.records})
      device.write(buffers[id.index],
                   std::vector<std::byte>(static_cast<std::size_t>(plan.bytes(id)), std::byte{0xA5}));
    Recording recording;
    record_near_three(recording, batch, ids, parameters, kMostCompared, given);
    device.run(recording, buffers);
    return download<MatchRecord>(device, buffers, ids.records, inputs.data_bytes());
  }

  static void expect_near_twin(const std::vector<testing::FinderCase>& inputs,
                               const NearThreeParameters& parameters) {
    const WebgpuFinderBatch batch(inputs);
    for (Device* one : both_orders())
      for (const bool by_pieces : {false, true})
        EXPECT_EQ(batch.first_difference(find_near(*one, batch, parameters, by_pieces),
                                         [&](const FinderInput& input) {
                                           return near_records(input, find_near_three(input, parameters));
                                         }),
                  "");
  }

  static constexpr std::uint32_t kMostCompared = 6;

 private:
  // The twin's offsets, with the number of equal bytes at each.
  static MatchRecords near_records(const FinderInput& input, const NearOffsets& offsets) {
    MatchRecords records(offsets.size(), 0);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] == 0) continue;
      const std::byte* const here = input.data.data() + input.history_bytes + i;
      const std::size_t limit = std::min<std::size_t>(kMostCompared, offsets.size() - i);
      records[i] =
          pack_match(offsets[i], static_cast<std::uint32_t>(common_length(here, here - offsets[i], limit)));
    }
    return records;
  }
};

// Sizes around the boundaries of tiles and groups, with every shape.
std::vector<testing::FinderCase> boundary_inputs(std::size_t most_bytes) {
  std::vector<testing::FinderCase> inputs;
  for (testing::Shape& shape : testing::boundary_shapes(most_bytes))
    inputs.push_back({std::move(shape.name), std::move(shape.bytes), 0});
  return inputs;
}

// Long enough for lengths above 65535, and for rows across many tiles.
std::vector<testing::FinderCase> long_inputs() {
  std::vector<testing::FinderCase> inputs;
  for (const std::size_t period : {1u, 2u, 31u, 300u, 4096u})
    inputs.push_back({"long period " + std::to_string(period), testing::periodic_bytes(150000, period), 0});
  // A break in a run, in some cases just where a length would be 65535.
  for (const std::size_t at : {70000u, 65534u, 65535u, 65536u, 65537u, 66560u}) {
    std::vector<std::byte> run(140000, std::byte{5});
    run[at] = std::byte{6};
    inputs.push_back({"run broken at " + std::to_string(at), std::move(run), at % 3 * 1000});
  }
  inputs.push_back({"mixed", testing::mixed_bytes(150000, 3), 70000});
  return inputs;
}

TEST_F(WebgpuFinders, HashChainIsItsTwin) {
  const std::vector<testing::FinderCase> inputs = testing::finder_cases(6000);
  for (const std::uint32_t depth : {1u, 4u, 16u})
    expect_twin(inputs, HashChainParameters{.hash_bits = 12, .depth = depth});
  for (const std::uint32_t reach : {1u, 4u, 5u, 12u, 16u})
    expect_twin(inputs, HashChainParameters{.hash_bits = 12, .depth = 4, .stitch_reach = reach});
  // Few hash bits: different bytes with the same hash.
  expect_twin(inputs, HashChainParameters{.hash_bits = 8, .depth = 8, .cap_bytes = 5, .window_bytes = 700});
  expect_twin(inputs, HashChainParameters{.hash_bits = 10, .depth = 3, .cap_bytes = 16, .stitch = false});
}

TEST_F(WebgpuFinders, HashChainIsItsTwinAtEveryHashWidth) {
  const std::vector<testing::FinderCase> inputs = testing::finder_cases(6000);
  for (const std::uint32_t hash_bytes : {5u, 6u, 7u, 8u})
    expect_twin(inputs, HashChainParameters{.hash_bits = 12, .depth = 4, .hash_bytes = hash_bytes});
  // The content decides, on either side of the limit between few and many values, and of the limit for short
  // blocks.
  std::vector<testing::FinderCase> blocks = {{"four letters", testing::random_bytes(66'000, 1, 4), 0},
                                             {"words", testing::wordy_bytes(50'000, 2), 1},
                                             {"four letters", testing::random_bytes(30'001, 3, 4), 10'000},
                                             {"too short", testing::random_bytes(8191, 4, 4), 0},
                                             {"just long enough", testing::random_bytes(8292, 5, 4), 100},
                                             {"zeros", std::vector<std::byte>(20'000), 0}};
  for (testing::FinderCase& one : testing::few_values_cases()) blocks.push_back(std::move(one));
  expect_twin(blocks, HashChainParameters{.hash_bits = 14, .depth = 8, .few_values_hash_bytes = 7});
  expect_twin(blocks,
              HashChainParameters{.hash_bits = 12, .depth = 2, .hash_bytes = 5, .few_values_hash_bytes = 8});
}

TEST_F(WebgpuFinders, HashPairsIsItsTwin) {
  std::vector<testing::FinderCase> inputs = testing::finder_cases(4096);
  for (testing::FinderCase& one : boundary_inputs(4097)) inputs.push_back(std::move(one));
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    inputs.push_back({"few symbols", testing::random_bytes(900 + 97 * seed, seed, 2 + seed % 3), 0});
    inputs.push_back({"copies", testing::copied_bytes(1024 + 103 * seed, seed), 0});
    inputs.push_back({"words", testing::wordy_bytes(4096 - 3 * seed, seed), 0});
  }
  expect_twin(inputs, HashPairsParameters{});
  // Positions that need all of 16 bits.
  expect_twin({{"equal", testing::equal_bytes(65536), 0},
               {"mixed", testing::mixed_bytes(65535, 3), 0},
               {"words", testing::wordy_bytes(65536, 4), 0},
               {"period", testing::periodic_bytes(65536, 32769), 0}},
              HashPairsParameters{});
}

TEST_F(WebgpuFinders, NearThreeIsItsTwin) {
  const std::vector<testing::FinderCase> inputs = testing::finder_cases(6000);
  for (const std::uint32_t depth : {1u, 4u, 16u}) expect_near_twin(inputs, {.depth = depth});
  // Few hash bits: different bytes with the same hash.
  expect_near_twin(inputs, {.hash_bits = 8, .depth = 3, .window_bytes = 700});
  expect_near_twin(boundary_inputs(1281), {.depth = 2});
}

// Longer than a piece, and longer than the part of it that one dispatch processes.
TEST_F(WebgpuFinders, PiecesLinkAsBlocksDo) {
  expect_near_twin({{"mixed", testing::mixed_bytes(150000, 3), 40000},
                    {"period", testing::periodic_bytes(140000, 32768), 0},
                    {"period", testing::periodic_bytes(140000, 32769), 0}},
                   {.hash_bits = 16, .depth = 16});
}

TEST_F(WebgpuFinders, BoundarySizes) {
  const std::vector<testing::FinderCase> inputs = boundary_inputs(4097);
  expect_twin(inputs, HashChainParameters{.hash_bits = 11, .depth = 4});
}

TEST_F(WebgpuFinders, LongRowsPassManyTiles) {
  const std::vector<testing::FinderCase> inputs = long_inputs();
  expect_twin(inputs, HashChainParameters{.hash_bits = 14, .depth = 4});
}

TEST_F(WebgpuFinders, RealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<testing::FinderCase> inputs;
  for (const char* name : {"canterbury/alice29.txt", "silesia/nci", "silesia/x-ray"})
    inputs.push_back({name, testing::read_file(*folder / name, 100000), inputs.size() * 20000});
  expect_twin(inputs, HashChainParameters{.hash_bits = 14, .depth = 16});
  std::vector<testing::FinderCase> pages;
  for (const testing::FinderCase& file : inputs)
    for (std::size_t at = 0; at + 4096 <= file.data.size(); at += 4096) {
      const auto page = std::span(file.data).subspan(at, 4096);
      pages.push_back({file.name, {page.begin(), page.end()}, 0});
    }
  expect_twin(pages, HashPairsParameters{});
}

TEST_F(WebgpuFinders, BadParametersAreRefusedByName) {
  Recording recording;
  try {
    record_hash_chain(recording, {}, {}, HashChainParameters{.cap_bytes = 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cap_bytes"), std::string::npos);
  }
  try {
    record_hash_pairs(recording, {}, {}, {.hash_bits = 12});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("hash_bits"), std::string::npos);
  }
}

}  // namespace
}  // namespace hemstitch
