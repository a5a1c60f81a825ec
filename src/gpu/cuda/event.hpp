// A point in a stream's work: to wait for, or to measure from.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <thread>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {

// Not copyable; any thread may use it, one at a time.
class Event {
 public:
  // kOrder is cheaper than kTiming and has no time; at a kWait a thread that waits sleeps.
  enum class Kind { kOrder, kTiming, kWait };

  explicit Event(Kind kind = Kind::kOrder) {
    const unsigned flags = kind == Kind::kTiming ? cudaEventDefault
                           : kind == Kind::kWait ? cudaEventDisableTiming | cudaEventBlockingSync
                                                 : cudaEventDisableTiming;
    check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  // The host waits: it polls for a moment, then sleeps. For small batches, since waking a thread takes as long as a
  // device takes for a thousand pages.
  void await() const {
    constexpr std::chrono::microseconds kMoment{100};
    const auto end = std::chrono::steady_clock::now() + kMoment;
    do {
      const cudaError_t state = cudaEventQuery(event_);
      if (state == cudaSuccess) return;
      cudaGetLastError();  // it would be the next call's
      if (state != cudaErrorNotReady) check(state, "cudaEventQuery");
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < end);
    synchronize();
  }
  // The host waits.
  void synchronize() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  // The stream waits; the host goes on.
  void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_), "cudaStreamWaitEvent"); }
  // Of two timing events that have passed.
  float milliseconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace hemstitch::cuda
