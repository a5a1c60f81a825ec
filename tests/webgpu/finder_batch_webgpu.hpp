// Inputs of finders as one batch on a WebGPU device: blocks of unequal sizes at odd places, each with its history before it.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "match/common/finder.hpp"
#include "match/common/webgpu/block_batch.hpp"
#include "shapes.hpp"
#include "webgpu_test.hpp"

namespace hemstitch::testing {

// Uploads the inputs with gaps of 0 to 15 bytes between them, so that every alignment occurs. A gap goes on as the bytes
// before it did, so that a match that passes the end of a block shows.
class WebgpuFinderBatch {
 public:
  explicit WebgpuFinderBatch(const std::vector<testing::FinderCase>& inputs, std::uint32_t shortest_match = 4)
      : inputs_(inputs) {
    std::mt19937 random(7);
    for (const testing::FinderCase& input : inputs) {
      if (data_.size() >= 11)
        for (std::size_t gap = random() % 16; gap > 0; --gap) data_.push_back(data_[data_.size() - 11]);
      const auto block_bytes = static_cast<std::uint32_t>(input.data.size() - input.history_bytes);
      table_.add(static_cast<std::uint32_t>(data_.size()), static_cast<std::uint32_t>(input.history_bytes),
                 block_bytes, block_bytes, shortest_match);
      data_.insert(data_.end(), input.data.begin(), input.data.end());
    }
  }

  const webgpu::BlockTable& table() const { return table_; }
  std::size_t data_bytes() const { return data_.size(); }

  // Adds the batch's own buffers to a plan.
  webgpu::BlockBatch plan(webgpu::BufferPlan& plan) const {
    webgpu::BlockBatch batch;
    batch.data = plan.add("data", data_.size());
    batch.rows = plan.add("blocks", table_.rows.size() * sizeof(webgpu::BlockRow));
    batch.tiles = plan.add("tiles", table_.tiles.size() * 4);
    return batch.of(table_);
  }
  void upload_to(webgpu::Device& device, const webgpu::BufferSet& buffers,
                 const webgpu::BlockBatch& batch) const {
    upload(device, buffers, batch.data, data_);
    upload(device, buffers, batch.rows, table_.rows);
    upload(device, buffers, batch.tiles, table_.tiles);
  }

  // The elements that belong to a block, of an array with one for each byte of the data.
  template <typename Element>
  std::span<const Element> of_block(const std::vector<Element>& all, std::size_t block) const {
    return std::span(all).subspan(table_.rows[block].block_begin(), table_.rows[block].block_bytes);
  }

  // Empty if `records` holds what `twin` gives for every input; else the first difference in full.
  std::string first_difference(const std::vector<MatchRecord>& records,
                               const std::function<MatchRecords(const FinderInput&)>& twin) const {
    std::vector<MatchRecords> expected;
    for (const FinderCase& input : inputs_) expected.push_back(twin(input.input()));
    return first_difference(records, expected);
  }
  std::string first_difference(const std::vector<MatchRecord>& records,
                               const std::vector<MatchRecords>& expected_of_all) const {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const MatchRecords& expected = expected_of_all[i];
      const std::span<const MatchRecord> got = of_block(records, i);
      for (std::size_t p = 0; p < expected.size(); ++p)
        if (got[p] != expected[p])
          return inputs_[i].name + ", history " + std::to_string(inputs_[i].history_bytes) + ", block of " +
                 std::to_string(expected.size()) + ", position " + std::to_string(p) +
                 ": (offset, length) should be (" + std::to_string(record_offset(expected[p])) + ", " +
                 std::to_string(record_length(expected[p])) + "), is (" +
                 std::to_string(record_offset(got[p])) + ", " + std::to_string(record_length(got[p])) + ")";
    }
    return {};
  }

 private:
  const std::vector<testing::FinderCase>& inputs_;
  std::vector<std::byte> data_;
  webgpu::BlockTable table_;
};

}  // namespace hemstitch::testing
