// The parses of a CUDA device: every list of sequences must be the twins', to the last element.
#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "captured_graph.hpp"
#include "cuda_test.hpp"
#include "format/lz4/compress/lz4_cost.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "parse/greedy/greedy.hpp"
#include "parse/greedy/greedy_cuda.hpp"
#include "parse/lazy/lazy.hpp"
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/optimal/optimal_reference.hpp"
#include "record_batch.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using Sequences = std::vector<Sequence>;

// A parse, with its name, twin and device functions.
struct Pair {
  std::string name;
  std::function<Sequences(const ParseInput&)> twin;
  std::function<std::size_t(const DeviceBlocks&)> scratch_bytes;
  std::function<void(const DeviceBlocks&, const MatchRecord*, const BlockPlan&, const cuda::DeviceSequences&,
                     void*, std::size_t, cudaStream_t)>
      device;
};

template <typename Model>
std::vector<Pair> optimal_pairs(const std::string& model_name, const Model& model) {
  return {{"optimal, " + model_name, [=](const ParseInput& input) { return parse_optimal(input, model); },
           [=](const DeviceBlocks& blocks) { return cuda::parse_optimal_cuda_scratch_bytes(blocks, model); },
           [=](const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
               const cuda::DeviceSequences& out, void* d_scratch, std::size_t bytes, cudaStream_t stream) {
             cuda::parse_optimal_cuda(blocks, d_records, plan, model, out, d_scratch, bytes, stream);
           }},
          {"optimal_exact, " + model_name,
           [=](const ParseInput& input) { return parse_optimal_exact(input, model); },
           [=](const DeviceBlocks& blocks) {
             return cuda::parse_optimal_exact_cuda_scratch_bytes(blocks, model);
           },
           [=](const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
               const cuda::DeviceSequences& out, void* d_scratch, std::size_t bytes, cudaStream_t stream) {
             cuda::parse_optimal_exact_cuda(blocks, d_records, plan, model, out, d_scratch, bytes, stream);
           }}};
}

Pair lazy_pair(std::uint32_t lazy_skip) {
  return {fmt::format("lazy, skip {}", lazy_skip),
          [=](const ParseInput& input) { return parse_lazy(input, lazy_skip); },
          [](const DeviceBlocks&) { return std::size_t{0}; },
          [=](const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
              const cuda::DeviceSequences& out, void*, std::size_t, cudaStream_t stream) {
            cuda::parse_lazy_cuda(blocks, d_records, plan, lazy_skip, out, stream);
          }};
}

std::vector<Pair> pairs_for(const BlockPlan& plan) {
  std::vector<Pair> pairs = {
      {"greedy", [](const ParseInput& input) { return parse_greedy(input); },
       [](const DeviceBlocks&) { return std::size_t{0}; },
       [](const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& limits,
          const cuda::DeviceSequences& out, void*, std::size_t,
          cudaStream_t stream) { cuda::parse_greedy_cuda(blocks, d_records, limits, out, stream); }},
      lazy_pair(0),
      lazy_pair(32)};
  FullLengthCostModel dear;  // the largest costs that are allowed
  dear.literal_cost_bits = dear.match_fixed_cost_bits = 4096;
  for (auto& pair : optimal_pairs("flat", FullLengthCostModel{})) pairs.push_back(std::move(pair));
  for (auto& pair : optimal_pairs("dear", dear)) pairs.push_back(std::move(pair));
  if (plan.min_match_length >= 4)
    for (auto& pair : optimal_pairs("lz4", Lz4CostModel{})) pairs.push_back(std::move(pair));
  return pairs;
}

std::string text(const Sequence& sequence) {
  return fmt::format("{} literals, {} bytes from {} back", sequence.literal_count, sequence.match_length,
                     sequence.offset);
}

// How `parsed` differs from the twin; empty if it does not.
std::string difference(const std::vector<RecordBlock>& blocks, const RecordBatch& batch,
                       const BlockPlan& plan, const Pair& pair, const ParsedBatch& parsed) {
  if (!parsed.kept_to_its_room) return pair.name + ": wrote outside its room";
  std::uint64_t total = 0;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    const Sequences twin = pair.twin({blocks[b].records, plan});
    total += twin.size();
    const auto where = [&] {
      return fmt::format("{}: block {} ({}, {} positions)", pair.name, b, blocks[b].name,
                         blocks[b].records.size());
    };
    const std::uint32_t count = parsed.counts[b];
    const std::uint64_t first = first_sequence(batch.position(b), b, plan);
    std::uint64_t position = 0;
    for (std::size_t i = 0; i < twin.size(); ++i) {
      const Sequence& ours = parsed.sequences[first + i];
      const Sequence& theirs = twin[i];
      if (i >= count || ours.literal_count != theirs.literal_count ||
          ours.match_length != theirs.match_length || ours.offset != theirs.offset)
        return fmt::format("{}: sequence {} at position {}: twin {}, device {} (lists of {} and {})", where(),
                           i, position, text(theirs), i < count ? text(ours) : "nothing", twin.size(), count);
      position += theirs.literal_count + theirs.match_length;
    }
    if (count != twin.size())
      return fmt::format("{}: twin {} sequences, device {}", where(), twin.size(), count);
  }
  if (parsed.total != total) return fmt::format("{}: total {}, device {}", pair.name, total, parsed.total);
  return "";
}

bool same_lists(const RecordBatch& batch, const BlockPlan& plan, const ParsedBatch& a, const ParsedBatch& b) {
  if (a.counts != b.counts || a.total != b.total) return false;
  for (std::uint32_t block = 0; block < a.counts.size(); ++block) {
    const auto ours = a.list(batch, block, plan), theirs = b.list(batch, block, plan);
    if (std::memcmp(ours.data(), theirs.data(), ours.size_bytes()) != 0) return false;
  }
  return true;
}

class ParseDeviceTest : public CudaStreamTest {
 protected:
  ParsedBatch run(const RecordBatch& batch, const BlockPlan& plan, const Pair& pair) const {
    const std::size_t scratch_bytes = pair.scratch_bytes(batch.blocks());
    return run_parse(
        batch, plan, scratch_bytes, stream(), [&](const cuda::DeviceSequences& out, void* d_scratch) {
          pair.device(batch.blocks(), batch.d_records(), plan, out, d_scratch, scratch_bytes, stream());
        });
  }

  void expect_twins(const std::vector<RecordBlock>& blocks, const std::vector<BlockPlan>& plans) const {
    const RecordBatch batch(blocks, stream());
    for (const BlockPlan& plan : plans)
      for (const Pair& pair : pairs_for(plan)) {
        const ParsedBatch first = run(batch, plan, pair);
        EXPECT_EQ(difference(blocks, batch, plan, pair, first), "") << "min " << plan.min_match_length;
        EXPECT_TRUE(same_lists(batch, plan, first, run(batch, plan, pair)))
            << pair.name << ": two runs differ";
      }
  }
};

const std::vector<BlockPlan>& all_plans() {
  static const std::vector<BlockPlan> plans = {lz4_block_plan(), deflate_block_plan(),
                                               lzss_block_plan(5, 258), lzss_block_plan(1, 65535)};
  return plans;
}

TEST_F(ParseDeviceTest, ListsOfFoundMatchesAreTheTwins) {
  std::vector<RecordBlock> blocks;
  for (const Shape& shape : boundary_shapes(65537))
    blocks.push_back({shape.name, find_hash_chain({shape.bytes, 0}, {.hash_bits = 12, .depth = 4})});
  expect_twins(blocks, all_plans());
}

TEST_F(ParseDeviceTest, ListsOfRandomCandidatesAreTheTwins) {
  std::vector<RecordBlock> blocks;
  std::uint32_t seed = 0;
  for (const std::size_t count : kBoundarySizes)
    for (const unsigned spacing : {1u, 3u, 40u})
      for (const std::uint32_t most : {4u, 20u, 70u, 300u, 1300u, 70000u}) {
        ++seed;
        blocks.push_back(
            {fmt::format("one in {}, up to {}", spacing, most), random_records(count, seed, spacing, most)});
      }
  expect_twins(blocks, all_plans());
}

TEST_F(ParseDeviceTest, ListsOfOneLengthEverywhereAreTheTwins) {
  std::vector<RecordBlock> blocks;
  for (const std::size_t count : {1000u, 4096u, 16384u, 16385u, 65536u, 200000u})
    for (const std::uint32_t length : {1u, 2u, 3u, 4u, 5u, 7u, 18u, 19u, 63u, 64u, 65u, 66u, 67u, 258u, 1024u,
                                       8191u, 8192u, 8193u, 65535u})
      blocks.push_back({fmt::format("length {}", length), equal_records(count, length)});
  expect_twins(blocks, all_plans());
}

// The device has shortcuts for LZ4's lengths: around those that need another byte, and near the shortest
// match.
TEST_F(ParseDeviceTest, ListsOfLz4CostsAreTheTwinsWhateverTheShortestMatch) {
  std::vector<RecordBlock> blocks;
  std::uint32_t seed = 0;
  for (const unsigned spacing : {1u, 2u, 9u})
    for (const std::uint32_t most : {8u, 24u, 80u, 280u, 540u, 1050u, 3000u})
      blocks.push_back({fmt::format("one in {}, up to {}", spacing, most),
                        random_records(9'000 + most, ++seed, spacing, most)});
  for (const std::uint32_t length :
       {17u, 18u, 19u, 20u, 21u, 22u, 66u, 67u, 68u, 273u, 274u, 275u, 276u, 277u, 528u, 529u, 531u, 532u})
    blocks.push_back({fmt::format("length {}", length), equal_records(5'000, length)});
  const RecordBatch batch(blocks, stream());
  const Pair pair = optimal_pairs("lz4", Lz4CostModel{}).front();
  for (const std::uint32_t shortest : {4u, 5u, 7u, 15u, 16u, 17u, 18u, 19u, 22u, 300u})
    for (const std::uint32_t longest : {300u, 65535u}) {
      const BlockPlan plan = lzss_block_plan(shortest, longest);
      EXPECT_EQ(difference(blocks, batch, plan, pair, run(batch, plan, pair)), "") << "shortest " << shortest;
    }
}

TEST_F(ParseDeviceTest, PagesAreTheTwins) {
  std::vector<RecordBlock> blocks;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const Bytes bytes = i % 2 == 0 ? wordy_bytes(4096 - i % 5, i) : runs_bytes(4096 - i % 7, i);
    blocks.push_back({"page", find_hash_chain({bytes, 0}, {.hash_bits = 11, .depth = 4})});
  }
  expect_twins(blocks, {lz4_block_plan(), deflate_block_plan()});
}

TEST_F(ParseDeviceTest, LargeBlocksAreTheTwins) {
  std::vector<RecordBlock> blocks;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Bytes bytes = i == 0   ? wordy_bytes(1 << 19, 1)
                        : i == 1 ? runs_bytes((1 << 19) + 1, 2)
                                 : Bytes((1 << 20) - 3);
    blocks.push_back({"large", find_hash_chain({bytes, 0}, {.hash_bits = 14, .depth = 4})});
  }
  expect_twins(blocks, {lz4_block_plan(), deflate_block_plan()});
}

TEST_F(ParseDeviceTest, AHundredThousandUnequalBlocksAreTheTwins) {
  std::mt19937 random(5);
  std::vector<RecordBlock> blocks;
  for (std::uint32_t i = 0; i < 100'000; ++i)
    blocks.push_back({"one of many", random_records(random() % (i % 1000 == 0 ? 20'000 : 70), i, 2, 40)});
  expect_twins(blocks, {lz4_block_plan()});
}

TEST_F(ParseDeviceTest, AnEmptyBatchHasNoSequences) {
  const std::vector<RecordBlock> none;
  const RecordBatch batch(none, stream());
  for (const Pair& pair : pairs_for(lz4_block_plan())) {
    const ParsedBatch parsed = run(batch, lz4_block_plan(), pair);
    EXPECT_EQ(parsed.total, 0u) << pair.name;
    EXPECT_TRUE(parsed.kept_to_its_room) << pair.name;
  }
}

TEST_F(ParseDeviceTest, CapturedInAGraphIsTheSame) {
  std::vector<RecordBlock> blocks;
  for (std::uint32_t i = 0; i < 20; ++i) blocks.push_back({"block", random_records(30'000 + i, i, 2, 100)});
  const RecordBatch batch(blocks, stream());
  for (const Pair& pair : pairs_for(lz4_block_plan())) {
    const std::size_t scratch_bytes = pair.scratch_bytes(batch.blocks());
    const ParsedBatch parsed =
        run_parse(batch, lz4_block_plan(), scratch_bytes, stream(),
                  [&](const cuda::DeviceSequences& out, void* d_scratch) {
                    cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
                    const CapturedGraph graph(stream(), [&] {
                      pair.device(batch.blocks(), batch.d_records(), lz4_block_plan(), out, d_scratch,
                                  scratch_bytes, stream());
                    });
                    graph.launch(2);
                    cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
                  });
    EXPECT_EQ(difference(blocks, batch, lz4_block_plan(), pair, parsed), "");
  }
}

TEST_F(ParseDeviceTest, TooLittleScratchIsAnError) {
  const std::vector<RecordBlock> blocks = {{"block", random_records(5000, 1, 2, 100)}};
  const RecordBatch batch(blocks, stream());
  cuda::DeviceBuffer<std::byte> d_scratch(1 << 24, stream());
  for (const Pair& pair : pairs_for(lz4_block_plan())) {
    const std::size_t scratch_bytes = pair.scratch_bytes(batch.blocks());
    if (scratch_bytes == 0) continue;
    const auto parse = [&](void* d_given, std::size_t given_bytes) {
      try {
        pair.device(batch.blocks(), batch.d_records(), lz4_block_plan(), {}, d_given, given_bytes, stream());
      } catch (const Error& error) {
        return error.status();
      }
      return Status::kOk;
    };
    EXPECT_EQ(parse(d_scratch.get(), scratch_bytes - 1), Status::kInvalidOption) << pair.name;
    EXPECT_EQ(parse(nullptr, scratch_bytes), Status::kInvalidOption) << pair.name;
  }
}

TEST_F(ParseDeviceTest, ACostAboveTheLimitIsAnError) {
  const std::vector<RecordBlock> blocks = {{"block", random_records(5000, 1, 2, 100)}};
  const RecordBatch batch(blocks, stream());
  FullLengthCostModel model;
  model.literal_cost_bits = 4097;
  try {
    cuda::parse_optimal_cuda(batch.blocks(), batch.d_records(), lz4_block_plan(), model, {}, nullptr, 0,
                             stream());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidOption);
    EXPECT_NE(std::string(error.what()).find("cost"), std::string::npos) << error.what();
  }
}

TEST_F(ParseDeviceTest, ListsOfRealFilesAreTheTwins) {
  const auto folder = corpora();
  if (!folder) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  std::vector<RecordBlock> blocks;
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    const Bytes bytes = read_file(*folder / "silesia" / name, 1 << 20);
    for (std::size_t begin = 0; begin < bytes.size(); begin += 65536)
      blocks.push_back(
          {name, find_hash_chain(
                     {std::span(bytes).subspan(begin, std::min<std::size_t>(65536, bytes.size() - begin)), 0},
                     {.hash_bits = 13, .depth = 4})});
  }
  expect_twins(blocks, {lz4_block_plan(), deflate_block_plan()});
}

}  // namespace
}  // namespace hemstitch
