// In place of src/gpu/cuda/kernel_registry.hpp, for kernels that are compiled for the processor (emulated_cuda.hpp): a kernel's budget says how it is
// launched, and nobody reads the list of kernels.
#pragma once

#include <cstdint>
#include <string_view>

namespace hemstitch::cuda {

struct KernelLimits {
  std::uint32_t threads = 0, dynamic_shared_bytes = 0, registers = 0, shared_bytes = 0;
};

struct KernelBudget {
  constexpr KernelBudget(std::string_view, std::string_view, KernelLimits kernel_limits)
      : limits(kernel_limits) {}

  KernelLimits limits;
};

struct KernelRegistration {
  template <class Function>
  KernelRegistration(const KernelBudget&, Function*) {}
};

}  // namespace hemstitch::cuda
