// A stream beside another one, for work that may run at the same time: kernels that are bound by latency leave room for
// others.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch::cuda {

// It has the same priority. What is launched on get() follows all that `beside` was given before, and after join() `beside` waits for it. Streams are kept and lent
// again, so that each call does not make one. Where `beside` is being captured in a graph, there is no other stream: a kept one
// that took part in a capture could not serve anybody else until it ends.
class SideStream {
 public:
  // Of the current device, as `beside` is.
  explicit SideStream(cudaStream_t beside) : beside_(beside) {
    cudaStreamCaptureStatus capture{};
    check(cudaStreamIsCapturing(beside, &capture), "cudaStreamIsCapturing");
    if (capture != cudaStreamCaptureStatusNone) return;
    check(cudaGetDevice(&kind_.first), "cudaGetDevice");
    check(cudaStreamGetPriority(beside, &kind_.second), "cudaStreamGetPriority");
    kept_ = take(kind_);
    kept_->begin.record(beside);
    kept_->begin.hold(kept_->stream.get());
  }
  ~SideStream() {
    try {
      join();
    } catch (const Error&) {
      // Whoever waits for the device hears of it.
    }
    if (kept_) give_back(kind_, std::move(kept_));
  }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  cudaStream_t get() const { return kept_ ? kept_->stream.get() : beside_; }
  void join() {
    if (!kept_ || is_joined_) return;
    is_joined_ = true;
    kept_->end.record(kept_->stream.get());
    kept_->end.hold(beside_);
  }

 private:
  using Kind = std::pair<int, int>;  // device, and priority as CUDA has it: the larger, the less
  struct Kept {
    explicit Kept(int priority) : stream(priority) {}
    Stream stream;
    Event begin, end;
  };
  struct Pool {
    std::mutex mutex;
    std::map<Kind, std::vector<std::unique_ptr<Kept>>> idle;
  };

  // Never destroyed: at the end of the process, the driver may be gone before.
  static Pool& pool() {
    static Pool& pool = *new Pool;
    return pool;
  }
  static std::unique_ptr<Kept> take(const Kind& kind) {
    {
      const std::scoped_lock lock(pool().mutex);
      auto& idle = pool().idle[kind];
      if (!idle.empty()) {
        std::unique_ptr<Kept> kept = std::move(idle.back());
        idle.pop_back();
        return kept;
      }
    }
    return std::make_unique<Kept>(-kind.second);
  }
  static void give_back(const Kind& kind, std::unique_ptr<Kept> kept) {
    const std::scoped_lock lock(pool().mutex);
    pool().idle[kind].push_back(std::move(kept));
  }

  cudaStream_t beside_;
  Kind kind_{};
  std::unique_ptr<Kept> kept_;
  bool is_joined_ = false;
};

}  // namespace hemstitch::cuda
