// Compressed blocks on a device, repeated until they are many, to be restored there: each copy at addresses of its own. For benchmarks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "device_array.hpp"
#include "format/device_format.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "shapes.hpp"

namespace hemstitch::bench {

class RepeatedBlocks {
 public:
  // `contents` are what the blocks restore to: parts of `raw`, which they fill in order. `gap_bytes` lie behind each block. There are
  // as many copies as make `gigabytes` of content, at least one.
  RepeatedBlocks(const std::vector<testing::Bytes>& blocks,
                 const std::vector<std::span<const std::byte>>& contents, std::span<const std::byte> raw,
                 std::size_t gap_bytes, double gigabytes)
      : raw_(raw),
        copies_(std::max<std::size_t>(
            1, static_cast<std::size_t>(gigabytes * 1e9 / static_cast<double>(raw.size())))),
        packed_(packed(blocks, gap_bytes)),
        d_blocks_(copies_ * packed_.size()),
        d_output_(copies_ * raw.size()),
        sizes_(
            for_each_copy<std::size_t>(blocks, [](std::size_t, const auto& block) { return block.size(); })),
        capacities_(for_each_copy<std::size_t>(
            contents, [](std::size_t, const auto& content) { return content.size(); })),
        d_addresses_(
            for_each_copy<const std::byte*>(blocks,
                                            [&, at = d_blocks_.data](std::size_t, const auto& block) mutable {
                                              const std::byte* const address = at;
                                              at += block.size() + gap_bytes;
                                              return address;
                                            })),
        d_outputs_(for_each_copy<std::byte*>(contents,
                                             [&](std::size_t copy, const auto& content) {
                                               return d_output_.data + copy * raw.size() +
                                                      (content.data() - raw.data());
                                             })),
        d_sizes_(sizes_),
        d_capacities_(capacities_),
        d_output_bytes_(sizes_.size()),
        d_statuses_(sizes_.size()) {
    for (const testing::Bytes& block : blocks) block_bytes_ += block.size();
    for (std::size_t copy = 0; copy < copies_; ++copy)
      cuda::check(cudaMemcpy(d_blocks_.data + copy * packed_.size(), packed_.data(), packed_.size(),
                             cudaMemcpyDefault),
                  "cudaMemcpy");
  }

  cuda::DeviceRestore batch() const {
    return {.d_blocks = d_addresses_.data,
            .d_block_bytes = d_sizes_.data,
            .d_outputs = d_outputs_.data,
            .d_capacities = d_capacities_.data,
            .d_output_bytes = d_output_bytes_.data,
            .d_statuses = d_statuses_.data,
            .count = sizes_.size(),
            .max_capacity = *std::max_element(capacities_.begin(), capacities_.end()),
            .max_block_bytes = *std::max_element(sizes_.begin(), sizes_.end())};
  }
  // Of the content of all copies.
  std::size_t bytes() const { return copies_ * raw_.size(); }
  double ratio() const { return static_cast<double>(raw_.size()) / static_cast<double>(block_bytes_); }

  void forget_output() { cuda::check(cudaMemset(d_output_.data, 0, bytes()), "cudaMemset"); }
  // Whether all statuses and sizes, and all bytes of the first and the last copy, are right.
  bool is_restored() const {
    bool restored = d_output_bytes_.download(0, sizes_.size()) == capacities_;
    for (const hemstitch_status status : d_statuses_.download(0, sizes_.size()))
      restored &= status == HEMSTITCH_OK;
    for (const std::size_t copy : {std::size_t{0}, copies_ - 1})
      restored &= std::ranges::equal(d_output_.download(copy * raw_.size(), raw_.size()), raw_);
    return restored;
  }

 private:
  static testing::Bytes packed(const std::vector<testing::Bytes>& blocks, std::size_t gap_bytes) {
    testing::Bytes all;
    for (const testing::Bytes& block : blocks) {
      all.insert(all.end(), block.begin(), block.end());
      all.resize(all.size() + gap_bytes);
    }
    return all;
  }
  template <class Value, class Element, class Of>
  std::vector<Value> for_each_copy(const std::vector<Element>& elements, Of of) const {
    std::vector<Value> values;
    for (std::size_t copy = 0; copy < copies_; ++copy)
      for (const Element& element : elements) values.push_back(of(copy, element));
    return values;
  }

  std::span<const std::byte> raw_;
  std::size_t copies_, block_bytes_ = 0;
  testing::Bytes packed_;
  DeviceArray<std::byte> d_blocks_, d_output_;
  std::vector<std::size_t> sizes_, capacities_;
  DeviceArray<const std::byte*> d_addresses_;
  DeviceArray<std::byte*> d_outputs_;
  DeviceArray<std::size_t> d_sizes_, d_capacities_, d_output_bytes_;
  DeviceArray<hemstitch_status> d_statuses_;
};

}  // namespace hemstitch::bench
