#include "gpu/cuda/kernel_registry.hpp"

#include <algorithm>

namespace hemstitch::cuda {
namespace {
// A function's own object: registrations run before main(), in no order that could be relied on.
std::vector<RegisteredKernel>& kernels() {
  static std::vector<RegisteredKernel> all;
  return all;
}
}  // namespace

void KernelRegistration::add(RegisteredKernel kernel) { kernels().push_back(kernel); }

std::vector<RegisteredKernel> registered_kernels() {
  std::vector<RegisteredKernel> sorted = kernels();
  std::sort(sorted.begin(), sorted.end(),
            [](const RegisteredKernel& a, const RegisteredKernel& b) { return a.name() < b.name(); });
  return sorted;
}

}  // namespace hemstitch::cuda
