// The cost of scan and gather through WebGPU: those cases of bench/device/compact_bench.cu that fit into a
// binding. Prints one JSON row on each line, as in bench/results. Times are the device's, the median of 21
// runs after one to warm up.
//
//   compact_webgpu_bench
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "compact/gather/gather_webgpu.hpp"
#include "compact/scan/scan_webgpu.hpp"
#include "core/status.hpp"
#include "gpu/device_names.hpp"
#include "gpu/webgpu/device.hpp"
#include "gpu/webgpu/devices.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using Json = nlohmann::ordered_json;

constexpr int kRuns = 21;

// The sum of all steps; nothing if the device does not report times.
double median_seconds(Device& device, const Recording& recording, const BufferSet& buffers) {
  std::vector<double> sums;
  for (int run = 0; run <= kRuns; ++run) {
    std::vector<StepTime> times;
    device.run(recording, buffers, &times);
    double sum = 0;
    for (const StepTime& time : times) sum += time.seconds.value_or(0);
    if (run > 0) sums.push_back(sum);
  }
  std::nth_element(sums.begin(), sums.begin() + kRuns / 2, sums.end());
  return sums[kRuns / 2];
}

void scan(Device& device, std::uint32_t count) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> sizes(count), begins(count + 1);
  for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(random() % 256);
  BufferPlan plan;
  const BufferId elements = plan.add("sizes", std::uint64_t{count} * 4);
  const BufferId places = plan.add("begins", (std::uint64_t{count} + 1) * 4);
  const ScanBuffers levels = plan_scan(plan, count);
  const BufferSet buffers = device.make_buffers(plan);
  device.write(buffers[elements.index], std::as_bytes(std::span(sizes)));
  Recording recording;
  record_scan(recording, elements, places, levels, count);
  const double seconds = median_seconds(device, recording, buffers);
  device.read(buffers[places.index], std::as_writable_bytes(std::span(begins)));
  bool verified = begins[0] == 0;
  for (std::uint32_t i = 0; i < count; ++i) verified &= begins[i + 1] == begins[i] + sizes[i];
  fmt::print("{}\n", Json{{"what", "scan"},
                          {"backend", "webgpu"},
                          {"items", count},
                          {"microseconds", seconds * 1e6},
                          {"gitems", 1e-9 * count / seconds},
                          {"span", "kernel"},
                          {"verified", verified}}
                         .dump());
  std::fflush(stdout);
}

void gather(Device& device, const char* name, const std::vector<std::uint32_t>& sizes, std::uint32_t gap) {
  const auto count = static_cast<std::uint32_t>(sizes.size());
  std::vector<GatherPiece> pieces(count);
  std::vector<std::uint32_t> begins(count + 1);
  std::uint32_t source_bytes = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    pieces[i] = {source_bytes, sizes[i]};
    begins[i + 1] = begins[i] + sizes[i];
    source_bytes += sizes[i] + gap;
  }
  // Random bytes with a period that differs from all pieces.
  const testing::Bytes once = testing::random_bytes(1000003, 2);
  testing::Bytes source(source_bytes);
  for (std::size_t at = 0; at < source.size(); at += once.size())
    std::copy_n(once.begin(), std::min(once.size(), source.size() - at), source.begin() + at);
  BufferPlan plan;
  const GatherBuffers ids{plan.add("source", source.size()), plan.add("pieces", count * sizeof(GatherPiece)),
                          plan.add("begins", begins.size() * 4), plan.add("output", begins.back())};
  const BufferSet buffers = device.make_buffers(plan);
  device.write(buffers[ids.source.index], source);
  device.write(buffers[ids.pieces.index], std::as_bytes(std::span(pieces)));
  device.write(buffers[ids.begins.index], std::as_bytes(std::span(begins)));
  Recording recording;
  record_gather(recording, ids, count, begins.back());
  const double seconds = median_seconds(device, recording, buffers);
  testing::Bytes output(begins.back() / 4 * 4);
  device.read(buffers[ids.output.index], output);
  bool verified = true;
  for (std::uint32_t i = 0; i < count && begins[i + 1] <= output.size(); ++i)
    verified &= std::equal(source.begin() + pieces[i].source, source.begin() + pieces[i].source + sizes[i],
                           output.begin() + begins[i]);
  fmt::print("{}\n", Json{{"what", "gather"},
                          {"backend", "webgpu"},
                          {"level", name},
                          {"items", count},
                          {"bytes", begins.back()},
                          {"milliseconds", seconds * 1e3},
                          {"gbps", 1e-9 * begins.back() / seconds},
                          {"span", "kernel"},
                          {"verified", verified}}
                         .dump());
  std::fflush(stdout);
}

int run() {
  const std::shared_ptr<Device> device = open_device(wanted_device({}));
  fmt::print(stderr, "{}\n", device->adapter().name);
  if (!device->has_timestamps()) {
    fmt::print(stderr, "compact_webgpu_bench: {} has no timestamps\n", device->adapter().name);
    return 1;
  }
  const bool is_software = device->adapter().kind == AdapterKind::kSoftware;
  for (const std::uint32_t count : {1000u, 10000u, 100000u, 16777216u})
    if (!is_software || count <= 100000) scan(*device, count);
  const auto alike = [](std::size_t count, std::uint32_t bytes) {
    return std::vector<std::uint32_t>(count, bytes);
  };
  if (is_software) {
    gather(*device, "100 of 11,000 bytes", alike(100, 11000), 0);
    return 0;
  }
  gather(*device, "10,000 of 11,000 bytes", alike(10000, 11000), 0);
  gather(*device, "10,000 of 11,000 bytes at any alignment", alike(10000, 11000), 3);
  gather(*device, "8,000 of 65,536 bytes", alike(8000, 65536), 0);
  std::mt19937 random(3);
  std::vector<std::uint32_t> small(1000000);
  for (std::uint32_t& size : small) size = static_cast<std::uint32_t>(16 + random() % 241);
  gather(*device, "1,000,000 of 16 to 256 bytes", small, 0);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main() {
  try {
    return hemstitch::run();
  } catch (const hemstitch::Error& error) {
    fmt::print(stderr, "compact_webgpu_bench: {}\n", error.what());
    return 1;
  }
}
