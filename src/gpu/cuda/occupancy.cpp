#include "gpu/cuda/occupancy.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"

namespace hemstitch::cuda {
namespace {

int current_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

std::vector<std::string> occupancy_report() {
  const int threads_there = current_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  const auto shared_there =
      static_cast<std::size_t>(current_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  std::vector<std::string> lines{fmt::format("{:<28} {:>7} {:>15} {:>17} {:>6} {:>9} {:>9}", "kernel",
                                             "threads", "registers", "shared bytes", "local", "blocks/SM",
                                             "occupancy")};
  for (const RegisteredKernel& kernel : registered_kernels()) {
    const KernelLimits& limits = kernel.budget->limits;
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel.function), kernel.name());
    // If the device has less shared memory, kernels that can work with less are launched with what there is.
    const std::size_t dynamic_bytes =
        std::min<std::size_t>(limits.dynamic_shared_bytes, shared_there - attributes.sharedSizeBytes);
    if (dynamic_bytes > kUnaskedSharedBytes)
      check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(dynamic_bytes)),
            kernel.name());
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function,
                                                        static_cast<int>(limits.threads), dynamic_bytes),
          kernel.name());
    const double share = double(blocks) * limits.threads / threads_there;
    lines.push_back(fmt::format("{:<28} {:>7} {:>7} of {:>4} {:>7} of {:>6} {:>6} {:>9} {:>8.0f}%",
                                kernel.name(), limits.threads, attributes.numRegs, limits.registers,
                                attributes.sharedSizeBytes + dynamic_bytes, limits.shared_bytes,
                                attributes.localSizeBytes, blocks, 100 * share));
  }
  return lines;
}

}  // namespace hemstitch::cuda
