// The device's parse of DEFLATE chunks: every list of sequences must be the twin's, to the last element.
#include <fmt/format.h>

#include "cuda_test.hpp"
#include "deflate_prices.hpp"
#include "finder_cases.hpp"
#include "format/deflate/compress/parse/deflate_parse_cuda.hpp"
#include "match/near_three/near_three.hpp"
#include "record_batch.hpp"

namespace hemstitch {
namespace {

using namespace testing;

// The blocks of a level, cut into chunks, with the matches of the finders' twins.
class ChunkBatch {
 public:
  ChunkBatch(const std::vector<FinderCase>& cases, int level, const cuda::Stream& stream,
             std::size_t chunk_bytes = kDeflateChunkBytes)
      : blocks_(cases, stream) {
    const DeflateLevel parameters = deflate_level(level);
    std::vector<MatchRecord> all_records;
    std::vector<std::uint16_t> all_near_offsets;
    std::vector<DeviceBlock> device_chunks;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const FinderInput input = cases[i].input();
      const MatchRecords records = find_hash_chain(input, parameters.finder);
      const NearOffsets near_offsets = find_near_three(input, parameters.near);
      const DeviceBlock& block = blocks_.block(i);
      for (std::size_t begin = 0; begin < input.block_bytes(); begin += chunk_bytes) {
        const auto count = static_cast<std::uint32_t>(std::min(chunk_bytes, input.block_bytes() - begin));
        device_chunks.push_back({block.d_block + begin, count, 0, block.position + begin});
        chunks_.push_back({fmt::format("{}, {} bytes at {}", cases[i].name, count, begin),
                           input.data.subspan(input.history_bytes + begin, count)});
        batch_.max_block_bytes = std::max(batch_.max_block_bytes, count);
      }
      all_records.insert(all_records.end(), records.begin(), records.end());
      all_near_offsets.insert(all_near_offsets.end(), near_offsets.begin(), near_offsets.end());
    }
    d_chunks_ = cuda::DeviceBuffer<DeviceBlock>(device_chunks.size(), stream.get());
    d_records_ = cuda::DeviceBuffer<MatchRecord>(all_records.size(), stream.get());
    d_near_offsets_ = cuda::DeviceBuffer<std::uint16_t>(all_near_offsets.size(), stream.get());
    d_chunks_.upload(device_chunks);
    d_records_.upload(all_records);
    d_near_offsets_.upload(all_near_offsets);
    stream.synchronize();
    batch_.d_blocks = d_chunks_.get();
    batch_.block_count = static_cast<std::uint32_t>(device_chunks.size());
    batch_.total_block_bytes = blocks_.blocks().total_block_bytes;
    device_chunks_ = std::move(device_chunks);
    records_ = std::move(all_records);
    near_offsets_ = std::move(all_near_offsets);
  }

  const DeviceBlocks& blocks() const { return batch_; }
  std::uint64_t position(std::size_t chunk) const { return device_chunks_[chunk].position; }
  const MatchRecord* d_records() const { return d_records_.get(); }
  const std::uint16_t* d_near_offsets() const { return d_near_offsets_.get(); }

  const std::string& name(std::size_t chunk) const { return chunks_[chunk].name; }
  std::vector<Sequence> parse_by_twin(std::size_t chunk, std::span<const DeflateDeviceCosts> costs) const {
    const std::size_t begin = position(chunk), count = device_chunks_[chunk].block_bytes;
    return parse_deflate_chunk(chunks_[chunk].content, std::span(records_).subspan(begin, count),
                               std::span(near_offsets_).subspan(begin, count), costs);
  }

 private:
  struct Chunk {
    std::string name;
    std::span<const std::byte> content;
  };

  FinderBatch blocks_;
  std::vector<Chunk> chunks_;
  std::vector<DeviceBlock> device_chunks_;
  std::vector<MatchRecord> records_;
  std::vector<std::uint16_t> near_offsets_;
  DeviceBlocks batch_;
  cuda::DeviceBuffer<DeviceBlock> d_chunks_;
  cuda::DeviceBuffer<MatchRecord> d_records_;
  cuda::DeviceBuffer<std::uint16_t> d_near_offsets_;
};

std::string text(const Sequence& sequence) {
  return fmt::format("{} literals, {} bytes from {} back", sequence.literal_count, sequence.match_length,
                     sequence.offset);
}

class DeflateParseTest : public CudaStreamTest {
 protected:
  const cuda::Stream& stream() const { return *stream_; }

  // Parses with `costs`, as many for each chunk as there are, and again with `other_costs`. Returns how
  // either differs from the twin.
  std::string difference(const ChunkBatch& batch, const std::vector<DeflateDeviceCosts>& costs,
                         const std::vector<DeflateDeviceCosts>& other_costs) const {
    const BlockPlan plan = deflate_block_plan();
    const std::size_t scratch_bytes = cuda::parse_deflate_cuda_scratch_bytes(batch.blocks());
    const auto per_chunk = static_cast<std::uint32_t>(costs.size() / batch.blocks().block_count);
    cuda::DeviceBuffer<DeflateDeviceCosts> d_costs(costs.size(), stream().get());
    cuda::DeviceBuffer<DeflateDeviceCosts> d_other_costs(other_costs.size(), stream().get());
    d_costs.upload(costs);
    d_other_costs.upload(other_costs);
    for (const bool again : {false, true}) {
      const ParsedBatch parsed = run_parse(
          batch, plan, scratch_bytes, stream().get(),
          [&](const cuda::DeviceSequences& sequences, void* d_scratch) {
            cuda::parse_deflate_cuda(batch.blocks(), batch.d_records(), batch.d_near_offsets(), d_costs.get(),
                                     per_chunk, sequences, d_scratch, scratch_bytes, stream().get());
            if (again)
              cuda::parse_deflate_again_cuda(batch.blocks(), batch.d_records(), batch.d_near_offsets(),
                                             d_other_costs.get(), per_chunk, sequences, d_scratch,
                                             scratch_bytes, stream().get());
          });
      std::string found = difference(batch, parsed, again ? other_costs : costs, per_chunk);
      if (!found.empty()) return (again ? "again: " : "") + found;
    }
    return "";
  }

  // With prior prices, with random ones for which most positions have edges of equal cost, and with random
  // ones for each unit.
  void expect_twins(const std::vector<FinderCase>& cases, int level = 6,
                    std::size_t chunk_bytes = kDeflateChunkBytes) const {
    const ChunkBatch batch(cases, level, stream(), chunk_bytes);
    const std::uint32_t count = batch.blocks().block_count;
    const std::vector<DeflateDeviceCosts> prior(count, device_costs(deflate_prior_costs()));
    const auto random = [&](std::uint32_t per_chunk, std::uint32_t most) {
      std::vector<DeflateDeviceCosts> costs;
      for (std::uint32_t i = 0; i < count * per_chunk; ++i) costs.push_back(random_costs(i + most, most));
      return costs;
    };
    EXPECT_EQ(difference(batch, prior, random(1, 15)), "") << "level " << level;
    EXPECT_EQ(difference(batch, random(1, 3), random(1, kDeflateMostPriceBits)), "") << "level " << level;
    EXPECT_EQ(difference(batch, random(kDeflateChunkUnits, 20), random(kDeflateChunkUnits, 2)), "")
        << "level " << level << ", by units";
  }

 private:
  static std::string difference(const ChunkBatch& batch, const ParsedBatch& parsed,
                                const std::vector<DeflateDeviceCosts>& costs, std::uint32_t per_chunk) {
    if (!parsed.kept_to_its_room) return "wrote outside its room";
    std::uint64_t total = 0;
    for (std::uint32_t c = 0; c < batch.blocks().block_count; ++c) {
      const std::vector<Sequence> twin =
          batch.parse_by_twin(c, std::span(costs).subspan(std::size_t{c} * per_chunk, per_chunk));
      total += twin.size();
      const std::uint32_t count = parsed.counts[c];
      const std::uint64_t first = first_sequence(batch.position(c), c, deflate_block_plan());
      std::uint64_t position = 0;
      for (std::size_t i = 0; i < twin.size(); ++i) {
        const Sequence& ours = parsed.sequences[first + i];
        const Sequence& theirs = twin[i];
        if (i >= count || ours.literal_count != theirs.literal_count ||
            ours.match_length != theirs.match_length || ours.offset != theirs.offset)
          return fmt::format(
              "chunk {} ({}): sequence {} at position {}: twin {}, device {} (lists of {} and {})", c,
              batch.name(c), i, position, text(theirs), i < count ? text(ours) : "nothing", twin.size(),
              count);
        position += theirs.literal_count + theirs.match_length;
      }
      if (count != twin.size())
        return fmt::format("chunk {} ({}): twin {} sequences, device {}", c, batch.name(c), twin.size(),
                           count);
    }
    if (parsed.total != total) return fmt::format("total {}, device {}", total, parsed.total);
    return "";
  }
};

// Batches whose largest chunk takes 4, 8, 16, 32 and twice 32 lanes.
TEST_F(DeflateParseTest, ChunksOfEverySizeAreTheTwins) {
  std::vector<FinderCase> cases;
  const auto add = [&](std::initializer_list<std::size_t> sizes) {
    for (const std::size_t size : sizes)
      for (Shape& shape : shapes_of(size))
        cases.push_back({std::move(shape.name), std::move(shape.bytes), 0});
    expect_twins(cases);
  };
  add({1, 2, 3, 4, 5, 7, 8, 9, 257, 258, 259, 1023, 1024, 1025, 1279, 1280, 1281, 4095, 4096});
  add({4097, 8191, 8192});
  add({8193, 16384});
  add({16385, 32768});
  add({32769, 65280, 65535, 65536});
}

TEST_F(DeflateParseTest, SeveralChunksOfABlockAreTheTwins) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 1, 5000, 32768}) {
    cases.push_back({"mixed", mixed_bytes(200'000 + history, 7), history});
    cases.push_back({"copies", copied_bytes(131'073 + history, 3), history});
    cases.push_back({"zeros", Bytes(140'001 + history), history});
    cases.push_back({"three letters", random_bytes(65'537 + history, 4, 3), history});
  }
  for (const int level : {1, 6, 9, 12}) expect_twins(cases, level);
}

// Chunks that begin anywhere in the batch, and end within matches.
TEST_F(DeflateParseTest, ShortChunksOfABlockAreTheTwins) {
  for (const std::size_t chunk_bytes : {1, 37})
    expect_twins({{"words", wordy_bytes(3000, 3), 700}, {"runs", runs_bytes(2001, 4), 0}}, 6, chunk_bytes);
  for (const std::size_t chunk_bytes : {1000, 1029, 5003})
    expect_twins({{"words", wordy_bytes(30'000, 3), 700}, {"runs", runs_bytes(20'001, 4), 0}}, 6,
                 chunk_bytes);
}

TEST_F(DeflateParseTest, ABlockOf1MBIsTheTwins) {
  expect_twins({{"mixed", mixed_bytes((1 << 20) + 32768, 7), 32768}, {"words", wordy_bytes(1 << 20, 8), 0}});
}

TEST_F(DeflateParseTest, FilesAreTheTwins) {
  if (!corpora()) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  for (const int level : {1, 6, 12}) expect_twins(file_cases(300'000, 32768, 1), level);
  expect_twins(file_cases(65280, 0, 3));
}

TEST_F(DeflateParseTest, AnEmptyBatchHasNoSequences) {
  const ChunkBatch batch({}, 6, stream());
  const std::size_t scratch_bytes = cuda::parse_deflate_cuda_scratch_bytes(batch.blocks());
  const ParsedBatch parsed =
      run_parse(batch, deflate_block_plan(), scratch_bytes, stream().get(),
                [&](const cuda::DeviceSequences& sequences, void* d_scratch) {
                  cuda::parse_deflate_cuda(batch.blocks(), nullptr, nullptr, nullptr, 1, sequences, d_scratch,
                                           scratch_bytes, stream().get());
                });
  EXPECT_EQ(parsed.total, 0u);
  EXPECT_TRUE(parsed.kept_to_its_room);
}

// This needs no device.
TEST(DeflateParseParameters, RefusesWhatItCannotDo) {
  const auto message = [](std::uint32_t max_chunk_bytes, std::uint32_t costs_per_chunk,
                          std::size_t missing_bytes) -> std::string {
    const DeviceBlocks chunks{.d_blocks = nullptr,
                              .block_count = 1,
                              .max_block_bytes = max_chunk_bytes,
                              .total_block_bytes = max_chunk_bytes};
    const std::size_t scratch_bytes = cuda::parse_deflate_cuda_scratch_bytes(chunks) - missing_bytes;
    try {
      cuda::parse_deflate_cuda(chunks, nullptr, nullptr, nullptr, costs_per_chunk, {}, nullptr, scratch_bytes,
                               nullptr);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      const std::string text = error.what();
      return text.substr(0, text.find(" ("));  // without the hint for the status
    }
    return "no error";
  };
  EXPECT_EQ(message(65537, 1, 0), "parse_deflate: a chunk has 65537 bytes, the most is 65536");
  EXPECT_EQ(message(1000, 2, 0), "parse_deflate: costs_per_chunk is 2, must be 1 or 8");
  EXPECT_NE(message(1000, 8, 1).find("scratch"), std::string::npos);
}

}  // namespace
}  // namespace hemstitch
