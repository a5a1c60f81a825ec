// The kernels of this build, each with the registers and shared memory it may take.
//
// A kernel is registered beside its definition, at namespace scope of its .cu file:
//
//   __global__ void __launch_bounds__(kBuildThreads) build_chains(...) { ... }
//   constexpr KernelBudget kBuildBudget("hash_chain.build", "build_chains",
//                                       {.threads = kBuildThreads, .dynamic_shared_bytes = kHeadTableBytes,
//                                        .registers = 64, .shared_bytes = 48 * 1024});
//   const KernelRegistration kBuildRegistration(kBuildBudget, build_chains);
//
// Who reads it: the occupancy report (`hemstitch backends -vv`), and tools/kernel-lint, which finds the budgets in the
// compiled objects by their first eight bytes and holds the compiler's resource report against them. The numbers may
// therefore be any constant expression; nothing has to be typed twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hemstitch::cuda {

// More than this much dynamic shared memory a block must be asked for (cudaFuncSetAttribute).
inline constexpr std::uint32_t kUnaskedSharedBytes = 48 * 1024;

struct KernelLimits {
  std::uint32_t threads = 0;               // a block, as launched
  std::uint32_t dynamic_shared_bytes = 0;  // a block, as launched; the most where it varies
  std::uint32_t registers = 0;             // budget of a thread
  std::uint32_t shared_bytes = 0;          // budget of a block: static and dynamic together
};

// Laid out for tools/kernel-lint: magic, name, entry, limits, no padding.
struct KernelBudget {
  // `name` is what reports and errors call it ("hash_chain.build"), `entry` the function's unqualified name. All
  // instantiations of a template share one budget, but for those that an entry names: "build_chains<4>".
  consteval KernelBudget(std::string_view kernel_name, std::string_view entry_name,
                         KernelLimits kernel_limits)
      : limits(kernel_limits) {
    copy(kernel_name, name);
    copy(entry_name, entry);
  }

  std::array<char, 8> magic{'H', 'S', 'K', 'E', 'R', 'N', '0', '1'};
  std::array<char, 56> name{};   // ends with a zero byte
  std::array<char, 64> entry{};  // ends with a zero byte
  KernelLimits limits;

 private:
  template <std::size_t kSize>
  static consteval void copy(std::string_view from, std::array<char, kSize>& into) {
    if (from.empty() || from.size() >= kSize) throw "a kernel's name is empty or too long";
    for (std::size_t i = 0; i < from.size(); i++) into[i] = from[i];
  }
};
static_assert(sizeof(KernelBudget) == 8 + 56 + 64 + 16, "tools/kernel-lint reads this layout");

struct RegisteredKernel {
  const KernelBudget* budget;
  const void* function;  // as cudaFuncGetAttributes takes it

  std::string_view name() const { return budget->name.data(); }
};

// In the order of their names. Complete once main() runs.
std::vector<RegisteredKernel> registered_kernels();

class KernelRegistration {
 public:
  template <class Function>
  KernelRegistration(const KernelBudget& budget, Function* kernel) {
    add({&budget, reinterpret_cast<const void*>(kernel)});
  }

 private:
  static void add(RegisteredKernel kernel);
};

}  // namespace hemstitch::cuda
