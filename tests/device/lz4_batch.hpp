// Batches of blocks compressed to LZ4 on a device, for tests: cases in, blocks out, with guards around every output.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "all_cores.hpp"
#include "finder_cases.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "gpu/cuda/device_buffer.hpp"

namespace hemstitch::testing {

// What the twin makes of every case.
inline std::vector<Bytes> twins_blocks(const std::vector<FinderCase>& cases, const Lz4Level& level) {
  std::vector<Bytes> blocks(cases.size());
  on_all_cores(cases.size(), [&](std::size_t i) {
    Bytes block(cuda::max_lz4_block_bytes(cases[i].input().block_bytes()));
    const EncodedBlock encoded = compress_lz4_block_reference(cases[i].input(), level, block);
    block.resize(encoded.bytes);
    blocks[i] = block;
  });
  return blocks;
}

inline std::string byte_text(const Bytes& bytes, std::size_t i) {
  return i < bytes.size() ? std::to_string(static_cast<int>(bytes[i])) : "nothing";
}

// Where `got` differs from `expected`: empty, or the first difference in full.
inline std::string block_difference(const std::string& name, const Bytes& expected, const Bytes& got) {
  if (expected == got) return "";
  std::size_t i = 0;
  while (i < expected.size() && i < got.size() && expected[i] == got[i]) ++i;
  return name + ": should have " + std::to_string(expected.size()) + " bytes, has " +
         std::to_string(got.size()) + "; byte " + std::to_string(i) + " should be " + byte_text(expected, i) +
         ", is " + byte_text(got, i);
}

// Rooms on the device for the outputs of a batch, one behind the other at all alignments, with guards between.
class OutputRooms {
 public:
  static constexpr std::byte kGuard{0xA5};
  static constexpr std::size_t kGuardBytes = 19;  // no multiple of any access's size, so all alignments occur

  OutputRooms(const std::vector<std::size_t>& capacities, cudaStream_t stream)
      : capacities_(capacities), stream_(stream) {
    std::size_t bytes = kGuardBytes;
    for (const std::size_t capacity : capacities) {
      begins_.push_back(bytes);
      bytes += capacity + kGuardBytes;
    }
    d_bytes_ = cuda::DeviceBuffer<std::byte>(bytes, stream);
    cuda::check(cudaMemsetAsync(d_bytes_.get(), static_cast<int>(kGuard), bytes, stream), "cudaMemsetAsync");
    std::vector<std::byte*> outputs;
    for (const std::size_t begin : begins_) outputs.push_back(d_bytes_.get() + begin);
    d_outputs_ = cuda::DeviceBuffer<std::byte*>(outputs.size(), stream);
    d_capacities_ = cuda::DeviceBuffer<std::size_t>(outputs.size(), stream);
    d_output_bytes_ = cuda::DeviceBuffer<std::size_t>(outputs.size(), stream);
    d_statuses_ = cuda::DeviceBuffer<hemstitch_status>(outputs.size(), stream);
    d_outputs_.upload(outputs);
    d_capacities_.upload(capacities_);
    if (!outputs.empty()) {
      cuda::check(cudaMemsetAsync(d_output_bytes_.get(), 0xA5, d_output_bytes_.bytes(), stream),
                  "cudaMemsetAsync");
      cuda::check(cudaMemsetAsync(d_statuses_.get(), 0xA5, d_statuses_.bytes(), stream), "cudaMemsetAsync");
    }
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  cuda::DeviceLz4Output output() const {
    return {d_outputs_.get(), d_capacities_.get(), d_output_bytes_.get(), d_statuses_.get()};
  }

  struct Result {
    std::vector<Bytes> blocks;
    std::vector<hemstitch_status> statuses;
    std::string guards;  // empty, or which one was written to
  };

  Result result() const {
    Result result;
    const std::size_t count = capacities_.size();
    std::vector<std::size_t> sizes(count);
    result.statuses.resize(count);
    Bytes bytes(d_bytes_.count());
    d_output_bytes_.download(sizes);
    d_statuses_.download(result.statuses);
    d_bytes_.download(bytes);
    cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    for (std::size_t i = 0; i <= count; ++i) {
      const std::size_t guard = i < count ? begins_[i] - kGuardBytes : bytes.size() - kGuardBytes;
      for (std::size_t j = 0; j < kGuardBytes; ++j)
        if (bytes[guard + j] != kGuard && result.guards.empty())
          result.guards = "the guard before room " + std::to_string(i) + " of " + std::to_string(count) +
                          " was written to, byte " + std::to_string(j);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(begins_[i]);
      result.blocks.emplace_back(begin,
                                 begin + static_cast<std::ptrdiff_t>(std::min(sizes[i], capacities_[i])));
      if (sizes[i] > capacities_[i]) result.guards = "a size is larger than its capacity";
    }
    return result;
  }

 private:
  std::vector<std::size_t> capacities_, begins_;
  cudaStream_t stream_;
  cuda::DeviceBuffer<std::byte> d_bytes_;
  cuda::DeviceBuffer<std::byte*> d_outputs_;
  cuda::DeviceBuffer<std::size_t> d_capacities_, d_output_bytes_;
  cuda::DeviceBuffer<hemstitch_status> d_statuses_;
};

// Scratch that holds garbage and begins at an odd address.
class Scratch {
 public:
  Scratch(std::size_t bytes, cudaStream_t stream) : bytes_(bytes), d_bytes_(bytes + 1, stream) {
    cuda::check(cudaMemsetAsync(d_bytes_.get(), 0xA5, d_bytes_.bytes(), stream), "cudaMemsetAsync");
  }
  void* get() const { return d_bytes_.get() + 1; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  cuda::DeviceBuffer<std::byte> d_bytes_;
};

}  // namespace hemstitch::testing
