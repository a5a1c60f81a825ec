// hash_chain on the device must equal its twin, byte by byte.
#include "match/hash_chain/hash_chain.hpp"

#include <gtest/gtest.h>

#include "captured_graph.hpp"
#include "core/status.hpp"
#include "cuda_test.hpp"
#include "finder_cases.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using HashChainCuda = CudaTest;

std::vector<MatchRecord> find_on_device(const FinderBatch& batch, const HashChainParameters& parameters,
                                        const cuda::Stream& stream) {
  const std::size_t scratch_bytes = cuda::find_hash_chain_cuda_scratch_bytes(batch.blocks(), parameters);
  return batch.run(scratch_bytes, [&](MatchRecord* d_records, void* d_scratch) {
    cuda::find_hash_chain_cuda(batch.blocks(), parameters, d_records, d_scratch, scratch_bytes, stream.get());
  });
}

void expect_equal(const std::vector<FinderCase>& cases,
                  const std::vector<HashChainParameters>& all_parameters) {
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  for (const HashChainParameters& parameters : all_parameters) {
    const std::vector<MatchRecord> records = find_on_device(batch, parameters, stream);
    EXPECT_EQ(first_difference(cases, batch, records,
                               [&](const FinderInput& input) { return find_hash_chain(input, parameters); }),
              "")
        << "bits " << parameters.hash_bits << ", depth " << parameters.depth << ", cap "
        << parameters.cap_bytes << ", window " << parameters.window_bytes << ", stitch " << parameters.stitch
        << ", reach " << parameters.stitch_reach << ", hashes of " << parameters.hash_bytes
        << ", of few values " << parameters.few_values_hash_bytes;
    EXPECT_TRUE(records == find_on_device(batch, parameters, stream)) << "a second run differs";
  }
}

TEST_F(HashChainCuda, EqualsItsTwinOnSmallBlocks) {
  expect_equal(small_cases(), {{.hash_bits = 14, .depth = 1, .cap_bytes = 16, .stitch = false},
                               {.hash_bits = 14, .depth = 1, .cap_bytes = 16},
                               {.hash_bits = 11, .depth = 4, .stitch = false},
                               {.hash_bits = 11, .depth = 4},
                               {.hash_bits = 14, .depth = 64, .stitch_reach = 16}});
}

TEST_F(HashChainCuda, EqualsItsTwinForEveryParameter) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 501}) {
    cases.push_back({"words", wordy_bytes(4000, 1), history});
    cases.push_back({"two letters", random_bytes(4000, 2, 2), history});
    cases.push_back({"runs", runs_bytes(4000, 3), history});
    cases.push_back({"period 100", periodic_bytes(4000, 100), history});
  }
  std::vector<HashChainParameters> all_parameters;
  for (const std::uint32_t depth : {1u, 2u, 5u, 64u, ~0u})
    for (const std::uint32_t cap_bytes : {4u, 5u, 64u, 65u, 65535u})
      for (const unsigned hash_bits : {8u, 16u})
        for (const std::uint32_t window_bytes : {1u, 100u, 65535u})
          for (const bool stitch : {false, true})
            all_parameters.push_back(
                {hash_bits, depth, cap_bytes, window_bytes, stitch, std::min(depth, 16u)});
  expect_equal(cases, all_parameters);
}

TEST_F(HashChainCuda, EqualsItsTwinOnLargeBlocks) {
  expect_equal(large_cases(), {{.hash_bits = 13, .depth = 1, .cap_bytes = 16, .window_bytes = 32768},
                               {.hash_bits = 14, .depth = 4},
                               {.hash_bits = 16, .depth = 3, .window_bytes = 40'000, .stitch = false}});
}

// Segments take over the window before them without its links: windows that end within a row, rows in which
// many positions have the same hash, and blocks that end just after a segment, whose last positions have no
// hash.
TEST_F(HashChainCuda, EqualsItsTwinWhereSegmentsMeet) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 5, 127, 65535, 65537})
    for (const std::size_t size : {65535, 65536, 65537, 65538, 65539, 65540, 65544, 131073, 131075}) {
      cases.push_back({"two letters", random_bytes(size + history, 7, 2), history});
      cases.push_back({"words", wordy_bytes(size + history, 8), history});
    }
  cases.push_back({"zeros", Bytes(200'000, std::byte{0}), 65535});
  cases.push_back({"period 33", periodic_bytes(200'000, 33), 1000});
  expect_equal(cases, {{.hash_bits = 14, .depth = 1, .cap_bytes = 16},
                       {.hash_bits = 8, .depth = 4},
                       {.hash_bits = 13, .depth = 4, .window_bytes = 32768},
                       {.hash_bits = 14, .depth = 2, .window_bytes = 30'001},
                       {.hash_bits = 12, .depth = 3, .hash_bytes = 7}});
}

TEST_F(HashChainCuda, EqualsItsTwinOnBlocksOf4MB) {
  std::vector<FinderCase> cases;
  cases.push_back({"zeros", Bytes(4 << 20, std::byte{0}), 0});
  cases.push_back({"words", wordy_bytes((4 << 20) + 777, 5), 777});
  cases.push_back({"period 65535", periodic_bytes(4 << 20, 65535), 0});
  cases.push_back({"random", random_bytes(4 << 20, 6), 0});
  expect_equal(cases, {{.hash_bits = 14, .depth = 4}});
}

std::vector<HashChainParameters> deflate_parameters() {
  std::vector<HashChainParameters> all;
  for (const int level : {1, 3, 9, 12}) all.push_back(deflate_level(level).finder);
  return all;
}

TEST_F(HashChainCuda, EqualsItsTwinWithTheParametersOfDeflate) {
  expect_equal(small_cases(), deflate_parameters());
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 32768}) {
    cases.push_back({"mixed", mixed_bytes((1 << 20) + history, 5), history});
    cases.push_back({"copies", copied_bytes(400'001 + history, 6), history});
    cases.push_back({"period 300", periodic_bytes(400'000 + history, 300), history});
  }
  expect_equal(cases, deflate_parameters());
}

TEST_F(HashChainCuda, EqualsItsTwinWithTheParametersOfDeflateOnFiles) {
  if (!corpora()) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  expect_equal(file_cases(1 << 19, 32768, 1), deflate_parameters());
}

TEST_F(HashChainCuda, EqualsItsTwinOnFiles) {
  if (!corpora()) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  expect_equal(file_cases(65536, 32768, 6),
               {{.hash_bits = 14, .depth = 1, .window_bytes = 32768},
                {.hash_bits = 14, .depth = 4, .window_bytes = 32768},
                {.hash_bits = 14, .depth = 64, .window_bytes = 32768, .stitch_reach = 16}});
  expect_equal(file_cases(262'144, 65536, 3), {{.hash_bits = 14, .depth = 16, .stitch_reach = 16}});
  expect_equal(file_cases(4096, 0, 64), {{.hash_bits = 11, .depth = 4}});
}

// So many blocks that one warp builds the chains of several, and keeps its table if one continues another.
TEST_F(HashChainCuda, EqualsItsTwinOnBlocksInARow) {
  const cuda::Stream stream;
  const Bytes file = wordy_bytes(2'400'000, 11);
  for (const std::size_t history_bytes : {0, 200, 1000}) {
    const std::vector<FinderCase> cases = row_cases(file, 301, history_bytes);
    const FinderBatch batch(file, cases, stream);
    for (const HashChainParameters& parameters :
         {HashChainParameters{.hash_bits = 11, .depth = 1, .cap_bytes = 16, .window_bytes = 500},
          HashChainParameters{.hash_bits = 11, .depth = 1}, HashChainParameters{.hash_bits = 11, .depth = 4},
          HashChainParameters{.hash_bits = 11, .depth = 4, .window_bytes = 3},
          HashChainParameters{.hash_bits = 11, .depth = 4, .window_bytes = 4},
          HashChainParameters{.hash_bits = 11, .depth = 4, .window_bytes = 200},
          HashChainParameters{.hash_bits = 11, .depth = 4, .window_bytes = 301}})
      EXPECT_EQ(
          first_difference(cases, batch, find_on_device(batch, parameters, stream),
                           [&](const FinderInput& input) { return find_hash_chain(input, parameters); }),
          "")
          << "history " << history_bytes << ", depth " << parameters.depth << ", window "
          << parameters.window_bytes;
  }
}

// Blocks that continue each other, eight of which go to one warp, so that its table covers half a million
// positions: empty blocks make it seem that there are many. The links of a block's history are then those of
// the block before.
TEST_F(HashChainCuda, EqualsItsTwinOnLongRows) {
  constexpr std::size_t kEnoughBlocks = 30'000;
  const cuda::Stream stream;
  struct Row {
    std::size_t block_bytes, history_bytes;
    std::uint32_t window_bytes;
  };
  for (const Bytes& file : {wordy_bytes(1'200'000, 12), mixed_bytes(1'200'000, 3),
                            periodic_bytes(1'200'000, 32'000), random_bytes(1'200'000, 5, 4)})
    for (const Row& row : {Row{65536, 32768, 32768}, Row{65536, 32768, 30'001}, Row{50'001, 65536, 32768},
                           Row{65536, 65535, 65535}, Row{65536, 30'000, 32768}, Row{40'000, 32768, 32767}}) {
      std::vector<FinderCase> cases = row_cases(file, row.block_bytes, row.history_bytes);
      cases.resize(kEnoughBlocks);
      const FinderBatch batch(file, cases, stream);
      for (const std::uint32_t depth : {1u, 4u, 16u}) {
        const HashChainParameters parameters{.hash_bits = 14,
                                             .depth = depth,
                                             .window_bytes = row.window_bytes,
                                             .stitch_reach = depth < 16 ? 8u : 16u};
        ASSERT_EQ(
            first_difference(cases, batch, find_on_device(batch, parameters, stream),
                             [&](const FinderInput& input) { return find_hash_chain(input, parameters); }),
            "")
            << "blocks of " << row.block_bytes << ", history " << row.history_bytes << ", window "
            << row.window_bytes << ", depth " << depth;
      }
    }
}

TEST_F(HashChainCuda, EqualsItsTwinAtEveryHashWidth) {
  std::vector<HashChainParameters> all;
  for (const std::uint32_t hash_bytes : {5u, 6u, 7u, 8u})
    all.push_back({.hash_bits = 11, .depth = 4, .hash_bytes = hash_bytes});
  expect_equal(small_cases(), all);
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 32768, 65536})
    for (const std::size_t size : {65535, 65537, 200'000}) {
      cases.push_back({"four letters", random_bytes(size + history, 3, 4), history});
      cases.push_back({"words", wordy_bytes(size + history, 4), history});
      cases.push_back({"period 7", periodic_bytes(size + history, 7), history});
    }
  expect_equal(cases, {{.hash_bits = 14, .depth = 1, .cap_bytes = 16, .hash_bytes = 6},
                       {.hash_bits = 14, .depth = 4, .hash_bytes = 7},
                       {.hash_bits = 14, .depth = 64, .stitch_reach = 16, .hash_bytes = 8},
                       {.hash_bits = 12, .depth = 16, .window_bytes = 32768, .hash_bytes = 5}});
}

// Blocks that hash four bytes beside others that hash more, on both sides of the limit.
TEST_F(HashChainCuda, EqualsItsTwinWhereBlocksChooseTheirHashWidth) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 1000, 65536}) {
    for (const std::size_t size : {8191, 8192, 8193, 65536, 65537, 262'144})
      cases.push_back({"four letters", random_bytes(size + history, 3, 4), history});
    cases.push_back({"words", wordy_bytes(100'000 + history, 4), history});
    cases.push_back({"zeros", Bytes(100'000 + history, std::byte{0}), history});
    cases.push_back(
        {"words, then four letters", wordy_bytes(history, 4) + random_bytes(70'001, 5, 4), history});
    cases.push_back(
        {"four letters, then words", random_bytes(history, 5, 4) + wordy_bytes(70'001, 4), history});
  }
  for (FinderCase& one : few_values_cases()) cases.push_back(std::move(one));
  expect_equal(cases,
               {{.hash_bits = 14, .depth = 4, .few_values_hash_bytes = 7},
                {.hash_bits = 14, .depth = 64, .stitch_reach = 16, .few_values_hash_bytes = 6},
                {.hash_bits = 14, .depth = 16, .window_bytes = 32768, .few_values_hash_bytes = 8},
                {.hash_bits = 12, .depth = 1, .cap_bytes = 16, .hash_bytes = 5, .few_values_hash_bytes = 8}});
}

// Consecutive blocks that choose different widths: the links of one cannot serve for the history of the next.
// Empty blocks follow, so that a warp takes several blocks.
TEST_F(HashChainCuda, EqualsItsTwinOnRowsOfChosenHashWidths) {
  constexpr std::size_t kEnoughBlocks = 30'000;
  const cuda::Stream stream;
  Bytes file;
  for (std::uint32_t part = 0; part < 12; ++part)
    file = file + (part % 3 == 1 ? wordy_bytes(70'000, part) : random_bytes(60'000 + 10'000 * part, part, 4));
  for (const std::size_t history_bytes : {0, 5000, 9001})
    for (const std::size_t block_bytes : {9001, 66'000}) {
      std::vector<FinderCase> cases = row_cases(file, block_bytes, history_bytes);
      cases.resize(kEnoughBlocks);
      const FinderBatch batch(file, cases, stream);
      for (const HashChainParameters& parameters :
           {HashChainParameters{.hash_bits = 11, .depth = 1, .few_values_hash_bytes = 7},
            HashChainParameters{
                .hash_bits = 11, .depth = 4, .window_bytes = 5000, .few_values_hash_bytes = 7},
            HashChainParameters{.hash_bits = 12, .depth = 8, .window_bytes = 9, .few_values_hash_bytes = 6},
            HashChainParameters{
                .hash_bits = 12, .depth = 16, .window_bytes = 65535, .few_values_hash_bytes = 8}})
        EXPECT_EQ(
            first_difference(cases, batch, find_on_device(batch, parameters, stream),
                             [&](const FinderInput& input) { return find_hash_chain(input, parameters); }),
            "")
            << "blocks of " << block_bytes << ", history " << history_bytes << ", depth " << parameters.depth
            << ", window " << parameters.window_bytes;
    }
}

TEST_F(HashChainCuda, RunsInAGraph) {
  const cuda::Stream stream;
  const std::vector<FinderCase> cases = {{"words", wordy_bytes(100'000, 1), 1000}};
  const FinderBatch batch(cases, stream);
  const HashChainParameters parameters{.hash_bits = 14, .depth = 4};
  const std::size_t scratch_bytes = cuda::find_hash_chain_cuda_scratch_bytes(batch.blocks(), parameters);
  const std::vector<MatchRecord> records =
      batch.run(scratch_bytes, [&](MatchRecord* d_records, void* d_scratch) {
        const CapturedGraph graph(stream.get(), [&] {
          cuda::find_hash_chain_cuda(batch.blocks(), parameters, d_records, d_scratch, scratch_bytes,
                                     stream.get());
        });
        graph.launch();
        stream.synchronize();
      });
  EXPECT_EQ(first_difference(cases, batch, records,
                             [&](const FinderInput& input) { return find_hash_chain(input, parameters); }),
            "");
}

// This needs no device.
TEST(HashChainCudaParameters, RefusesWhatTheTwinRefuses) {
  const auto message = [](const HashChainParameters& parameters) -> std::string {
    try {
      cuda::find_hash_chain_cuda_scratch_bytes({}, parameters);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      return error.what();
    }
    return "no error";
  };
  for (const HashChainParameters& parameters :
       {HashChainParameters{.hash_bits = 7}, HashChainParameters{.hash_bits = 17},
        HashChainParameters{.depth = 0}, HashChainParameters{.cap_bytes = 3},
        HashChainParameters{.cap_bytes = 65536}, HashChainParameters{.window_bytes = 0},
        HashChainParameters{.window_bytes = 65536}, HashChainParameters{.hash_bytes = 3},
        HashChainParameters{.few_values_hash_bytes = 4}}) {
    std::string twins_message = "no error";
    try {
      find_hash_chain({}, parameters);
    } catch (const Error& error) {
      twins_message = error.what();
    }
    EXPECT_EQ(message(parameters), twins_message);
    EXPECT_NE(twins_message, "no error");
  }
  EXPECT_EQ(message({}), "no error");
}

TEST(HashChainCudaParameters, RefusesTooLittleScratch) {
  const DeviceBlocks batch{
      .d_blocks = nullptr, .block_count = 1, .max_block_bytes = 10, .total_block_bytes = 10};
  const std::size_t needed = cuda::find_hash_chain_cuda_scratch_bytes(batch, {});
  EXPECT_THROW(cuda::find_hash_chain_cuda(batch, {}, nullptr, nullptr, needed - 1, nullptr), Error);
}

}  // namespace
}  // namespace hemstitch
