// The time that work on a stream takes, between events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "device/cuda/event.hpp"

namespace hemstitch::bench {

// Seconds: the median of `calls` calls, after one that warms up and does not count. `call` only puts work on the stream.
inline double median_seconds(cudaStream_t stream, int calls, const std::function<void()>& call) {
  cuda::Event begin(cuda::Event::Kind::kTiming), end(cuda::Event::Kind::kTiming);
  std::vector<float> milliseconds;
  call();
  for (int i = 0; i < calls; ++i) {
    begin.record(stream);
    call();
    end.record(stream);
    end.synchronize();
    milliseconds.push_back(end.milliseconds_since(begin));
  }
  const auto middle = milliseconds.begin() + calls / 2;
  std::nth_element(milliseconds.begin(), middle, milliseconds.end());
  return static_cast<double>(*middle) * 1e-3;
}

}  // namespace hemstitch::bench
