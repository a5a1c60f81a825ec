// The batch interface on a CUDA device: the results of the C functions, compared with the twins.
#include "hemstitch/batch.h"

#include <cuda_runtime.h>

#include <cstring>

#include "batch/batch_workspace.hpp"
#include "batch_pieces.hpp"
#include "format/lz4/compress/lz4_cost.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "match/finders.hpp"
#include "parse/greedy/greedy.hpp"
#include "parse/lazy/lazy.hpp"
#include "parse/optimal/optimal_reference.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;
using cuda::check;
using cuda::DeviceBuffer;

struct Block {
  Bytes data;  // history, then the block
  std::uint32_t history_bytes = 0;
};

// A batch on the device, with blocks at odd addresses.
class UploadedBatch {
 public:
  UploadedBatch(const std::vector<Block>& blocks, cudaStream_t stream) {
    Bytes all;
    std::vector<std::size_t> begins;
    std::vector<std::uint32_t> sizes, histories;
    for (const Block& block : blocks) {
      all.resize(all.size() + 1 + begins.size() % 3, std::byte{0xEE});
      begins.push_back(all.size() + block.history_bytes);
      all.insert(all.end(), block.data.begin(), block.data.end());
      sizes.push_back(static_cast<std::uint32_t>(block.data.size() - block.history_bytes));
      histories.push_back(block.history_bytes);
      batch.max_input_bytes = std::max(batch.max_input_bytes, sizes.back());
      batch.max_history_bytes = std::max(batch.max_history_bytes, block.history_bytes);
      batch.total_input_bytes += sizes.back();
    }
    data_ = DeviceBuffer<std::byte>(all.size() + 1, stream);
    data_.upload(all);
    std::vector<const void*> inputs;
    for (const std::size_t begin : begins) inputs.push_back(data_.get() + begin);
    inputs_ = DeviceBuffer<const void*>(inputs.size(), stream);
    inputs_.upload(inputs);
    sizes_ = DeviceBuffer<std::uint32_t>(sizes.size(), stream);
    sizes_.upload(sizes);
    histories_ = DeviceBuffer<std::uint32_t>(histories.size(), stream);
    histories_.upload(histories);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    batch.inputs = inputs_.get();
    batch.input_bytes = sizes_.get();
    batch.history_bytes = histories_.get();
    batch.count = static_cast<std::uint32_t>(blocks.size());
  }

  hemstitch_batch batch{};

 private:
  DeviceBuffer<std::byte> data_;
  DeviceBuffer<const void*> inputs_;
  DeviceBuffer<std::uint32_t> sizes_, histories_;
};

struct Results {
  std::vector<hemstitch_candidate> candidates;
  std::vector<std::uint64_t> first, first_sequences;
  std::vector<hemstitch_sequence> sequences;
  std::vector<std::uint32_t> counts;
  std::vector<hemstitch_status> find_statuses, parse_statuses;
  std::uint64_t total = 0;
};

class FindAndParseDeviceTest : public BatchDeviceTest {
 protected:
  // Finds and parses, once or as a graph that is launched twice.
  void run(const hemstitch_batch& batch, const hemstitch_find_options& find,
           const hemstitch_parse_options& parse, bool as_graph, Results& results) const {
    std::size_t find_bytes = 0, parse_bytes = 0;
    std::uint64_t capacity = 0;
    ASSERT_HEMSTITCH(hemstitch_find_temp_bytes(&batch, &find, &find_bytes));
    ASSERT_HEMSTITCH(hemstitch_parse_temp_bytes(&batch, &parse, &parse_bytes));
    ASSERT_HEMSTITCH(hemstitch_parse_capacity(&batch, &parse, &capacity));
    DeviceBuffer<std::byte> d_find(find_bytes, stream()), d_parse(parse_bytes, stream());
    DeviceBuffer<hemstitch_candidate> d_candidates(batch.total_input_bytes + 1, stream());
    DeviceBuffer<std::uint64_t> d_first(batch.count + 1, stream()), d_lists(batch.count + 1, stream()),
        d_total(1, stream());
    DeviceBuffer<hemstitch_sequence> d_sequences(capacity + 1, stream());
    DeviceBuffer<std::uint32_t> d_counts(batch.count + 1, stream());
    DeviceBuffer<hemstitch_status> d_found(batch.count + 1, stream()), d_parsed(batch.count + 1, stream());
    // Not everything is written: a block that is left out has no candidates, lists end early, and each buffer
    // has room for one more item.
    const auto fill = [&](const auto& buffer) {
      check(cudaMemsetAsync(buffer.get(), 0xA5, buffer.bytes(), stream()), "cudaMemsetAsync");
    };
    fill(d_candidates), fill(d_sequences), fill(d_first), fill(d_lists), fill(d_total), fill(d_counts);
    fill(d_found), fill(d_parsed);
    synchronize();

    const auto enqueue = [&] {
      ASSERT_HEMSTITCH(hemstitch_find_async(&batch, &find, d_candidates.get(), d_first.get(), d_found.get(),
                                            d_find.get(), find_bytes, stream()));
      ASSERT_HEMSTITCH(hemstitch_parse_async(&batch, &parse, d_candidates.get(), d_sequences.get(),
                                             d_lists.get(), d_counts.get(), d_total.get(), d_parsed.get(),
                                             d_parse.get(), parse_bytes, stream()));
    };
    BatchDeviceTest::run(as_graph, enqueue);
    const auto download = [](const auto& buffer, auto& into) {
      into.resize(buffer.count());
      buffer.download(into);
    };
    download(d_candidates, results.candidates);
    download(d_first, results.first);
    download(d_lists, results.first_sequences);
    download(d_sequences, results.sequences);
    download(d_counts, results.counts);
    download(d_found, results.find_statuses);
    download(d_parsed, results.parse_statuses);
    d_total.download({&results.total, 1});
    synchronize();
  }
};

std::vector<Block> mixed_blocks() {
  std::vector<Block> blocks;
  for (Shape& shape : boundary_shapes(4097)) blocks.push_back({std::move(shape.bytes), 0});
  for (std::uint32_t i = 0; i < 12; ++i) {
    const Bytes bytes = wordy_bytes(100'000, i);
    blocks.push_back({bytes, i * 5500});
  }
  blocks.push_back({random_bytes(30'000, 1, 4), 2000});  // few values
  return blocks;
}

MatchRecords twin_candidates(const hemstitch_find_options& options, const Block& block) {
  const FinderInput input{block.data, block.history_bytes};
  FinderParameters window{.min_match_len = options.min_match_bytes,
                          .max_match_len = options.max_match_bytes,
                          .window_size = options.window_bytes,
                          .stride = options.stride,
                          .near_range = options.near_range,
                          .band_origin = options.band_origin,
                          .top_k = options.top_k,
                          .stitch = options.stitch != 0,
                          .good_match_len = options.good_match_bytes,
                          .far_step = options.far_step};
  if (options.top_k_policy == HEMSTITCH_TOP_K_LONGEST_PER_BUCKET)
    window.top_k_policy = TopKPolicy::kLongestPerBucket;
  switch (options.finder) {
    case HEMSTITCH_FINDER_BRUTE_FORCE:
      return find_reference(input, BruteForceParameters::from(window)).records;
    case HEMSTITCH_FINDER_LAZY_SCAN:
      return find_reference(input, LazyScanParameters::from(window)).records;
    case HEMSTITCH_FINDER_COOP_STITCH:
      return find_reference(input, CoopStitchParameters::from(window)).records;
    case HEMSTITCH_FINDER_WINDOW_INDEX:
      return find_reference(input, WindowIndexParameters::from(window)).records;
    default:
      break;
  }
  return find_hash_chain({block.data, block.history_bytes},
                         {.hash_bits = options.hash_bits,
                          .depth = options.depth,
                          .cap_bytes = options.cap_bytes,
                          .window_bytes = options.window_bytes,
                          .stitch = options.stitch != 0,
                          .stitch_reach = options.stitch_reach,
                          .hash_bytes = options.hash_bytes,
                          .few_values_hash_bytes = options.few_values_hash_bytes});
}

std::vector<Sequence> twin_sequences(const hemstitch_parse_options& options, const MatchRecords& records) {
  const ParseInput input{records, lz4_block_plan()};
  switch (options.parse) {
    case HEMSTITCH_PARSE_GREEDY:
      return parse_greedy(input);
    case HEMSTITCH_PARSE_LAZY:
      return parse_lazy(input, options.lazy_skip);
    case HEMSTITCH_PARSE_OPTIMAL:
      return parse_optimal(input, Lz4CostModel{});
    case HEMSTITCH_PARSE_OPTIMAL_EXACT:
      return parse_optimal_exact(input, Lz4CostModel{});
  }
  return {};
}

TEST_F(FindAndParseDeviceTest, GivesWhatTheTwinsGive) {
  const std::vector<Block> blocks = mixed_blocks();
  const UploadedBatch uploaded(blocks, stream());
  for (const int level : {1, 3, 12})
    for (const hemstitch_parse parse : {HEMSTITCH_PARSE_GREEDY, HEMSTITCH_PARSE_LAZY, HEMSTITCH_PARSE_OPTIMAL,
                                        HEMSTITCH_PARSE_OPTIMAL_EXACT}) {
      hemstitch_find_options find{};
      hemstitch_parse_options options{};
      ASSERT_HEMSTITCH(hemstitch_find_options_for_level(level, 65536, &find));
      ASSERT_HEMSTITCH(hemstitch_parse_options_for_level(level, &options));
      options.parse = parse;
      Results results;
      ASSERT_NO_FATAL_FAILURE(run(uploaded.batch, find, options, parse == HEMSTITCH_PARSE_OPTIMAL, results));
      std::uint64_t position = 0, total = 0;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const MatchRecords candidates = twin_candidates(find, blocks[b]);
        ASSERT_EQ(results.find_statuses[b], HEMSTITCH_OK);
        ASSERT_EQ(results.parse_statuses[b], HEMSTITCH_OK);
        ASSERT_EQ(results.first[b], position);
        const auto ours = results.candidates.begin() + static_cast<std::ptrdiff_t>(position);
        const auto wrong = std::mismatch(candidates.begin(), candidates.end(), ours);
        ASSERT_EQ(wrong.first, candidates.end())
            << "level " << level << ", block " << b << ", position " << wrong.first - candidates.begin()
            << ": twin " << *wrong.first << ", device " << *wrong.second;
        const std::vector<Sequence> sequences = twin_sequences(options, candidates);
        ASSERT_EQ(results.counts[b], sequences.size()) << "level " << level << ", block " << b;
        for (std::size_t i = 0; i < sequences.size(); ++i) {
          const hemstitch_sequence& sequence = results.sequences[results.first_sequences[b] + i];
          ASSERT_EQ(sequence.literal_bytes, sequences[i].literal_count)
              << "block " << b << ", sequence " << i;
          ASSERT_EQ(sequence.match_bytes, sequences[i].match_length) << "block " << b << ", sequence " << i;
          ASSERT_EQ(sequence.offset, sequences[i].offset) << "block " << b << ", sequence " << i;
        }
        position += candidates.size();
        total += sequences.size();
      }
      EXPECT_EQ(results.first[blocks.size()], position);
      EXPECT_EQ(results.total, total);
    }
}

TEST_F(FindAndParseDeviceTest, OffersEveryFinderWithAKernel) {
  const std::vector<Block> blocks = mixed_blocks();
  const UploadedBatch uploaded(blocks, stream());
  const auto options_of = [](std::int32_t finder) {
    hemstitch_find_options find{};
    EXPECT_EQ(hemstitch_find_options_for_finder(finder, &find), HEMSTITCH_OK);
    return find;
  };
  std::vector<hemstitch_find_options> all;
  for (std::int32_t finder = HEMSTITCH_FINDER_HASH_CHAIN; finder <= HEMSTITCH_FINDER_WINDOW_INDEX; ++finder)
    all.push_back(options_of(finder));
  // Changes every field that the search of a window uses.
  hemstitch_find_options changed = options_of(HEMSTITCH_FINDER_LAZY_SCAN);
  changed.min_match_bytes = 3, changed.max_match_bytes = 100, changed.window_bytes = 9000;
  changed.near_range = 10, changed.good_match_bytes = 20, changed.far_step = 3;
  all.push_back(changed);
  changed.finder = HEMSTITCH_FINDER_COOP_STITCH;
  changed.window_bytes = 300, changed.stride = 200, changed.band_origin = 50, changed.top_k = 7;
  changed.top_k_policy = HEMSTITCH_TOP_K_LONGEST_PER_BUCKET;
  all.push_back(changed);
  changed.stitch = 0;
  all.push_back(changed);
  changed.finder = HEMSTITCH_FINDER_WINDOW_INDEX, changed.window_bytes = 700;
  all.push_back(changed);
  changed.finder = HEMSTITCH_FINDER_BRUTE_FORCE;
  all.push_back(changed);

  hemstitch_parse_options parse{};
  ASSERT_HEMSTITCH(hemstitch_parse_options_for_level(3, &parse));
  for (std::size_t one = 0; one < all.size(); ++one) {
    const hemstitch_find_options& find = all[one];
    Results results;
    ASSERT_NO_FATAL_FAILURE(run(uploaded.batch, find, parse, one % 2 == 1, results));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const MatchRecords candidates = twin_candidates(find, blocks[b]);
      ASSERT_EQ(results.find_statuses[b], HEMSTITCH_OK);
      const auto ours = results.candidates.begin() + static_cast<std::ptrdiff_t>(results.first[b]);
      const auto wrong = std::mismatch(candidates.begin(), candidates.end(), ours);
      ASSERT_EQ(wrong.first, candidates.end())
          << "options " << one << ", finder " << find.finder << ", block " << b << ", position "
          << wrong.first - candidates.begin() << ": twin " << *wrong.first << ", device " << *wrong.second;
      ASSERT_EQ(results.counts[b], twin_sequences(parse, candidates).size())
          << "options " << one << ", block " << b;
    }
  }
}

TEST_F(FindAndParseDeviceTest, ABlockThatBreaksABoundIsLeftOutAndToldOf) {
  std::vector<Block> blocks;
  for (std::uint32_t i = 0; i < 5; ++i) blocks.push_back({wordy_bytes(5000, i), 0});
  blocks[1] = {wordy_bytes(9000, 1), 0};     // larger than the limit
  blocks[3] = {wordy_bytes(6000, 3), 1000};  // more history than the limit
  UploadedBatch uploaded(blocks, stream());
  uploaded.batch.max_input_bytes = 5000;
  uploaded.batch.max_history_bytes = 500;
  uploaded.batch.total_input_bytes = 14'999;  // one byte less than the other three need
  hemstitch_find_options find{};
  hemstitch_parse_options parse{};
  ASSERT_HEMSTITCH(hemstitch_find_options_for_level(3, 65536, &find));
  ASSERT_HEMSTITCH(hemstitch_parse_options_for_level(3, &parse));
  Results results;
  ASSERT_NO_FATAL_FAILURE(run(uploaded.batch, find, parse, false, results));
  const std::vector<hemstitch_status> expected = {HEMSTITCH_OK, HEMSTITCH_INVALID_OPTION, HEMSTITCH_OK,
                                                  HEMSTITCH_INVALID_OPTION, HEMSTITCH_OUTPUT_TOO_SMALL};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    EXPECT_EQ(results.find_statuses[b], expected[b]) << b;
    EXPECT_EQ(results.parse_statuses[b], expected[b]) << b;
    if (expected[b] != HEMSTITCH_OK) {
      EXPECT_EQ(results.counts[b], 1u) << b;
      EXPECT_EQ(results.sequences[results.first_sequences[b]].literal_bytes, 0u) << b;
    } else {
      const MatchRecords candidates = twin_candidates(find, blocks[b]);
      EXPECT_TRUE(std::equal(candidates.begin(), candidates.end(),
                             results.candidates.begin() + static_cast<std::ptrdiff_t>(results.first[b])))
          << b;
      EXPECT_EQ(results.counts[b], twin_sequences(parse, candidates).size()) << b;
    }
  }
}

TEST_F(FindAndParseDeviceTest, AnEmptyBatchIsNothing) {
  const UploadedBatch uploaded({}, stream());
  hemstitch_find_options find{};
  hemstitch_parse_options parse{};
  ASSERT_HEMSTITCH(hemstitch_find_options_for_level(3, 65536, &find));
  ASSERT_HEMSTITCH(hemstitch_parse_options_for_level(3, &parse));
  Results results;
  ASSERT_NO_FATAL_FAILURE(run(uploaded.batch, find, parse, false, results));
  EXPECT_EQ(results.first[0], 0u);
  EXPECT_EQ(results.total, 0u);
}

// For a batch that fills a large device.
TEST_F(FindAndParseDeviceTest, AByteOfInputTakesAtMostTwelveBesides) {
  constexpr std::uint32_t kHistoryBytes = 65536, kInputBytes = 256 << 20;
  for (const std::uint32_t block_bytes : {64u << 10, 256u << 10, 4u << 20})
    for (int level = 1; level <= 12; ++level) {
      const BatchShape shape{kInputBytes / block_bytes, block_bytes, kHistoryBytes};
      const WorkspacePlan plan = batch_workspace(shape, level);
      EXPECT_LE(plan.total_bytes(), 12 * shape.input_bytes()) << plan.text();
      EXPECT_GE(plan.total_bytes(), 4 * shape.input_bytes()) << plan.text();
    }
}

TEST_F(FindAndParseDeviceTest, ThePlanIsWhatTheCallsAskFor) {
  const BatchShape shape{100, 65536, 3000};
  hemstitch_batch batch{};
  const std::uint32_t no_sizes = 0;  // only the limits are read
  batch.input_bytes = &no_sizes;
  batch.count = shape.block_count;
  batch.max_input_bytes = shape.block_bytes;
  batch.max_history_bytes = shape.history_bytes;
  batch.total_input_bytes = shape.input_bytes();
  for (const int level : {1, 3, 12}) {
    hemstitch_find_options find{};
    hemstitch_parse_options parse{};
    ASSERT_HEMSTITCH(hemstitch_find_options_for_level(level, shape.block_bytes, &find));
    ASSERT_HEMSTITCH(hemstitch_parse_options_for_level(level, &parse));
    std::size_t find_bytes = 0, parse_bytes = 0;
    std::uint64_t sequences = 0;
    ASSERT_HEMSTITCH(hemstitch_find_temp_bytes(&batch, &find, &find_bytes));
    ASSERT_HEMSTITCH(hemstitch_parse_temp_bytes(&batch, &parse, &parse_bytes));
    ASSERT_HEMSTITCH(hemstitch_parse_capacity(&batch, &parse, &sequences));
    const WorkspacePlan plan = batch_workspace(shape, level);
    EXPECT_EQ(plan.parts()[1].bytes_each, std::max(find_bytes, parse_bytes)) << level;
    EXPECT_EQ(plan.parts()[2].count, sequences) << level;
  }
}

TEST_F(FindAndParseDeviceTest, TooLittleTemporaryMemoryIsAnError) {
  const std::vector<Block> blocks = {{wordy_bytes(5000, 1), 0}};
  const UploadedBatch uploaded(blocks, stream());
  hemstitch_find_options find{};
  ASSERT_HEMSTITCH(hemstitch_find_options_for_level(3, 65536, &find));
  std::size_t temp_bytes = 0;
  ASSERT_HEMSTITCH(hemstitch_find_temp_bytes(&uploaded.batch, &find, &temp_bytes));
  DeviceBuffer<std::byte> d_temp(temp_bytes, stream());
  DeviceBuffer<hemstitch_candidate> d_candidates(5000, stream());
  DeviceBuffer<std::uint64_t> d_first(2, stream());
  DeviceBuffer<hemstitch_status> d_statuses(1, stream());
  EXPECT_EQ(hemstitch_find_async(&uploaded.batch, &find, d_candidates.get(), d_first.get(), d_statuses.get(),
                                 d_temp.get(), temp_bytes - 1, stream()),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(std::string(hemstitch_last_error_message()).find("scratch"), std::string::npos);
}

}  // namespace
}  // namespace hemstitch
