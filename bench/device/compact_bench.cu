// What scan and gather cost on a CUDA device.
//
//   compact_device_bench
//
// Every figure is the median of 21 runs after one to warm up. A scan's time is that of a graph of 20 scans, divided by
// 20: what a scan costs in the middle of a pipeline, without the launch from the host. The peer of gather is CUB's
// batched copy over arrays of pointers. Prints one row of a recorded run a line.
#include <algorithm>
#include <cstdio>
#include <cub/device/device_memcpy.cuh>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "device/cuda/cuda_error.hpp"
#include "device/cuda/device_buffer.hpp"
#include "device/cuda/event.hpp"

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

void scan(std::size_t count, cudaStream_t stream) {
  constexpr int kScans = 20;
  std::mt19937 random(1);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(random());
  DeviceBuffer<std::uint32_t> d_sizes(count, stream);
  d_sizes.upload(sizes);
  DeviceBuffer<std::uint64_t> d_offsets(count + 1, stream);
  DeviceBuffer<std::byte> d_scratch(cuda::scan_sizes_cuda_scratch_bytes(count), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int i = 0; i < kScans; ++i)
    cuda::scan_sizes_cuda(d_sizes.get(), count, d_offsets.get(), d_scratch.get(), d_scratch.bytes(), stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  const double seconds =
      median_seconds(stream, [&] { check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch"); }) / kScans;
  const double alone = median_seconds(stream, [&] {
    cuda::scan_sizes_cuda(d_sizes.get(), count, d_offsets.get(), d_scratch.get(), d_scratch.bytes(), stream);
  });
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);

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
      "\"gitems\":%.2f,\"span\":\"kernel\",\"verified\":%s}\n",
      count, seconds * 1e6, alone * 1e6, static_cast<double>(count) / seconds / 1e9,
      verified ? "true" : "false");
}

void gather(const char* name, const std::vector<std::uint32_t>& sizes, unsigned gap, cudaStream_t stream) {
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
  const double seconds = median_seconds(stream, [&] {
    cuda::gather_pieces_cuda(d_sources.get(), d_sizes.get(), d_offsets.get(), count, d_output.get(),
                             d_scratch.get(), d_scratch.bytes(), stream);
  });
  std::vector<std::byte> output(bytes);
  d_output.download(output);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  bool verified = true;
  for (std::size_t i = 0; i < count; ++i)
    verified &= std::equal(output.begin() + static_cast<std::ptrdiff_t>(offsets[i]),
                           output.begin() + static_cast<std::ptrdiff_t>(offsets[i] + sizes[i]),
                           source.begin() + static_cast<std::ptrdiff_t>(begins[i]));
  std::printf(
      "{\"what\":\"gather\",\"backend\":\"cuda\",\"level\":\"%s\",\"items\":%zu,\"bytes\":%zu,\"gbps\":%.1f,"
      "\"span\":\"kernel\",\"peer\":\"cub::DeviceMemcpy::Batched\",\"peer_gbps\":%.1f,\"verified\":%s}\n",
      name, count, bytes, static_cast<double>(bytes) / seconds / 1e9,
      static_cast<double>(bytes) / peer_seconds / 1e9, verified ? "true" : "false");
}

std::vector<std::uint32_t> random_sizes(std::size_t count, std::uint32_t most) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = 1 + random() % most;
  return sizes;
}

int bench() {
  const cuda::Stream stream;
  for (const std::size_t count :
       {std::size_t{1000}, std::size_t{10'000}, std::size_t{100'000}, std::size_t{1} << 24})
    scan(count, stream.get());
  gather("10,000 of 11,000 bytes", std::vector<std::uint32_t>(10'000, 11'000), 0, stream.get());
  gather("10,000 of 11,000 bytes at any alignment", std::vector<std::uint32_t>(10'000, 11'000), 7,
         stream.get());
  gather("30,000 of up to 65,536 bytes", random_sizes(30'000, 65'536), 5, stream.get());
  gather("1,000,000 of up to 200 bytes", random_sizes(1'000'000, 200), 3, stream.get());
  std::vector<std::uint32_t> one_large = random_sizes(10'000, 2000);
  one_large[5000] = 500'000'000;
  gather("one of 500 MB among 10,000 small", one_large, 1, stream.get());
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main() {
  try {
    return hemstitch::bench();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
