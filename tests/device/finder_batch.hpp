// A batch of blocks on the device for tests of finders, and what a finder makes of it.
//
// All texts stand in one allocation without room before the first or behind the last, so that a memory checker sees one
// byte too many. Between them stand bytes that go on as the text before did: a kernel that looks past the end of a block
// finds longer matches there than there are.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "captured_graph.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/finder_parameters.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

inline constexpr MatchRecord kUnwritten = 0xDEADBEEF;  // an offset and a length that no test's finder gives

class TwinBatch {
 public:
  explicit TwinBatch(std::vector<FinderCase> inputs) : inputs_(std::move(inputs)) {
    std::vector<std::byte> bytes;
    std::vector<std::size_t> begins;
    for (const FinderCase& input : inputs_) {
      // Every alignment in turn; the bytes between are the text's own first ones, or go on with the text before.
      if (!bytes.empty())
        for (std::size_t i = 0; i < 1 + begins.size() % 17; ++i)
          bytes.push_back(bytes[bytes.size() - std::min<std::size_t>(bytes.size(), 11)]);
      begins.push_back(bytes.size());
      bytes.insert(bytes.end(), input.data.begin(), input.data.end());
    }
    d_bytes_ = cuda::DeviceBuffer<std::byte>(bytes.size(), stream_.get());
    if (!bytes.empty()) d_bytes_.upload(bytes);

    std::vector<DeviceBlock> blocks;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto block_bytes = static_cast<std::uint32_t>(inputs_[i].input().block_bytes());
      const auto history_bytes = static_cast<std::uint32_t>(inputs_[i].history_bytes);
      blocks.push_back(
          {d_bytes_.get() + begins[i] + history_bytes, block_bytes, history_bytes, batch_.total_block_bytes});
      batch_.max_block_bytes = std::max(batch_.max_block_bytes, block_bytes);
      batch_.max_history_bytes = std::max(batch_.max_history_bytes, history_bytes);
      batch_.total_block_bytes += block_bytes;
    }
    d_blocks_ = cuda::DeviceBuffer<DeviceBlock>(blocks.size(), stream_.get());
    if (!blocks.empty()) d_blocks_.upload(blocks);
    batch_.d_blocks = d_blocks_.get();
    batch_.block_count = static_cast<std::uint32_t>(blocks.size());
    stream_.synchronize();
  }

  const DeviceBlocks& blocks() const { return batch_; }
  const std::vector<FinderCase>& inputs() const { return inputs_; }
  cudaStream_t stream() const { return stream_.get(); }

  enum class By { kLaunch, kGraph };

  // Runs find(d_records, d_scratch, scratch_bytes), straight away or captured in a graph, and gives all its records.
  template <typename Find>
  MatchRecords run(std::size_t scratch_bytes, const Find& find, By by = By::kLaunch) const {
    MatchRecords records(batch_.total_block_bytes, kUnwritten);
    cuda::DeviceBuffer<MatchRecord> d_records(records.size(), stream_.get());
    cuda::DeviceBuffer<std::byte> d_scratch(scratch_bytes, stream_.get());
    if (!records.empty()) d_records.upload(records);
    const auto call = [&] { find(d_records.get(), d_scratch.get(), d_scratch.bytes()); };
    if (by == By::kGraph) {
      const CapturedGraph graph(stream_.get(), call);
      graph.launch();
      stream_.synchronize();
    } else {
      call();
    }
    if (!records.empty()) d_records.download(records);
    stream_.synchronize();
    return records;
  }

  // Holds the records against those of the twin, twin(input), and names the first that differs.
  template <typename Twin>
  void expect_twins(const MatchRecords& records, const std::string& what, const Twin& twin) const {
    std::size_t position = 0;
    for (const FinderCase& input : inputs_) {
      const MatchRecords expected = twin(input.input());
      for (std::size_t i = 0; i < expected.size(); ++i, ++position)
        ASSERT_EQ(expected[i], records[position])
            << what << ", block '" << input.name << "' of " << expected.size() << " bytes behind "
            << input.history_bytes << ", position " << i << ": the twin has (" << record_offset(expected[i])
            << ", " << record_length(expected[i]) << "), the device (" << record_offset(records[position])
            << ", " << record_length(records[position]) << ")";
    }
  }

 private:
  std::vector<FinderCase> inputs_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<std::byte> d_bytes_;
  cuda::DeviceBuffer<DeviceBlock> d_blocks_;
  DeviceBlocks batch_;
};

inline std::string text_of(const FinderParameters& p) {
  return "min " + std::to_string(p.min_match_len) + " max " + std::to_string(p.max_match_len) + " window " +
         std::to_string(p.window_size) + " stride " + std::to_string(p.stride) + " near " +
         std::to_string(p.near_range) + " origin " + std::to_string(p.band_origin) + " top " +
         std::to_string(p.top_k) + (p.top_k_policy == TopKPolicy::kLongest ? "" : " a bucket") + " good " +
         std::to_string(p.good_match_len) + " step " + std::to_string(p.far_step) +
         (p.stitch ? "" : " no stitch");
}

// Many small blocks of all sizes, empty ones among them, and a large one: a search for a thread block's block that is off
// by one shows.
inline std::vector<FinderCase> unequal_inputs(std::size_t count, std::size_t large_bytes) {
  std::vector<FinderCase> inputs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t bytes = i == count / 2 ? large_bytes : i * 7919 % 163;
    inputs.push_back(
        {"unequal " + std::to_string(i), copied_bytes(bytes, static_cast<std::uint32_t>(i)), bytes / 3});
  }
  return inputs;
}

}  // namespace hemstitch::testing
