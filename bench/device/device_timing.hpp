// The time that work takes: on a stream, between events, or by the host's clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "gpu/cuda/event.hpp"

namespace hemstitch::bench {

// Seconds of each step and, last, of all: medians of `calls` calls of all of them in order, after one that warms up and does
// not count. Steps only put work on the stream.
inline std::vector<double> median_step_seconds(cudaStream_t stream, int calls,
                                               const std::vector<std::function<void()>>& steps) {
  std::deque<cuda::Event> events;  // which cannot move
  for (std::size_t i = 0; i <= steps.size(); ++i) events.emplace_back(cuda::Event::Kind::kTiming);
  std::vector<std::vector<double>> seconds(steps.size() + 1);
  for (int call = 0; call <= calls; ++call) {
    events[0].record(stream);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i]();
      events[i + 1].record(stream);
    }
    events.back().synchronize();
    if (call == 0) continue;
    for (std::size_t i = 0; i < steps.size(); ++i)
      seconds[i].push_back(events[i + 1].milliseconds_since(events[i]) * 1e-3);
    seconds.back().push_back(events.back().milliseconds_since(events[0]) * 1e-3);
  }
  std::vector<double> medians;
  for (std::vector<double>& of_step : seconds) {
    std::nth_element(of_step.begin(), of_step.begin() + calls / 2, of_step.end());
    medians.push_back(of_step[static_cast<std::size_t>(calls / 2)]);
  }
  return medians;
}

// Seconds: the median of `calls` calls, after one that warms up and does not count. `call` only puts work on the stream.
inline double median_seconds(cudaStream_t stream, int calls, const std::function<void()>& call) {
  return median_step_seconds(stream, calls, {call}).back();
}

// Seconds of work that waits for its own end, by the host's clock: the median of `calls` calls, after one that warms up.
inline double median_host_seconds(int calls, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int call = 0; call <= calls; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    if (call != 0)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + calls / 2, seconds.end());
  return seconds[static_cast<std::size_t>(calls / 2)];
}

}  // namespace hemstitch::bench
