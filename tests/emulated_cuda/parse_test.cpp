// The parses' kernels on the processor, compared with their twins, for records of both widths.
#include <gtest/gtest.h>

#include <random>

#include "parse/greedy/greedy_cuda.hpp"
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/optimal/optimal_reference.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

template <typename Record>
using Records = std::vector<Record>;

// Matches at every fourth position or so, up to `most_bytes` long, of all of the offsets that a record holds.
template <typename Record>
std::vector<Records<Record>> random_blocks(std::uint32_t most_bytes) {
  std::mt19937 random(most_bytes);
  std::vector<Records<Record>> blocks;
  for (const std::uint32_t bytes : {0u, 1u, 5u, 300u, 9000u, 0u, 4096u, 17u}) {
    Records<Record> records(bytes);
    for (std::uint32_t i = 0; i < bytes; ++i) {
      if (random() % 4 != 0) continue;
      const auto offset = static_cast<std::uint32_t>(random() >> random() % 32) | 1u;
      const auto length = static_cast<std::uint32_t>(1 + random() % std::min(most_bytes, bytes - i));
      if constexpr (std::is_same_v<Record, WideRecord>)
        records[i] = {offset, length};
      else
        records[i] = pack_match(offset & 0xFFFF, length);
    }
    blocks.push_back(std::move(records));
  }
  return blocks;
}

template <typename Record, typename Parse>
void expect_twin(const std::vector<Records<Record>>& blocks, const BlockPlan& plan, const Parse& parse) {
  std::vector<DeviceBlock> rows;
  Records<Record> all;
  for (const Records<Record>& records : blocks) {
    rows.push_back({nullptr, static_cast<std::uint32_t>(records.size()), 0, all.size()});
    all.insert(all.end(), records.begin(), records.end());
  }
  DeviceBlocks batch{.d_blocks = rows.data(), .block_count = static_cast<std::uint32_t>(rows.size())};
  batch.max_block_bytes = static_cast<std::uint32_t>(all.size());
  batch.total_block_bytes = all.size();
  std::vector<Sequence> sequences(cuda::device_sequence_capacity(batch, plan));
  std::vector<std::uint32_t> counts(rows.size());
  std::uint64_t total = 7;
  testing::Bytes scratch(cuda::parse_scratch_bytes(batch, parse));
  cuda::parse(batch, parse, all.data(), plan, {sequences.data(), counts.data(), &total}, scratch.data(),
              scratch.size(), nullptr);
  std::uint64_t expected_total = 0;
  for (std::uint32_t block = 0; block < rows.size(); ++block) {
    const std::vector<Sequence> expected =
        parse_reference(BasicParseInput<Record>{blocks[block], plan}, parse);
    ASSERT_EQ(counts[block], expected.size()) << Parse::kName << ", block " << block;
    expected_total += expected.size();
    const Sequence* const found = sequences.data() + first_sequence(rows[block].position, block, plan);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[i].literal_count, expected[i].literal_count) << Parse::kName << ", sequence " << i;
      ASSERT_EQ(found[i].match_length, expected[i].match_length) << Parse::kName << ", sequence " << i;
      ASSERT_EQ(found[i].offset, expected[i].offset) << Parse::kName << ", sequence " << i;
    }
  }
  EXPECT_EQ(total, expected_total);
}

template <typename Record>
void expect_twins(const BlockPlan& plan) {
  for (const std::uint32_t most_bytes : {12u, 6000u}) {
    const auto blocks = random_blocks<Record>(most_bytes);
    expect_twin(blocks, plan, GreedyParse{});
    expect_twin(blocks, plan, LazyParse{});
    expect_twin(blocks, plan, LazyParse{.skip = 8});
    expect_twin(blocks, plan, OptimalExactParse<FullLengthCostModel>{});
  }
}

TEST(EmulatedParse, NarrowRecords) { expect_twins<MatchRecord>(lz4_block_plan()); }

TEST(EmulatedParse, WideRecords) { expect_twins<WideRecord>({3, kMaxRecordLength, 1u << 31, 3, 0}); }

}  // namespace
}  // namespace hemstitch
