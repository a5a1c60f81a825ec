#include "gpu/cuda/kernel_registry.hpp"

#include <algorithm>

namespace hemstitch::cuda {
namespace {
// Defined in a function, since registrations run before main() in no reliable order.
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
