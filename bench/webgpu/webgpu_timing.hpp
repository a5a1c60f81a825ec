// What the benchmarks of WebGPU share: the time of a recording on the device, and what ends a benchmark that went wrong.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/webgpu/device.hpp"
#include "gpu/webgpu/recording.hpp"

namespace hemstitch::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "WRONG: {}\n", what);
  std::exit(1);
}

// Runs a recording, and gives the median of the device's time for all of it; prints the median of each pass. Where the device
// has no timestamps, the host's clock from submission to the last pass's end counts. Runs before those that count last half a
// second: a device that was idle begins at a third of its clock.
inline double measure(webgpu::Device& device, const webgpu::Recording& recording,
                      const webgpu::BufferSet& buffers, int runs, const std::string& what,
                      std::string& clock) {
  std::vector<double> totals;
  std::map<std::string, std::vector<double>> passes;
  std::vector<std::string> order;
  clock = "device";
  constexpr double kWarmUpSeconds = 0.5;
  const auto warm_up = Clock::now();
  do {
    std::vector<webgpu::StepTime> times;
    device.run(recording, buffers, &times);
  } while (seconds_since(warm_up) < kWarmUpSeconds);
  for (int run = 0; run < runs; ++run) {
    std::vector<webgpu::StepTime> times;
    const auto begin = Clock::now();
    device.run(recording, buffers, &times);
    if (!device.has_timestamps()) {
      std::uint32_t word = 0;
      device.read(buffers[0], std::as_writable_bytes(std::span(&word, 1)));
    }
    double total = 0;
    std::map<std::string, double> sums;
    for (const webgpu::StepTime& time : times) {
      if (!time.seconds) clock = "host";
      total += time.seconds.value_or(0);
      if (std::find(order.begin(), order.end(), time.name) == order.end()) order.push_back(time.name);
      sums[time.name] += time.seconds.value_or(0);
    }
    if (clock == "host") total = seconds_since(begin);
    totals.push_back(total);
    for (const auto& [name, seconds] : sums) passes[name].push_back(seconds);
  }
  for (const std::string& name : order)
    fmt::print(stderr, "{} {:.3f} ms {}\n", what, 1e3 * median(passes[name]), name);
  return median(totals);
}

}  // namespace hemstitch::bench
