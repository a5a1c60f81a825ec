// A CUDA device as an object: what it is, its memory, pinned memory of the host for what goes up and comes down, and what those who
// work on it keep there from run to run. A machine has as many as it has; who works on one is given it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <typeindex>

#include "gpu/cuda/device_choice.hpp"
#include "gpu/cuda/device_pool.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/pinned_pool.hpp"

namespace hemstitch::cuda {

// Any thread may use it. Outlives what was made on it.
class Device {
 public:
  // What may be in use at once: tests bound it, so that they run out.
  struct Limits {
    std::size_t memory_bytes = DevicePool::kNoLimit;
    std::size_t pinned_bytes = PinnedPool::kNoLimit;
  };

  // `pinned` is what devices that work together share: it serves all of them.
  Device(DeviceFacts facts, std::shared_ptr<PinnedPool> pinned);
  Device(DeviceFacts facts, const Limits& limits);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  DevicePool& memory() { return memory_; }
  PinnedPool& pinned() { return *pinned_; }

  // CUDA's calls are about the calling thread's current device. So each thread that works on this one says so first.
  void make_current() const;

  // The device's one T, made by T(Device&) when it is first asked for and kept as long as the device: what is dear to make and
  // serves run after run.
  template <class T>
  T& kept() {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<void>& place = kept_[typeid(T)];
    if (!place) place = std::make_shared<T>(*this);
    return *static_cast<T*>(place.get());
  }

 private:
  Device(DeviceFacts facts, std::size_t most_memory_bytes, std::shared_ptr<PinnedPool> pinned);

  DeviceFacts facts_;
  DevicePool memory_;
  std::shared_ptr<PinnedPool> pinned_;
  std::unique_ptr<KernelTrace> trace_;  // where kernels mark (HEMSTITCH_KERNEL_TRACE)
  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;  // goes before the pools that its memory is from
};

}  // namespace hemstitch::cuda
