#include "gpu/cuda/device.hpp"

#include <cuda_runtime.h>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {

Device::Device(DeviceFacts facts, const Limits& limits)
    : facts_(std::move(facts)), memory_(facts_.index, limits.memory_bytes), pinned_(limits.pinned_bytes) {
#ifdef HEMSTITCH_KERNEL_TRACE
  constexpr std::uint32_t kTraceSlots = 1 << 16;
  trace_ = std::make_unique<KernelTrace>(facts_.index, kTraceSlots);
#endif
}

void Device::make_current() const { check(cudaSetDevice(facts_.index), "cudaSetDevice"); }

}  // namespace hemstitch::cuda
