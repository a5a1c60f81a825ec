#include "gpu/cuda/device.hpp"

#include <cuda_runtime.h>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {

Device::Device(DeviceFacts facts, std::shared_ptr<PinnedPool> pinned)
    : Device(std::move(facts), Limits().memory_bytes, std::move(pinned)) {}

Device::Device(DeviceFacts facts, const Limits& limits)
    : Device(std::move(facts), limits.memory_bytes, std::make_shared<PinnedPool>(limits.pinned_bytes)) {}

Device::Device(DeviceFacts facts, std::size_t most_memory_bytes, std::shared_ptr<PinnedPool> pinned)
    : facts_(std::move(facts)), memory_(facts_.index, most_memory_bytes), pinned_(std::move(pinned)) {
#ifdef HEMSTITCH_KERNEL_TRACE
  constexpr std::uint32_t kTraceSlots = 1 << 16;
  trace_ = std::make_unique<KernelTrace>(facts_.index, kTraceSlots);
#endif
}

void Device::make_current() const { check(cudaSetDevice(facts_.index), "cudaSetDevice"); }

}  // namespace hemstitch::cuda
