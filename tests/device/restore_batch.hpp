// Batches of compressed blocks to restore on a device, for tests: cases in, results out, with guards around every output.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "all_cores.hpp"
#include "cuda_test.hpp"
#include "format/device_format.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "restore_chunk.hpp"

namespace hemstitch::testing {

struct Restored {
  hemstitch_status status = HEMSTITCH_INTERNAL;
  std::size_t bytes = 0;
  Bytes output = {};  // `bytes` of them
};

// What the twin restores of a chunk.
using RestoreByReference = std::function<Restored(const Chunk&)>;

inline constexpr std::byte kGuard{0xA5};
inline constexpr std::size_t kGuardBytes = 64;

// What lies on the device for a batch: blocks at changing alignments, each output between guards and behind its
// history.
class RestoreBatch {
 public:
  RestoreBatch(std::span<const Chunk> chunks, cudaStream_t stream) : count_(chunks.size()), stream_(stream) {
    std::size_t block_bytes = 0, output_bytes = 0;
    std::vector<std::size_t> block_at, room, block_sizes;
    std::vector<std::uint32_t> histories;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const Chunk& chunk = chunks[i];
      block_at.push_back(block_bytes + i % 17);
      block_bytes = block_at.back() + chunk.block.size();
      output_at_.push_back(output_bytes + kGuardBytes + i % 19 + chunk.history.size());
      output_bytes = output_at_.back() + chunk.capacity + kGuardBytes;
      block_sizes.push_back(chunk.block.size());
      room.push_back(chunk.capacity);
      histories.push_back(static_cast<std::uint32_t>(chunk.history.size()));
      batch_.max_capacity = std::max(batch_.max_capacity, chunk.capacity);
      batch_.max_block_bytes = std::max(batch_.max_block_bytes, chunk.block.size());
      has_history_ |= !chunk.history.empty();
    }
    Bytes blocks(block_bytes);
    poisoned_.assign(output_bytes, kGuard);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      std::copy(chunks[i].block.begin(), chunks[i].block.end(),
                blocks.begin() + static_cast<std::ptrdiff_t>(block_at[i]));
      std::copy(chunks[i].history.begin(), chunks[i].history.end(),
                poisoned_.begin() + static_cast<std::ptrdiff_t>(output_at_[i] - chunks[i].history.size()));
    }
    d_blocks_ = upload(blocks);
    d_outputs_ = upload(poisoned_);
    std::vector<const std::byte*> block_pointers;
    std::vector<std::byte*> output_pointers;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      block_pointers.push_back(d_blocks_.get() + block_at[i]);
      output_pointers.push_back(d_outputs_.get() + output_at_[i]);
    }
    d_block_pointers_ = upload(block_pointers);
    d_output_pointers_ = upload(output_pointers);
    d_block_bytes_ = upload(block_sizes);
    d_capacities_ = upload(room);
    d_histories_ = upload(histories);
    d_output_bytes_ = cuda::DeviceBuffer<std::size_t>(count_ + 1, stream);
    d_statuses_ = cuda::DeviceBuffer<hemstitch_status>(count_ + 1, stream);
    batch_.d_blocks = d_block_pointers_.get();
    batch_.d_block_bytes = d_block_bytes_.get();
    batch_.d_outputs = d_output_pointers_.get();
    batch_.d_capacities = d_capacities_.get();
    batch_.d_history_bytes = has_history_ ? d_histories_.get() : nullptr;
    batch_.d_output_bytes = d_output_bytes_.get();
    batch_.d_statuses = d_statuses_.get();
    batch_.count = count_;
  }

  cuda::DeviceRestore& batch() { return batch_; }
  cudaStream_t stream() const { return stream_; }

  void poison() {
    d_outputs_.upload(poisoned_);
    cuda::check(cudaMemsetAsync(d_output_bytes_.get(), 0xA5, d_output_bytes_.bytes(), stream_), "memset");
    cuda::check(cudaMemsetAsync(d_statuses_.get(), 0xA5, d_statuses_.bytes(), stream_), "memset");
  }
  // Waits. What is outside of the outputs must be as it was.
  std::vector<Restored> results() {
    std::vector<std::size_t> sizes(count_ + 1);
    std::vector<hemstitch_status> statuses(count_ + 1);
    Bytes outputs(poisoned_.size());
    d_output_bytes_.download(sizes);
    d_statuses_.download(statuses);
    d_outputs_.download(outputs);
    cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    std::vector<std::size_t> room(count_);
    d_capacities_.download(room);
    cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    std::vector<Restored> results(count_);
    std::size_t guard_begin = 0;
    for (std::size_t i = 0; i <= count_; ++i) {
      const std::size_t guard_end = i < count_ ? output_at_[i] : outputs.size();
      for (std::size_t at = guard_begin; at < guard_end; ++at)
        if (outputs[at] != poisoned_[at]) {
          ADD_FAILURE() << "wrote outside of an output: byte " << at << ", between chunks " << i
                        << " - 1 and " << i;
          break;
        }
      if (i == count_) break;
      guard_begin = guard_end + room[i];
      results[i].status = statuses[i];
      results[i].bytes = sizes[i];
      const std::size_t kept = std::min(sizes[i], room[i]);
      const auto begin = outputs.begin() + static_cast<std::ptrdiff_t>(output_at_[i]);
      results[i].output.assign(begin, begin + static_cast<std::ptrdiff_t>(kept));
    }
    std::uint32_t behind = 0;
    std::memcpy(&behind, &statuses[count_], sizeof behind);
    EXPECT_EQ(behind, 0xA5A5A5A5u) << "wrote a status too many";
    return results;
  }

 private:
  template <class T>
  cuda::DeviceBuffer<T> upload(const std::vector<T>& values) {
    cuda::DeviceBuffer<T> d_values(values.size() + 1, stream_);
    d_values.upload(values);
    cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return d_values;
  }

  std::size_t count_;
  cudaStream_t stream_;
  bool has_history_ = false;
  std::vector<std::size_t> output_at_;
  Bytes poisoned_;
  cuda::DeviceBuffer<std::byte> d_blocks_, d_outputs_;
  cuda::DeviceBuffer<const std::byte*> d_block_pointers_;
  cuda::DeviceBuffer<std::byte*> d_output_pointers_;
  cuda::DeviceBuffer<std::size_t> d_block_bytes_, d_capacities_, d_output_bytes_;
  cuda::DeviceBuffer<std::uint32_t> d_histories_;
  cuda::DeviceBuffer<hemstitch_status> d_statuses_;
  cuda::DeviceRestore batch_;
};

inline std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), 64))) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", static_cast<unsigned>(byte));
    text += digits;
  }
  return text;
}

// Says what differs in the first chunk that does.
inline ::testing::AssertionResult same(std::span<const Chunk> chunks, const std::vector<Restored>& restored,
                                       const RestoreByReference& by_reference, bool sizes_alone = false) {
  std::vector<char> is_wrong(chunks.size());
  on_all_cores((chunks.size() + 255) / 256, [&](std::size_t part) {
    for (std::size_t i = part * 256; i < std::min(chunks.size(), part * 256 + 256); ++i) {
      const Restored expected = by_reference(chunks[i]);
      is_wrong[i] = expected.status != restored[i].status || expected.bytes != restored[i].bytes ||
                    (!sizes_alone && expected.output != restored[i].output);
    }
  });
  const auto first = std::find(is_wrong.begin(), is_wrong.end(), 1);
  if (first == is_wrong.end()) return ::testing::AssertionSuccess();
  const auto i = static_cast<std::size_t>(first - is_wrong.begin());
  const Restored expected = by_reference(chunks[i]);
  auto failure = ::testing::AssertionFailure();
  failure << std::count(is_wrong.begin(), is_wrong.end(), 1) << " of " << chunks.size()
          << " chunks differ, the first is chunk " << i << " (" << chunks[i].name << "; "
          << chunks[i].block.size() << " bytes, room " << chunks[i].capacity << ", history "
          << chunks[i].history.size() << "): expected status " << expected.status << " and " << expected.bytes
          << " bytes, got " << restored[i].status << " and " << restored[i].bytes;
  if (expected.status == restored[i].status && expected.bytes == restored[i].bytes) {
    const auto [left, right] =
        std::mismatch(expected.output.begin(), expected.output.end(), restored[i].output.begin());
    failure << "; byte " << left - expected.output.begin() << " is " << static_cast<unsigned>(*right)
            << " instead of " << static_cast<unsigned>(*left);
  }
  return failure << "; block " << hex(chunks[i].block);
}

}  // namespace hemstitch::testing
