// The parses, compared with their twins: with finders' records, and with records that no finder would return.
#include "parse/parse_webgpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/sequence.hpp"
#include "finder_batch_webgpu.hpp"
#include "format/lz4/compress/lz4_cost.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "parse/greedy/greedy.hpp"
#include "parse/lazy/lazy.hpp"
#include "parse/optimal/cost_table.hpp"
#include "parse/optimal/optimal_exact_webgpu.hpp"
#include "parse/optimal/optimal_reference.hpp"
#include "parse/optimal/optimal_webgpu.hpp"
#include "parse/parses_webgpu.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::download;
using testing::upload;
using testing::WebgpuFinderBatch;

struct ParseBuffers {
  BufferId records, decisions;
  BufferId spare;  // 4 bytes for each byte of the data
  CostTableBuffers table;
};
using RecordParse = std::function<void(Recording&, const BlockBatch&, const ParseBuffers&)>;
using Twin = std::function<std::vector<Sequence>(const ParseInput&)>;

bool same(const Sequence& a, const Sequence& b) {
  return a.literal_count == b.literal_count && a.match_length == b.match_length && a.offset == b.offset;
}

// Prices that are not whole bits, one for each length up to 258 and each class of offsets; a segment costs
// more than 15 bits can hold.
const CostTable& cost_table() {
  static const CostTable table = [] {
    CostTable made{.literal = 8 * kCostUnitsPerBit + 5, .lengths = std::vector<std::uint32_t>(259)};
    for (std::uint32_t i = 0; i < made.lengths.size(); ++i) made.lengths[i] = 70 + i * 7 % 31 + 16 * (i / 30);
    for (std::uint32_t i = 0; i < made.offsets.size(); ++i) made.offsets[i] = 81 + 8 * i + i % 3;
    check_cost_table(made);
    return made;
  }();
  return table;
}

class WebgpuParse : public testing::WebgpuTest {
 protected:
  // `all_records` has a list of records for each input.
  static void expect_twin(const std::vector<testing::FinderCase>& inputs,
                          const std::vector<MatchRecords>& all_records, const BlockPlan& plan,
                          const RecordParse& parse, const Twin& twin) {
    const WebgpuFinderBatch batch_inputs(inputs, std::max(1u, plan.min_match_length));
    for (Device* one : both_orders()) {
      BufferPlan buffer_plan;
      const BlockBatch batch = batch_inputs.plan(buffer_plan);
      const std::uint64_t array_bytes = batch_inputs.data_bytes() * 4;
      const BufferId records = buffer_plan.add("records", array_bytes);
      const WalkBuffers walk{
          buffer_plan.add("decisions", array_bytes), buffer_plan.add("exits", array_bytes),
          buffer_plan.add("entries", batch.tile_count * 16), buffer_plan.add("counts", batch.block_count * 4),
          buffer_plan.add("sequences", batch_inputs.table().sequence_count * sizeof(DeviceSequence))};
      const std::vector<std::uint32_t> prices = cost_table().words();
      const CostTableBuffers table{buffer_plan.add("prices", prices.size() * 4),
                                   buffer_plan.add("ahead", batch.tile_count * kAheadBytes)};
      const BufferSet buffers = one->make_buffers(buffer_plan);
      upload(*one, buffers, table.prices, prices);
      batch_inputs.upload_to(*one, buffers, batch);
      std::vector<MatchRecord> flat(batch_inputs.data_bytes(), 0xA5A5A5A5u);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        std::copy(all_records[i].begin(), all_records[i].end(),
                  flat.begin() + batch_inputs.table().rows[i].block_begin());
      upload(*one, buffers, records, flat);

      Recording recording;
      parse(recording, batch, {records, walk.decisions, walk.exits, table});
      record_walk(recording, batch, walk);
      one->run(recording, buffers);

      const auto counts = download<std::uint32_t>(*one, buffers, walk.counts, inputs.size());
      const auto sequences =
          download<DeviceSequence>(*one, buffers, walk.sequences, batch_inputs.table().sequence_count);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::vector<Sequence> expected = twin({all_records[i], plan});
        std::vector<Sequence> got;
        std::uint32_t end = batch_inputs.table().rows[i].block_begin();
        ASSERT_EQ(counts[i], expected.size()) << inputs[i].name;
        for (std::uint32_t k = 0; k < counts[i]; ++k) {
          const DeviceSequence& sequence = sequences[batch_inputs.table().rows[i].first_sequence + k];
          got.push_back(
              {sequence.place - end, record_length(sequence.record), record_offset(sequence.record)});
          end = sequence.place + record_length(sequence.record);
        }
        const auto [e, g] = std::mismatch(expected.begin(), expected.end(), got.begin(), same);
        ASSERT_TRUE(e == expected.end())
            << inputs[i].name << ", sequence " << e - expected.begin() << " of " << expected.size()
            << ": should be (" << e->literal_count << ", " << e->match_length << ", " << e->offset
            << "), is (" << g->literal_count << ", " << g->match_length << ", " << g->offset << ")";
      }
    }
  }

  static void expect_all_parses(const std::vector<testing::FinderCase>& inputs,
                                const std::vector<MatchRecords>& records, const BlockPlan& plan) {
    expect_twin(
        inputs, records, plan,
        [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
          record_greedy(recording, batch, b.records, b.decisions, plan);
        },
        parse_greedy<MatchRecord>);
    for (const std::uint32_t skip : {0u, 12u})
      expect_twin(
          inputs, records, plan,
          [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
            record_lazy(recording, batch, b.records, b.decisions, plan, skip);
          },
          [&](const ParseInput& input) { return parse_lazy(input, skip); });
    expect_twin(
        inputs, records, plan,
        [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
          record_optimal(recording, batch, b.records, b.decisions, plan, FullLengthCostModel{});
        },
        [](const ParseInput& input) { return parse_optimal(input, FullLengthCostModel{}); });
    expect_twin(
        inputs, records, plan,
        [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
          record_optimal_exact(recording, batch, {b.records, b.spare, b.decisions}, plan,
                               FullLengthCostModel{});
        },
        [](const ParseInput& input) { return parse_optimal_exact(input, FullLengthCostModel{}); });
    expect_twin(
        inputs, records, plan,
        [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
          record_optimal(recording, batch, b.records, b.decisions, plan, b.table);
        },
        [](const ParseInput& input) { return parse_optimal(input, cost_table()); });
    expect_twin(
        inputs, records, plan,
        [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
          record_optimal_exact(recording, batch, {b.records, b.spare, b.decisions}, plan, b.table.prices);
        },
        [](const ParseInput& input) { return parse_optimal_exact(input, cost_table()); });
    if (plan.min_match_length >= 4) {
      expect_twin(
          inputs, records, plan,
          [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
            record_optimal_exact(recording, batch, {b.records, b.spare, b.decisions}, plan, WholeByteCosts{});
          },
          [](const ParseInput& input) { return parse_optimal_exact(input, Lz4CostModel{}); });
      expect_twin(
          inputs, records, plan,
          [&](Recording& recording, const BlockBatch& batch, const ParseBuffers& b) {
            record_optimal(recording, batch, b.records, b.decisions, plan, WholeByteCosts{});
          },
          [](const ParseInput& input) { return parse_optimal(input, Lz4CostModel{}); });
    }
  }
};

std::vector<MatchRecords> found(const std::vector<testing::FinderCase>& inputs) {
  std::vector<MatchRecords> records;
  for (const testing::FinderCase& input : inputs)
    records.push_back(find_hash_chain(input.input(), HashChainParameters{.hash_bits = 12, .depth = 4}));
  return records;
}

// Any offset and length at any position; a third have no match. Parses do not read the bytes, so nothing has
// to match.
std::vector<MatchRecords> random_records(const std::vector<testing::FinderCase>& inputs) {
  std::mt19937 random(21);
  std::vector<MatchRecords> all;
  for (const testing::FinderCase& input : inputs) {
    MatchRecords records(input.data.size() - input.history_bytes);
    for (MatchRecord& record : records) {
      const auto length = static_cast<std::uint32_t>(random() % (random() % 16 == 0 ? 65536 : 40));
      record = random() % 3 == 0 ? 0 : pack_match(static_cast<std::uint32_t>(1 + random() % 65535), length);
    }
    all.push_back(std::move(records));
  }
  return all;
}

TEST_F(WebgpuParse, RecordsOfAFinder) {
  const std::vector<testing::FinderCase> inputs = testing::finder_cases(7000);
  const std::vector<MatchRecords> records = found(inputs);
  expect_all_parses(inputs, records, lz4_block_plan());
  expect_all_parses(inputs, records, lzss_block_plan(5, 258));
}

TEST_F(WebgpuParse, AnyRecords) {
  std::vector<testing::FinderCase> inputs;
  for (const std::size_t bytes : testing::kBoundarySizes)
    inputs.push_back({std::to_string(bytes) + " bytes", std::vector<std::byte>(bytes), 0});
  inputs.push_back({"200000 bytes", std::vector<std::byte>(200000), 1234});
  const std::vector<MatchRecords> records = random_records(inputs);
  expect_all_parses(inputs, records, lz4_block_plan());
  expect_all_parses(inputs, records, deflate_block_plan());
  expect_all_parses(inputs, records, lzss_block_plan(1, 65535));
}

TEST_F(WebgpuParse, RunsLongerThanARecord) {
  std::vector<testing::FinderCase> inputs = {{"all equal", std::vector<std::byte>(300000, std::byte{1}), 0},
                                             {"period 31", testing::periodic_bytes(140000, 31), 77}};
  expect_all_parses(inputs, found(inputs), lz4_block_plan());
}

// This needs no device, since recordings are data.
TEST(WebgpuParseRows, RefuseAParseThatHasNoOverload) {
  Recording recording;
  try {
    record_parse(parse_of_row(3, FullLengthCostModel{}), recording, {}, {}, {}, lzss_block_plan(5, 258));
    ADD_FAILURE() << "recorded";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("optimal_exact"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(recording.steps().empty());
  record_parse(parse_of_row(0, FullLengthCostModel{}), recording, {}, {}, {}, lzss_block_plan(5, 258));
  EXPECT_EQ(recording.steps().size(), 1u);
  // Prices in a buffer are costs like others.
  const CostTableBuffers table{{7}, {8}};
  Recording direct, by_row;
  record_optimal(direct, {}, {}, {}, lzss_block_plan(5, 258), table);
  record_parse(parse_of_row(2, table), by_row, {}, {}, {}, lzss_block_plan(5, 258));
  ASSERT_EQ(by_row.steps().size(), direct.steps().size());
  for (std::size_t i = 0; i < direct.steps().size(); ++i) {
    EXPECT_EQ(by_row.steps()[i].shader, direct.steps()[i].shader);
    EXPECT_EQ(by_row.steps()[i].parameters, direct.steps()[i].parameters);
  }
}

}  // namespace
}  // namespace hemstitch
