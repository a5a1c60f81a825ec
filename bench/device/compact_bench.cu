// What scan, gather, scatter, shuffle and bitshuffle and their ways back cost on a CUDA device.
//
//   compact_device_bench [--rows NAME]      NAME: rows alone whose name contains it; that of scans is scan, that of shuffles begins so
//
// Every figure is the median of 21 runs after one to warm up. A scan's time, also that of gather with its scan, is that of a
// graph of 20, divided by 20: what it costs in the middle of a pipeline, without the launch from the host. The peer of gather and scatter is
// CUB's batched copy over arrays of pointers; that of shuffles is a plain copy of as many bytes, the rate that they cannot
// pass. Prints one row of a recorded run a line.
#include <algorithm>
#include <cstdio>
#include <cub/device/device_memcpy.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compact/bitshuffle/bitshuffle.hpp"
#include "compact/bitshuffle/bitshuffle_cuda.hpp"
#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "compact/scatter/scatter_cuda.hpp"
#include "compact/shuffle/shuffle.hpp"
#include "compact/shuffle/shuffle_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::DeviceBuffer;

double median_seconds(cudaStream_t stream, const std::function<void()>& run) {
  constexpr int kRuns = 21;
  run();
  std::vector<float> milliseconds;
  for (int i = 0; i < kRuns; ++i) {
    cuda::Event start(cuda::Event::Kind::kTiming), end(cuda::Event::Kind::kTiming);
    start.record(stream);
    run();
    end.record(stream);
    end.synchronize();
    milliseconds.push_back(end.milliseconds_since(start));
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  return milliseconds[kRuns / 2] / 1e3;
}

// Seconds that `work` takes in the middle of others, without the launch from the host: of a graph of many.
double seconds_in_graph(cudaStream_t stream, const std::function<void()>& work) {
  constexpr int kTimes = 20;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int i = 0; i < kTimes; ++i) work();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  const double seconds =
      median_seconds(stream, [&] { check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch"); }) / kTimes;
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return seconds;
}

// The peer is CUB's scan from an array of 32-bit items to one of 64-bit sums, without the total.
void scan(std::size_t count, cudaStream_t stream) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(random());
  DeviceBuffer<std::uint32_t> d_sizes(count, stream);
  d_sizes.upload(sizes);
  DeviceBuffer<std::uint64_t> d_offsets(count + 1, stream);
  std::size_t peer_scratch_bytes = 0;
  const auto peer = [&](void* d_scratch) {
    check(cub::DeviceScan::ExclusiveScan(d_scratch, peer_scratch_bytes, d_sizes.get(), d_offsets.get(),
                                         ::cuda::std::plus<std::uint64_t>{}, std::uint64_t{0}, count, stream),
          "peer");
  };
  peer(nullptr);
  DeviceBuffer<std::byte> d_scratch(std::max(cuda::scan_sizes_cuda_scratch_bytes(count), peer_scratch_bytes),
                                    stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const double peer_seconds = seconds_in_graph(stream, [&] { peer(d_scratch.get()); });
  const auto run = [&] {
    cuda::scan_sizes_cuda(d_sizes.get(), count, d_offsets.get(), d_scratch.get(), d_scratch.bytes(), stream);
  };
  const double seconds = seconds_in_graph(stream, run);
  const double alone = median_seconds(stream, run);

  std::vector<std::uint64_t> offsets(count + 1);
  d_offsets.download(offsets);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::uint64_t sum = 0;
  bool verified = true;
  for (std::size_t i = 0; i <= count; ++i) {
    verified &= offsets[i] == sum;
    if (i < count) sum += sizes[i];
  }
  std::printf(
      "{\"what\":\"scan\",\"backend\":\"cuda\",\"items\":%zu,\"microseconds\":%.2f,\"microseconds_launched_"
      "alone\":%.2f,"
      "\"gitems\":%.2f,\"span\":\"kernel\",\"peer\":\"cub::DeviceScan::ExclusiveScan, 32-bit items to "
      "64-bit sums, no total\",\"peer_microseconds\":%.2f,"
      "\"verified\":"
      "%s}\n",
      count, seconds * 1e6, alone * 1e6, static_cast<double>(count) / seconds / 1e9, peer_seconds * 1e6,
      verified ? "true" : "false");
}

void gather_and_scatter(const char* name, const std::vector<std::uint32_t>& sizes, unsigned gap,
                        cudaStream_t stream) {
  const std::size_t count = sizes.size();
  std::vector<std::uint64_t> offsets(count);
  std::vector<std::size_t> begins(count);
  std::size_t bytes = 0, source_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    offsets[i] = bytes;
    begins[i] = source_bytes;
    bytes += sizes[i];
    source_bytes += sizes[i] + gap;
  }
  std::vector<std::byte> source(source_bytes);
  std::mt19937_64 random(2);
  for (std::size_t i = 0; i + 8 <= source.size(); i += 8) {
    const std::uint64_t word = random();
    std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, source.data() + i);
  }
  DeviceBuffer<std::byte> d_source(source_bytes, stream), d_output(bytes, stream);
  d_source.upload(source);
  std::vector<const std::byte*> sources(count);
  std::vector<const void*> peer_from(count);
  std::vector<void*> peer_to(count);
  for (std::size_t i = 0; i < count; ++i) {
    peer_from[i] = sources[i] = d_source.get() + begins[i];
    peer_to[i] = d_output.get() + offsets[i];
  }
  DeviceBuffer<const std::byte*> d_sources(count, stream);
  d_sources.upload(sources);
  DeviceBuffer<const void*> d_peer_from(count, stream);
  d_peer_from.upload(peer_from);
  DeviceBuffer<void*> d_peer_to(count, stream);
  d_peer_to.upload(peer_to);
  DeviceBuffer<std::uint32_t> d_sizes(count, stream);
  d_sizes.upload(sizes);
  DeviceBuffer<std::uint64_t> d_offsets(count, stream);
  d_offsets.upload(offsets);
  std::size_t peer_scratch_bytes = 0;
  check(cub::DeviceMemcpy::Batched(nullptr, peer_scratch_bytes, d_peer_from.get(), d_peer_to.get(),
                                   d_sizes.get(), count, stream),
        "peer");
  DeviceBuffer<std::byte> d_scratch(
      std::max(cuda::gather_pieces_cuda_scratch_bytes(count), peer_scratch_bytes), stream);

  const double peer_seconds = median_seconds(stream, [&] {
    check(cub::DeviceMemcpy::Batched(d_scratch.get(), peer_scratch_bytes, d_peer_from.get(), d_peer_to.get(),
                                     d_sizes.get(), count, stream),
          "peer");
  });
  check(cudaMemsetAsync(d_output.get(), 0xA5, bytes, stream), "cudaMemsetAsync");
  DeviceBuffer<std::uint64_t> d_scanned(count + 1, stream);
  DeviceBuffer<std::byte> d_scan_scratch(cuda::scan_sizes_cuda_scratch_bytes(count), stream);
  const double with_scan_seconds = seconds_in_graph(stream, [&] {
    cuda::scan_sizes_cuda(d_sizes.get(), count, d_scanned.get(), d_scan_scratch.get(), d_scan_scratch.bytes(),
                          stream);
    cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_scanned.get(), count, d_output.get(), nullptr,
                             0, stream);
  });
  const double seconds = median_seconds(stream, [&] {
    cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_offsets.get(), count, d_output.get(),
                             d_scratch.get(), d_scratch.bytes(), stream);
  });
  // Scattered back to where the pieces came from, which is cleared before.
  std::vector<std::byte> output(bytes);
  d_output.download(output);
  check(cudaMemsetAsync(d_source.get(), 0xA5, source_bytes, stream), "cudaMemsetAsync");
  std::vector<std::byte*> targets(count);
  for (std::size_t i = 0; i < count; ++i) targets[i] = d_source.get() + begins[i];
  DeviceBuffer<std::byte*> d_targets(count, stream);
  d_targets.upload(targets);
  const double back_seconds = median_seconds(stream, [&] {
    cuda::scatter_pieces_cuda(d_output.get(), d_offsets.get(), d_sizes.get(), count, d_targets.get(), nullptr,
                              cuda::scatter_pieces_cuda_scratch_bytes(count), stream);
  });
  std::vector<std::byte> back(source_bytes);
  d_source.download(back);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  bool verified = true, verified_back = true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto piece = source.begin() + static_cast<std::ptrdiff_t>(begins[i]);
    verified &= std::equal(piece, piece + sizes[i], output.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
    const auto returned = back.begin() + static_cast<std::ptrdiff_t>(begins[i]);
    verified_back &= std::equal(piece, piece + sizes[i], returned);
    for (unsigned j = 0; j < gap; ++j) verified_back &= returned[sizes[i] + j] == std::byte{0xA5};
  }
  const auto print = [&](const char* what, double took, bool right) {
    std::printf(
        "{\"what\":\"%s\",\"backend\":\"cuda\",\"level\":\"%s\",\"items\":%zu,\"bytes\":%zu,\"milliseconds\":"
        "%.4f,"
        "\"gbps\":%.1f,\"span\":\"kernel\",\"peer\":\"cub::DeviceMemcpy::Batched\",\"peer_gbps\":%.1f,"
        "\"verified\":%s}\n",
        what, name, count, bytes, took * 1e3, static_cast<double>(bytes) / took / 1e9,
        static_cast<double>(bytes) / peer_seconds / 1e9, right ? "true" : "false");
  };
  print("gather", seconds, verified);
  print("scan+gather", with_scan_seconds, verified);
  print("scatter", back_seconds, verified_back);
}

// A filter over buffers of one size: forth and back on the device, and one buffer on the processor.
struct Filter {
  using Move = std::function<void(const std::byte* const* d_sources, const std::size_t* d_sizes,
                                  std::byte* const* d_targets, std::uint64_t count, void* d_scratch,
                                  std::size_t scratch_bytes, cudaStream_t stream)>;
  const char* name;
  const char* back_name;
  std::size_t (*scratch_bytes)(std::uint64_t count);
  Move move;
  Move move_back;
  std::function<void(std::span<const std::byte>, std::span<std::byte>)> move_one;
};

Filter shuffle_of(std::uint32_t element_bytes) {
  return {"shuffle",
          "unshuffle",
          cuda::shuffle_cuda_scratch_bytes,
          [=](auto d_sources, auto d_sizes, auto d_targets, auto count, auto... rest) {
            cuda::shuffle_cuda({d_sources, d_sizes, d_targets, count, element_bytes}, rest...);
          },
          [=](auto d_sources, auto d_sizes, auto d_targets, auto count, auto... rest) {
            cuda::unshuffle_cuda({d_sources, d_sizes, d_targets, count, element_bytes}, rest...);
          },
          [=](auto source, auto target) { shuffle_bytes(source, element_bytes, target); }};
}

Filter bitshuffle_of(std::uint32_t element_bytes, std::size_t block_bytes) {
  return {
      "bitshuffle",
      "bitunshuffle",
      cuda::bitshuffle_cuda_scratch_bytes,
      [=](auto d_sources, auto d_sizes, auto d_targets, auto count, auto... rest) {
        cuda::bitshuffle_cuda({d_sources, d_sizes, d_targets, count, element_bytes, block_bytes}, rest...);
      },
      [=](auto d_sources, auto d_sizes, auto d_targets, auto count, auto... rest) {
        cuda::bitunshuffle_cuda({d_sources, d_sizes, d_targets, count, element_bytes, block_bytes}, rest...);
      },
      [=](auto source, auto target) { bitshuffle_bytes(source, element_bytes, block_bytes, target); }};
}

// Buffers of one size, `gap` bytes apart, filtered and back.
void filter_there_and_back(const Filter& filter, const char* name, std::size_t count, std::size_t size,
                           std::size_t gap, std::uint32_t element_bytes, cudaStream_t stream) {
  const std::size_t all_bytes = count * (size + gap), bytes = count * size;
  std::vector<std::byte> source(all_bytes);
  std::mt19937_64 random(4);
  for (std::size_t i = 0; i + 8 <= all_bytes; i += 8) {
    const std::uint64_t word = random();
    std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, source.data() + i);
  }
  DeviceBuffer<std::byte> d_source(all_bytes, stream), d_planes(all_bytes, stream);
  d_source.upload(source);
  std::vector<const std::byte*> sources(count), planes_sources(count);
  std::vector<std::byte*> targets(count), planes_targets(count);
  for (std::size_t i = 0; i < count; ++i) {
    sources[i] = targets[i] = d_source.get() + i * (size + gap);
    planes_sources[i] = planes_targets[i] = d_planes.get() + i * (size + gap);
  }
  DeviceBuffer<const std::byte*> d_sources(count, stream), d_planes_sources(count, stream);
  d_sources.upload(sources);
  d_planes_sources.upload(planes_sources);
  DeviceBuffer<std::byte*> d_targets(count, stream), d_planes_targets(count, stream);
  d_targets.upload(targets);
  d_planes_targets.upload(planes_targets);
  DeviceBuffer<std::size_t> d_sizes(count, stream);
  d_sizes.upload(std::vector<std::size_t>(count, size));
  DeviceBuffer<std::byte> d_scratch(filter.scratch_bytes(count), stream);
  const double peer_seconds = median_seconds(stream, [&] {
    check(cudaMemcpyAsync(d_planes.get(), d_source.get(), all_bytes, cudaMemcpyDeviceToDevice, stream),
          "peer");
  });
  const double seconds = median_seconds(stream, [&] {
    filter.move(d_sources.get(), d_sizes.get(), d_planes_targets.get(), count, d_scratch.get(),
                d_scratch.bytes(), stream);
  });
  std::vector<std::byte> planes(all_bytes), back(all_bytes), expected(size);
  d_planes.download(planes);
  check(cudaMemsetAsync(d_source.get(), 0xA5, all_bytes, stream), "cudaMemsetAsync");
  const double back_seconds = median_seconds(stream, [&] {
    filter.move_back(d_planes_sources.get(), d_sizes.get(), d_targets.get(), count, d_scratch.get(),
                     d_scratch.bytes(), stream);
  });
  d_source.download(back);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  bool verified = true, verified_back = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * (size + gap);
    if (i % 97 == 0) {
      filter.move_one(std::span(source).subspan(at, size), expected);
      verified &=
          std::equal(expected.begin(), expected.end(), planes.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const auto begin = static_cast<std::ptrdiff_t>(at);
    verified_back &=
        std::equal(source.begin() + begin, source.begin() + begin + static_cast<std::ptrdiff_t>(size),
                   back.begin() + begin);
  }
  const auto print = [&](const char* what, double took, bool right) {
    std::printf(
        "{\"what\":\"%s\",\"backend\":\"cuda\",\"level\":\"%s, elements of %u\",\"items\":%zu,\"bytes\":%zu,"
        "\"milliseconds\":%.4f,\"gbps\":%.1f,\"span\":\"kernel\",\"peer\":\"cudaMemcpyAsync, device to "
        "device\","
        "\"peer_gbps\":%.1f,\"verified\":%s}\n",
        what, name, element_bytes, count, bytes, took * 1e3, static_cast<double>(bytes) / took / 1e9,
        static_cast<double>(all_bytes) / peer_seconds / 1e9, right ? "true" : "false");
  };
  print(filter.name, seconds, verified);
  print(filter.back_name, back_seconds, verified_back);
}

std::vector<std::uint32_t> random_sizes(std::size_t count, std::uint32_t least, std::uint32_t most) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = least + static_cast<std::uint32_t>(random() % (most - least + 1));
  return sizes;
}

int bench(const std::string& name) {
  const cuda::Stream stream;
  const auto copies = [&](const char* what, const std::vector<std::uint32_t>& sizes, unsigned gap) {
    if (std::string(what).find(name) != std::string::npos) gather_and_scatter(what, sizes, gap, stream.get());
  };
  if (std::string("scan").find(name) != std::string::npos)
    for (const std::size_t count : {std::size_t{1000}, std::size_t{10'000}, std::size_t{100'000},
                                    std::size_t{1} << 24, std::size_t{1} << 28})
      scan(count, stream.get());
  copies("10,000 of 11,000 bytes", std::vector<std::uint32_t>(10'000, 11'000), 0);
  copies("10,000 of 11,000 bytes at any alignment", std::vector<std::uint32_t>(10'000, 11'000), 7);
  copies("30,000 of up to 65,536 bytes", random_sizes(30'000, 1, 65'536), 5);
  copies("30,000 of 65,536 bytes", std::vector<std::uint32_t>(30'000, 65'536), 0);
  copies("1,000,000 of 16 to 256 bytes", random_sizes(1'000'000, 16, 256), 3);
  copies("8,000,000 of 16 to 256 bytes", random_sizes(8'000'000, 16, 256), 3);
  copies("1,000,000 of 64 bytes, aligned", std::vector<std::uint32_t>(1'000'000, 64), 0);
  std::vector<std::uint32_t> one_large = random_sizes(10'000, 1, 2000);
  one_large[5000] = 500'000'000;
  copies("one of 500 MB among 10,000 small", one_large, 1);
  const auto shuffles = [&](const char* what, std::size_t count, std::size_t size, std::size_t gap,
                            std::uint32_t element_bytes) {
    if (("shuffle: " + std::string(what)).find(name) != std::string::npos)
      filter_there_and_back(shuffle_of(element_bytes), what, count, size, gap, element_bytes, stream.get());
  };
  // Of the bitshuffle library's blocks, or of one a buffer.
  const auto bitshuffles = [&](const std::string& what, std::size_t count, std::size_t size, std::size_t gap,
                               std::uint32_t element_bytes, std::size_t block_bytes) {
    const std::string blocks =
        block_bytes == 0 ? what : what + " in blocks of " + std::to_string(block_bytes);
    if (("bitshuffle: " + blocks).find(name) != std::string::npos)
      filter_there_and_back(bitshuffle_of(element_bytes, block_bytes), blocks.c_str(), count, size, gap,
                            element_bytes, stream.get());
  };
  for (const std::uint32_t element_bytes : {2u, 3u, 4u, 8u, 16u})
    shuffles("16,000 of 65,536 bytes", 16'000, 65'536, 0, element_bytes);
  shuffles("16,000 of 65,532 bytes at any alignment", 16'000, 65'532, 7, 4);
  shuffles("1,000,000 of 1,000 bytes", 1'000'000, 1000, 0, 4);
  shuffles("one of 1 GB", 1, 1'000'000'000, 0, 4);
  for (const std::uint32_t element_bytes : {1u, 2u, 4u, 8u, 16u}) {
    bitshuffles("16,000 of 65,536 bytes", 16'000, 65'536, 0, element_bytes, 8192);
    bitshuffles("16,000 of 65,536 bytes", 16'000, 65'536, 0, element_bytes, 0);
  }
  bitshuffles("16,000 of 65,536 bytes", 16'000, 65'536, 0, 3, 0);
  bitshuffles("16,000 of 65,532 bytes at any alignment", 16'000, 65'532, 7, 4, 8192);
  bitshuffles("1,000,000 of 1,000 bytes", 1'000'000, 1000, 0, 4, 0);
  bitshuffles("one of 1 GB", 1, 1'000'000'000, 0, 4, 8192);
  bitshuffles("one of 1 GB", 1, 1'000'000'000, 0, 4, 0);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  try {
    const bool some = argument_count == 3 && std::string(arguments[1]) == "--rows";
    return hemstitch::bench(some ? arguments[2] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
