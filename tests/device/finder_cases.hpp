// Inputs of finders as one batch on the device: blocks of unequal sizes at odd addresses, each with its history before it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gpu/cuda/device_buffer.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/common/finder.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// The cases' bytes stand in one allocation with gaps of 0 to 15 bytes, so that every alignment occurs; the first begins
// with the allocation and the last ends with it. A gap goes on as the bytes before it did, so that a match that passes
// the end of a block shows.
class FinderBatch {
 public:
  FinderBatch(const std::vector<FinderCase>& cases, const cuda::Stream& stream) : stream_(stream) {
    Bytes all;
    std::vector<std::size_t> begins;
    std::mt19937 random(7);
    for (const FinderCase& one : cases) {
      if (all.size() >= 11)
        for (std::size_t gap = random() % 16; gap > 0; --gap) all.push_back(all[all.size() - 11]);
      begins.push_back(all.size());
      all.insert(all.end(), one.data.begin(), one.data.end());
    }
    upload(cases, all, begins);
  }

  // The blocks of one file, as they follow each other in it: every history is the end of the blocks before.
  FinderBatch(const Bytes& file, const std::vector<FinderCase>& cases, const cuda::Stream& stream)
      : stream_(stream) {
    std::vector<std::size_t> begins;
    std::size_t block_begin = 0;
    for (const FinderCase& one : cases) {
      begins.push_back(block_begin - one.history_bytes);
      block_begin += one.input().block_bytes();
    }
    upload(cases, file, begins);
  }

  const DeviceBlocks& blocks() const { return batch_; }
  std::uint64_t position(std::size_t block) const { return host_blocks_[block].position; }
  const DeviceBlock& block(std::size_t index) const { return host_blocks_[index]; }

  // Runs `find(d_records, d_scratch)` over memory that no result looks like, and gives the records.
  std::vector<MatchRecord> run(std::size_t scratch_bytes,
                               const std::function<void(MatchRecord*, void*)>& find) const {
    return run_for<MatchRecord>(scratch_bytes, find);
  }
  // The same where a position's result is a Result.
  template <class Result>
  std::vector<Result> run_for(std::size_t scratch_bytes,
                              const std::function<void(Result*, void*)>& find) const {
    cuda::DeviceBuffer<Result> d_records(batch_.total_block_bytes, stream_.get());
    cuda::DeviceBuffer<std::byte> d_scratch(scratch_bytes, stream_.get());
    if (d_records.bytes() > 0)
      cuda::check(cudaMemsetAsync(d_records.get(), 0xA5, d_records.bytes(), stream_.get()),
                  "cudaMemsetAsync");
    if (scratch_bytes > 0)
      cuda::check(cudaMemsetAsync(d_scratch.get(), 0xA5, scratch_bytes, stream_.get()), "cudaMemsetAsync");
    find(d_records.get(), d_scratch.get());
    std::vector<Result> records(batch_.total_block_bytes);
    d_records.download(records);
    stream_.synchronize();
    return records;
  }

 private:
  void upload(const std::vector<FinderCase>& cases, const Bytes& all,
              const std::vector<std::size_t>& begins) {
    d_data_ = cuda::DeviceBuffer<std::byte>(all.size(), stream_.get());
    d_data_.upload(all);
    std::vector<DeviceBlock> blocks;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const FinderInput input = cases[i].input();
      blocks.push_back({d_data_.get() + begins[i] + input.history_bytes,
                        static_cast<std::uint32_t>(input.block_bytes()),
                        static_cast<std::uint32_t>(input.history_bytes), batch_.total_block_bytes});
      batch_.total_block_bytes += input.block_bytes();
      batch_.max_block_bytes = std::max(batch_.max_block_bytes, blocks.back().block_bytes);
      batch_.max_history_bytes = std::max(batch_.max_history_bytes, blocks.back().history_bytes);
    }
    d_blocks_ = cuda::DeviceBuffer<DeviceBlock>(blocks.size(), stream_.get());
    d_blocks_.upload(blocks);
    batch_.d_blocks = d_blocks_.get();
    host_blocks_ = blocks;
    batch_.block_count = static_cast<std::uint32_t>(blocks.size());
    stream_.synchronize();
  }

  const cuda::Stream& stream_;
  cuda::DeviceBuffer<std::byte> d_data_;
  cuda::DeviceBuffer<DeviceBlock> d_blocks_;
  DeviceBlocks batch_;
  std::vector<DeviceBlock> host_blocks_;
};

// Empty if `records` holds what `twin` gives for every case; else the first difference in full.
inline std::string first_difference(const std::vector<FinderCase>& cases, const FinderBatch& batch,
                                    std::span<const MatchRecord> records,
                                    const std::function<MatchRecords(const FinderInput&)>& twin) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].input().block_bytes() == 0) continue;
    const MatchRecords expected = twin(cases[i].input());
    for (std::size_t p = 0; p < expected.size(); ++p) {
      const MatchRecord got = records[batch.position(i) + p];
      if (got == expected[p]) continue;
      std::size_t different = 0;
      for (std::size_t q = p; q < expected.size(); ++q)
        different += records[batch.position(i) + q] != expected[q];
      return "block " + std::to_string(i) + " (" + cases[i].name + ", history " +
             std::to_string(cases[i].history_bytes) + ", block of " + std::to_string(expected.size()) +
             "), position " + std::to_string(p) + ": (offset, length) should be (" +
             std::to_string(record_offset(expected[p])) + ", " + std::to_string(record_length(expected[p])) +
             "), is (" + std::to_string(record_offset(got)) + ", " + std::to_string(record_length(got)) +
             "); " + std::to_string(different) + " of the block's records differ";
    }
  }
  return "";
}

// Every kind of input with every history that fits, sizes around those where tiles and words end.
inline std::vector<FinderCase> small_cases() {
  std::vector<FinderCase> cases;
  for (const std::size_t size : {0, 1, 3, 4, 5, 31, 33, 1000, 1019, 1020, 1021, 1024, 1025, 2044, 2049, 5000})
    for (const std::size_t history : {0, 1, 15, 700, 2000})
      for (Shape& shape : shapes_of(size + history))
        cases.push_back({std::move(shape.name), std::move(shape.bytes), history});
  return cases;
}

// Segments, windows and heads of 16 bits end inside these.
inline std::vector<FinderCase> large_cases() {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 1000, 32768, 65535, 65536})
    for (const std::size_t size : {65535, 65536, 65537, 200'000})
      for (Shape& shape : shapes_of(size + history))
        cases.push_back({std::move(shape.name), std::move(shape.bytes), history});
  // Few different words, far apart: most heads are older than 65536 positions when they are looked at.
  Bytes sparse = random_bytes(400'000, 9);
  for (std::size_t i = 0; i + 64 <= sparse.size(); i += 1000 + i % 7777)
    std::copy_n(sparse.begin() + static_cast<std::ptrdiff_t>(i * 7 % 60'000), 40,
                sparse.begin() + static_cast<std::ptrdiff_t>(i));
  cases.push_back({"sparse repeats", sparse, 0});
  cases.push_back({"sparse repeats", sparse, 65536});
  return cases;
}

// The blocks of a file, each with up to `history_bytes` of what precedes it.
inline std::vector<FinderCase> row_cases(const Bytes& file, std::size_t block_bytes,
                                         std::size_t history_bytes) {
  std::vector<FinderCase> cases;
  for (std::size_t begin = 0; begin < file.size(); begin += block_bytes) {
    const std::size_t history = std::min(begin, history_bytes),
                      end = std::min(begin + block_bytes, file.size());
    cases.push_back({"block at " + std::to_string(begin),
                     Bytes(file.begin() + static_cast<std::ptrdiff_t>(begin - history),
                           file.begin() + static_cast<std::ptrdiff_t>(end)),
                     history});
  }
  return cases;
}

// Pieces of the real files, where there are any: blocks of `block_bytes` with up to `history_bytes` of what precedes them.
inline std::vector<FinderCase> file_cases(std::size_t block_bytes, std::size_t history_bytes,
                                          std::size_t blocks) {
  std::vector<FinderCase> cases;
  if (!corpora()) return cases;
  for (const char* name : {"dickens", "mr", "nci", "osdb", "samba", "xml", "x-ray"}) {
    const Bytes bytes = read_file(*corpora() / "silesia" / name, (blocks + 1) * block_bytes + history_bytes);
    for (std::size_t i = 0; i < blocks && i * block_bytes < bytes.size(); ++i) {
      const std::size_t begin = i * block_bytes, history = std::min(begin, history_bytes);
      const std::size_t end = std::min(begin + block_bytes, bytes.size());
      cases.push_back({name,
                       Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(begin - history),
                             bytes.begin() + static_cast<std::ptrdiff_t>(end)),
                       history});
    }
  }
  return cases;
}

}  // namespace hemstitch::testing
