// Kernels for kernel_lint_test.py: some without fault, however much like one they look, and each fault planted once.
// Compiled with one of: nothing (no fault), -DONE_ERROR, -DTHREE_ERRORS, -DALL_FAULTS.
#include <cstdint>

#include "gpu/cuda/kernel_registry.hpp"

namespace hemstitch {
namespace {

using cuda::KernelBudget;
using cuda::KernelRegistration;
constexpr std::uint32_t kThreads = 128;

#define REGISTER(kernel, registers_budget, shared_budget)                                   \
  constexpr KernelBudget kernel##_budget(                                                   \
      "tests." #kernel, #kernel,                                                            \
      {.threads = kThreads, .registers = registers_budget, .shared_bytes = shared_budget}); \
  const KernelRegistration kernel##_registration(kernel##_budget, kernel)

// Barriers that all threads reach: the branches before them depend on the block, on parameters, on what one address
// holds, or on votes in which all warps ask the same.
__global__ void uniform_barriers(std::uint32_t* d_words, const std::uint32_t* d_counts, std::uint32_t size) {
  __shared__ std::uint32_t sh_words[kThreads];
  if (blockIdx.x >= size) return;
  sh_words[threadIdx.x] = d_words[threadIdx.x];
  __syncthreads();
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < d_counts[blockIdx.x]; i++) {
    sum += sh_words[(threadIdx.x + i) % kThreads];
    __syncthreads();
  }
  if (__ballot_sync(~0u, d_counts[threadIdx.x % 32] > size) != 0) __syncthreads();
  if (threadIdx.x < size) sh_words[threadIdx.x] = sum;
  if (__syncthreads_or(sum == size)) __syncthreads();
  d_words[threadIdx.x] = sh_words[(threadIdx.x + 1) % kThreads];
}
REGISTER(uniform_barriers, 64, sizeof(std::uint32_t) * kThreads);

// An array whose indices are constants stays in registers.
__global__ void array_in_registers(std::uint32_t* d_words) {
  std::uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; i++) words[i] = d_words[i * kThreads + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 4; i++) d_words[i * kThreads + threadIdx.x] = words[3 - i];
}
REGISTER(array_in_registers, 32, 0);

// 16 bytes at a multiple of 16 in shared memory, and a pointer that may be generic but is not shared memory's.
__global__ void proved_accesses(uint4* d_wide, std::uint32_t* d_words) {
  __shared__ alignas(16) uint4 sh_wide[kThreads];
  asm volatile("" : "+l"(d_words));
  sh_wide[threadIdx.x] = make_uint4(*d_words, 2, 3, 4);
  __syncthreads();
  d_words[threadIdx.x] = sh_wide[kThreads - 1 - threadIdx.x].x;
}
REGISTER(proved_accesses, 32, 16 * kThreads);

// Each thread chooses between shared and device memory, which only a generic address can say.
__global__ void either_memory(std::uint32_t* d_words, std::uint32_t least) {
  __shared__ std::uint32_t sh_words[kThreads];
  sh_words[threadIdx.x] = d_words[threadIdx.x];
  __syncthreads();
  const std::uint32_t* words = threadIdx.x >= least ? sh_words : d_words + kThreads;
  d_words[threadIdx.x] = words[threadIdx.x ^ 1] + words[threadIdx.x ^ 2];
}
REGISTER(either_memory, 32, sizeof(std::uint32_t) * kThreads);

// One register, as compilers use it: alike in all threads where the barrier asks for it, then each thread's own.
__global__ void reused_register(std::uint32_t* d_words) {
  asm volatile(
      "{\n"
      ".reg .u32 %%value;\n"
      ".reg .pred %%alone;\n"
      "mov.u32 %%value, %%nctaid.x;\n"
      "setp.eq.u32 %%alone, %%value, 1;\n"
      "@%%alone bar.sync 0;\n"
      "mov.u32 %%value, %%tid.x;\n"
      "st.global.u32 [%0], %%value;\n"
      "}" ::"l"(d_words + threadIdx.x)
      : "memory");
}
REGISTER(reused_register, 32, 0);

// Instantiations with budgets of their own: the one of the wide one would hold both.
template <unsigned kWords>
__global__ void turned(std::uint32_t* d_words) {
  __shared__ std::uint32_t sh_words[kWords];
  sh_words[threadIdx.x] = d_words[threadIdx.x];
  __syncthreads();
  d_words[threadIdx.x] = sh_words[kThreads - 1 - threadIdx.x];
}
constexpr KernelBudget kTurnedWideBudget("tests.turned_wide", "turned<256>",
                                         {.threads = kThreads, .registers = 32, .shared_bytes = 1024});
#ifdef ALL_FAULTS
constexpr std::uint32_t kTurnedBytes = 256;
#else
constexpr std::uint32_t kTurnedBytes = 512;
#endif
constexpr KernelBudget kTurnedBudget("tests.turned", "turned<128>",
                                     {.threads = kThreads, .registers = 32, .shared_bytes = kTurnedBytes});
const KernelRegistration kTurnedWideRegistration(kTurnedWideBudget, turned<256>);
const KernelRegistration kTurnedRegistration(kTurnedBudget, turned<128>);

#ifdef ALL_FAULTS

__global__ void barrier_of_some(std::uint32_t* d_words) {
  __shared__ std::uint32_t sh_words[kThreads];
  sh_words[threadIdx.x] = d_words[threadIdx.x];
  if (d_words[threadIdx.x] != 0) __syncthreads();  // FAULT divergent-barrier
  d_words[threadIdx.x] = sh_words[threadIdx.x ^ 1];
}
REGISTER(barrier_of_some, 32, sizeof(std::uint32_t) * kThreads);

// The count of turns differs, so the barrier after the loop is one of some too: its condition is what is left of it.
__global__ void barrier_after_loop(std::uint32_t* d_words) {
  std::uint32_t turns = 0;
  for (std::uint32_t word = d_words[threadIdx.x]; word > 1; word = word % 2 ? 3 * word + 1 : word / 2)
    turns++;
  if (turns == gridDim.x) __syncthreads();  // FAULT divergent-barrier
  d_words[threadIdx.x] = turns;
}
REGISTER(barrier_after_loop, 32, 0);

__global__ void generic_shared(std::uint32_t* d_words) {
  __shared__ std::uint32_t sh_words[kThreads];
  std::uint32_t* words = sh_words;
  asm volatile("" : "+l"(words));
  words[threadIdx.x] = d_words[threadIdx.x];
  __syncthreads();
  d_words[threadIdx.x] = sh_words[threadIdx.x ^ 1];
}
REGISTER(generic_shared, 32, sizeof(std::uint32_t) * kThreads);

constexpr KernelBudget kAbsentBudget("tests.absent", "absent", {.threads = 32, .registers = 32});
const KernelRegistration kAbsentRegistration(kAbsentBudget, array_in_registers);

__global__ void unproved_access(const std::byte* d_bytes, uint4* d_wide, std::uint32_t at) {
  *d_wide = *reinterpret_cast<const uint4*>(d_bytes + at);
}
REGISTER(unproved_access, 32, 0);

#endif
#if defined(ALL_FAULTS) || defined(THREE_ERRORS)

// More values at once than 24 registers hold.
__global__ void __launch_bounds__(1024, 2) spilling(std::uint32_t* d_words) {
  std::uint32_t words[48];
#pragma unroll
  for (int i = 0; i < 48; i++)
    words[i] = reinterpret_cast<volatile std::uint32_t*>(d_words)[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 48; i++)
    reinterpret_cast<volatile std::uint32_t*>(d_words)[i * 1024 + threadIdx.x] =
        words[i] + words[(i * 7 + 5) % 48];
}
REGISTER(spilling, 32, 0);

__global__ void local_array(std::uint32_t* d_words, std::uint32_t count) {
  std::uint32_t counts[64] = {};
  for (std::uint32_t i = 0; i < count; i++) counts[d_words[i * kThreads + threadIdx.x] % 64]++;
  for (std::uint32_t i = 0; i < 64; i++) d_words[i * kThreads + threadIdx.x] = counts[i];
}
REGISTER(local_array, 64, 0);

#endif
#if defined(ALL_FAULTS) || defined(THREE_ERRORS) || defined(ONE_ERROR)

__global__ void without_budget(std::uint32_t* d_words) { d_words[threadIdx.x]++; }
[[maybe_unused]] void launch_without_budget() { without_budget<<<1, 32>>>(nullptr); }

#endif
#ifdef ALL_FAULTS

__global__ void too_many_registers(std::uint32_t* d_words) {
  std::uint32_t words[24];
#pragma unroll
  for (int i = 0; i < 24; i++) words[i] = reinterpret_cast<volatile std::uint32_t*>(d_words)[i];
#pragma unroll
  for (int i = 0; i < 24; i++) d_words[i * kThreads + threadIdx.x] = words[23 - i];
}
REGISTER(too_many_registers, 16, 0);

__global__ void too_much_shared(std::uint32_t* d_words) {
  __shared__ std::uint32_t sh_words[2 * kThreads];
  sh_words[threadIdx.x] = d_words[threadIdx.x];
  __syncthreads();
  d_words[threadIdx.x] = sh_words[threadIdx.x ^ 1];
}
REGISTER(too_much_shared, 32, sizeof(std::uint32_t) * kThreads);

#endif

}  // namespace
}  // namespace hemstitch

// Not ours, so not judged.
__global__ void of_a_library(std::uint32_t* d_words) {
  if (d_words[threadIdx.x] != 0) __syncthreads();
}
