// Batches of match records for tests of parses: blocks of records on the host and the same on the device.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/block_plan.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "match/common/finder.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::testing {

struct RecordBlock {
  std::string name;
  MatchRecords records;
};

// Random candidates at every `spacing`-th position or so, with lengths below `most_length` that fit the block: no
// finder would give them, but a parse does not ask.
inline MatchRecords random_records(std::size_t count, std::uint32_t seed, unsigned spacing,
                                   std::uint32_t most_length) {
  std::mt19937 random(seed);
  MatchRecords records(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    if (random() % spacing != 0) continue;
    const std::uint32_t room = static_cast<std::uint32_t>(std::min<std::size_t>(count - i, most_length));
    const auto offset = static_cast<std::uint32_t>(1 + random() % 65535);
    records[i] = pack_match(offset, static_cast<std::uint32_t>(1 + random() % room));
  }
  return records;
}

// The same length everywhere, cut at the end of the block.
inline MatchRecords equal_records(std::size_t count, std::uint32_t length) {
  MatchRecords records(count, 0);
  for (std::size_t i = 1; i < count; ++i)
    records[i] = pack_match(1, static_cast<std::uint32_t>(std::min<std::size_t>(length, count - i)));
  return records;
}

// On the device, each block's records at a position of their own with a little room between blocks.
class RecordBatch {
 public:
  RecordBatch(const std::vector<RecordBlock>& blocks, cudaStream_t stream) {
    std::vector<DeviceBlock> device_blocks;
    std::vector<MatchRecord> records;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::uint32_t block_bytes = static_cast<std::uint32_t>(blocks[i].records.size());
      records.resize(records.size() + i % 3, 0xFFFFFFFFu);
      device_blocks.push_back({nullptr, block_bytes, 0, records.size()});
      records.insert(records.end(), blocks[i].records.begin(), blocks[i].records.end());
      batch_.max_block_bytes = std::max(batch_.max_block_bytes, block_bytes);
    }
    blocks_ = cuda::DeviceBuffer<DeviceBlock>(device_blocks.size(), stream);
    blocks_.upload(device_blocks);
    records_ = cuda::DeviceBuffer<MatchRecord>(records.size(), stream);
    records_.upload(records);
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    batch_.d_blocks = blocks_.get();
    batch_.block_count = static_cast<std::uint32_t>(blocks.size());
    batch_.total_block_bytes = records.size();
    host_blocks_ = std::move(device_blocks);
  }

  const DeviceBlocks& blocks() const { return batch_; }
  const MatchRecord* d_records() const { return records_.get(); }
  std::uint64_t position(std::size_t block) const { return host_blocks_[block].position; }

 private:
  DeviceBlocks batch_;
  std::vector<DeviceBlock> host_blocks_;
  cuda::DeviceBuffer<DeviceBlock> blocks_;
  cuda::DeviceBuffer<MatchRecord> records_;
};

// What a parse wrote, and whether it kept to its room.
struct ParsedBatch {
  std::vector<Sequence> sequences;
  std::vector<std::uint32_t> counts;
  std::uint64_t total = 0;
  bool kept_to_its_room = false;

  // `Batch` has blocks() and position(), as RecordBatch.
  template <class Batch>
  std::span<const Sequence> list(const Batch& batch, std::uint32_t block, const BlockPlan& plan) const {
    return std::span(sequences).subspan(first_sequence(batch.position(block), block, plan), counts[block]);
  }
};

// Runs `parse(sequences, d_scratch)` on poisoned memory. Scratch begins at an odd address and is followed by guards, as
// are the sequences.
template <class Batch, class Parse>
ParsedBatch run_parse(const Batch& batch, const BlockPlan& plan, std::size_t scratch_bytes,
                      cudaStream_t stream, const Parse& parse) {
  constexpr std::size_t kGuards = 64;
  const std::size_t capacity = cuda::device_sequence_capacity(batch.blocks(), plan);
  cuda::DeviceBuffer<Sequence> d_sequences(capacity + kGuards, stream);
  cuda::DeviceBuffer<std::uint32_t> d_counts(batch.blocks().block_count + 1, stream);
  cuda::DeviceBuffer<std::uint64_t> d_total(1, stream);
  cuda::DeviceBuffer<std::byte> d_scratch(scratch_bytes + 1 + kGuards, stream);
  cuda::check(cudaMemsetAsync(d_sequences.get(), 0xA5, d_sequences.bytes(), stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(d_counts.get(), 0xA5, d_counts.bytes(), stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(d_total.get(), 0xA5, d_total.bytes(), stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(d_scratch.get(), 0xA5, d_scratch.bytes(), stream), "cudaMemsetAsync");

  parse(cuda::DeviceSequences{d_sequences.get(), d_counts.get(), d_total.get()}, d_scratch.get() + 1);

  ParsedBatch parsed;
  parsed.sequences.resize(d_sequences.count());
  parsed.counts.resize(d_counts.count());
  std::vector<std::byte> guards(kGuards);
  d_sequences.download(parsed.sequences);
  d_counts.download(parsed.counts);
  d_total.download({&parsed.total, 1});
  cuda::check(cudaMemcpyAsync(guards.data(), d_scratch.get() + 1 + scratch_bytes, kGuards,
                              cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  parsed.kept_to_its_room = parsed.counts.back() == 0xA5A5A5A5u;
  parsed.counts.pop_back();
  for (std::size_t i = capacity; i < parsed.sequences.size(); ++i)
    parsed.kept_to_its_room &= parsed.sequences[i].literal_count == 0xA5A5A5A5u;
  for (const std::byte guard : guards) parsed.kept_to_its_room &= guard == std::byte{0xA5};
  return parsed;
}

}  // namespace hemstitch::testing
