// A file's chunks in device memory, for us and for nvCOMP alike; what both are measured and judged by.
#pragma once

#include <cuda_runtime.h>
#include <nvcomp.h>
#include <nvcomp/version.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/cuda/device_buffer.hpp"
#include "hemstitch/hemstitch.h"
#include "match/common/cuda/device_block.hpp"
#include "shapes.hpp"

namespace hemstitch::bench {

using testing::Bytes;

// nvCOMP asks for 8 at most; this is what allocations have.
constexpr std::size_t kAlignmentBytes = 16;

inline std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

inline double round2(double value) { return std::round(value * 100) / 100; }

inline std::string peer_name() {
  return "nvCOMP " + std::to_string(NVCOMP_VER_MAJOR) + "." + std::to_string(NVCOMP_VER_MINOR) + "." +
         std::to_string(NVCOMP_VER_PATCH) + "." + std::to_string(NVCOMP_VER_BUILD);
}

inline void check(nvcompStatus_t status, const char* call) {
  if (status != nvcompSuccess)
    throw std::runtime_error(std::string(call) + ": nvCOMP status " + std::to_string(int(status)));
}

__global__ inline void count_differences(const std::byte* const* d_left, const std::byte* const* d_right,
                                         const std::size_t* d_bytes, const std::size_t* d_got_bytes,
                                         std::uint64_t count, unsigned long long* d_differences) {
  unsigned long long differences = 0;
  for (std::uint64_t chunk = blockIdx.x; chunk < count; chunk += gridDim.x) {
    differences += d_bytes[chunk] != d_got_bytes[chunk];
    for (std::size_t i = threadIdx.x; i < d_bytes[chunk]; i += blockDim.x)
      differences += d_left[chunk][i] != d_right[chunk][i];
  }
  if (differences > 0) atomicAdd(d_differences, differences);
}

// An array of one element a chunk, in device memory.
template <class T>
cuda::DeviceBuffer<T> on_device(const std::vector<T>& elements, const cuda::Stream& stream) {
  cuda::DeviceBuffer<T> d_elements(elements.size(), stream.get());
  d_elements.upload(elements);
  stream.synchronize();
  return d_elements;
}

// A file's chunks, repeated in device memory, with room for each one's compressed form and for what is restored.
struct Chunks {
  // `most_bytes`: what a chunk may become with either library.
  Chunks(const Bytes& file, std::size_t chunk_bytes, std::size_t most_bytes, std::uint64_t total_bytes,
         const cuda::Stream& stream)
      : copies(std::max<std::uint64_t>(1, total_bytes / file.size())),
        per_copy((file.size() + chunk_bytes - 1) / chunk_bytes),
        room_bytes(aligned(most_bytes)),
        bytes(copies * file.size()),
        d_data(copies * aligned(file.size()), stream.get()),
        d_restored(copies * aligned(file.size()), stream.get()),
        d_rooms(copies * per_copy * room_bytes, stream.get()) {
    std::vector<DeviceBlock> blocks;
    std::vector<std::byte*> data, restored, rooms;
    std::vector<std::size_t> sizes;
    std::uint64_t position = 0;
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
      std::byte* const d_copy = d_data.get() + copy * aligned(file.size());
      cuda::check(cudaMemcpyAsync(d_copy, file.data(), file.size(), cudaMemcpyHostToDevice, stream.get()),
                  "cudaMemcpyAsync");
      for (std::size_t begin = 0; begin < file.size(); begin += chunk_bytes) {
        const std::size_t size = std::min(chunk_bytes, file.size() - begin);
        blocks.push_back({d_copy + begin, static_cast<std::uint32_t>(size), 0, position});
        position += size;
        data.push_back(d_copy + begin);
        restored.push_back(d_restored.get() + copy * aligned(file.size()) + begin);
        rooms.push_back(d_rooms.get() + rooms.size() * room_bytes);
        sizes.push_back(size);
      }
    }
    d_blocks = on_device(blocks, stream);
    d_data_pointers = on_device(data, stream);
    d_restored_pointers = on_device(restored, stream);
    d_room_pointers = on_device(rooms, stream);
    d_sizes = on_device(sizes, stream);
    d_room_sizes = on_device(std::vector<std::size_t>(sizes.size(), room_bytes), stream);
    d_compressed_sizes = cuda::DeviceBuffer<std::size_t>(sizes.size(), stream.get());
    d_restored_sizes = cuda::DeviceBuffer<std::size_t>(sizes.size(), stream.get());
    d_statuses = cuda::DeviceBuffer<hemstitch_status>(sizes.size(), stream.get());
    d_peer_statuses = cuda::DeviceBuffer<nvcompStatus_t>(sizes.size(), stream.get());
    batch = {d_blocks.get(), static_cast<std::uint32_t>(sizes.size()),
             static_cast<std::uint32_t>(chunk_bytes), 0, bytes};
    stream.synchronize();
  }

  std::uint64_t count() const { return copies * per_copy; }

  // What `write` makes of each chunk of the file in its room, whose size it returns, in the rooms of all its copies. Returns what the
  // file becomes.
  std::size_t write_streams(
      const Bytes& file, std::size_t chunk_bytes, const cuda::Stream& stream,
      const std::function<std::size_t(std::span<const std::byte>, std::span<std::byte>)>& write) {
    std::vector<std::byte> rooms(per_copy * room_bytes);
    std::vector<std::size_t> sizes(per_copy);
    tbb::parallel_for(std::size_t{0}, per_copy, [&](std::size_t chunk) {
      const std::size_t begin = chunk * chunk_bytes, size = std::min(chunk_bytes, file.size() - begin);
      sizes[chunk] = write(std::span(file).subspan(begin, size),
                           std::span(rooms).subspan(chunk * room_bytes, room_bytes));
    });
    std::vector<std::size_t> all_sizes;
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
      cuda::check(cudaMemcpyAsync(d_rooms.get() + copy * rooms.size(), rooms.data(), rooms.size(),
                                  cudaMemcpyHostToDevice, stream.get()),
                  "cudaMemcpyAsync");
      all_sizes.insert(all_sizes.end(), sizes.begin(), sizes.end());
    }
    d_compressed_sizes.upload({all_sizes.data(), all_sizes.size()});
    stream.synchronize();
    std::size_t bytes = 0;
    for (const std::size_t size : sizes) bytes += size;
    return bytes;
  }

  void forget_output(const cuda::Stream& stream) {
    cuda::check(cudaMemsetAsync(d_restored.get(), 0xA5, d_restored.bytes(), stream.get()), "cudaMemsetAsync");
    cuda::check(cudaMemsetAsync(d_restored_sizes.get(), 0, d_restored_sizes.bytes(), stream.get()),
                "cudaMemsetAsync");
  }

  // Whether what was restored last is the data.
  bool restored_well(const cuda::Stream& stream) const {
    std::vector<unsigned long long> differences{0};
    cuda::DeviceBuffer<unsigned long long> d_differences = on_device(differences, stream);
    constexpr int kBlocks = 4096, kThreads = 256;
    count_differences<<<kBlocks, kThreads, 0, stream.get()>>>(
        d_data_pointers.get(), d_restored_pointers.get(), d_sizes.get(), d_restored_sizes.get(), count(),
        d_differences.get());
    cuda::check_launch("count_differences");
    d_differences.download({differences.data(), differences.size()});
    stream.synchronize();
    return differences[0] == 0;
  }

  double ratio(const cuda::Stream& stream) {
    std::vector<std::size_t> sizes(count());
    d_compressed_sizes.download({sizes.data(), sizes.size()});
    stream.synchronize();
    std::uint64_t total = 0;
    for (const std::size_t size : sizes) total += size;
    return static_cast<double>(bytes) / static_cast<double>(total);
  }

  std::uint64_t copies;
  std::size_t per_copy, room_bytes;
  std::uint64_t bytes;
  cuda::DeviceBuffer<std::byte> d_data, d_restored, d_rooms;
  cuda::DeviceBuffer<DeviceBlock> d_blocks;
  cuda::DeviceBuffer<std::byte*> d_data_pointers, d_restored_pointers, d_room_pointers;
  cuda::DeviceBuffer<std::size_t> d_sizes, d_room_sizes, d_compressed_sizes, d_restored_sizes;
  cuda::DeviceBuffer<hemstitch_status> d_statuses;
  cuda::DeviceBuffer<nvcompStatus_t> d_peer_statuses;
  DeviceBlocks batch;
};

}  // namespace hemstitch::bench
