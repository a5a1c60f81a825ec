#include "device/cuda/occupancy.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "device/cuda/cuda_error.hpp"
#include "device/cuda/kernel_registry.hpp"

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
  std::vector<std::string> lines{fmt::format("{:<28} {:>7} {:>15} {:>17} {:>6} {:>9} {:>9}", "kernel",
                                             "threads", "registers", "shared bytes", "local", "blocks/SM",
                                             "occupancy")};
  for (const RegisteredKernel& kernel : registered_kernels()) {
    const KernelLimits& limits = kernel.budget->limits;
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel.function), kernel.name());
    if (limits.dynamic_shared_bytes > kUnaskedSharedBytes)
      check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(limits.dynamic_shared_bytes)),
            kernel.name());
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, kernel.function, static_cast<int>(limits.threads), limits.dynamic_shared_bytes),
          kernel.name());
    const double share = double(blocks) * limits.threads / threads_there;
    lines.push_back(fmt::format("{:<28} {:>7} {:>7} of {:>4} {:>7} of {:>6} {:>6} {:>9} {:>8.0f}%",
                                kernel.name(), limits.threads, attributes.numRegs, limits.registers,
                                attributes.sharedSizeBytes + limits.dynamic_shared_bytes, limits.shared_bytes,
                                attributes.localSizeBytes, blocks, 100 * share));
  }
  return lines;
}

}  // namespace hemstitch::cuda
