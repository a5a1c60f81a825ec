// What happens when a value loaded from shared memory, or an address computed from one, is stored through, with 32-bit
// accesses at aligned and at unaligned addresses.
//
// Founding document 004 (docs/founding.md) took error 716 in such kernels for a fault of the compiler or driver: "a store of
// a loaded value crashes". Here is each of its patterns, run as it was described. What decides is the address alone:
// an access of n bytes must be at a multiple of n. The observed outcome of each is printed as a table and kept as a
// property of the test, so that a report of a run holds it.
//
// A misaligned access ends the context, so every pattern runs in a process of its own.
#include <cstdint>
#include <cstdio>
#include <string>

#include "device/cuda_child.hpp"
#include "device/cuda_test.hpp"
#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch {
namespace {

constexpr unsigned kPageBytes = 256;  // power of two: addresses are masked into it

enum Pattern : int {
  kLoadOnly,               // load from shared memory
  kReadComputedAddress,    // load, compute an address from the value, read there
  kStoreConstantComputed,  // load, compute an address, store a constant to it in shared memory
  kStoreLoadedShared,      // load, store the value elsewhere in shared memory
  kStoreLoadedGlobal,      // load, store the value to global memory
  kStoreLoadedComputed,    // load, compute an address, store the value to it in shared memory
  kStoreShuffledGlobal,    // load, shuffle to another lane, store to global memory
  kStoreLoadedGeneric,     // load and store through generic addresses of shared memory
  kStoreConstantNoLoad,    // store a constant
  kPatternCount
};

constexpr const char* kNames[kPatternCount] = {
    "load only",
    "load, read at computed address",
    "load, store constant at computed address",
    "load, store value to shared memory",
    "load, store value to global memory",
    "load, store value at computed address",
    "load, shuffle, store to global memory",
    "load and store through generic addresses",
    "store constant, no load",
};

// As the pattern's 32-bit accesses are meant: volatile, so that each is one instruction and none is left out.
__device__ volatile std::uint32_t& word_at(std::byte* address) {
  return *reinterpret_cast<volatile std::uint32_t*>(address);
}

// A hash of a loaded value, as the address of a table slot in the page: aligned.
__host__ __device__ constexpr unsigned computed_place(std::uint32_t value) {
  return ((value * 2654435761u) >> 26) * 4 % (kPageBytes - 16);
}

// `skew` is 0 (all word accesses aligned) or 1..3: of the load where nothing else is done, else of the access that
// follows an aligned load. d_result has room for skewed stores. Without a skew, what was stored is read back.
__global__ void run_pattern(int pattern, unsigned skew, std::byte* d_result, std::uint32_t* d_value) {
  __shared__ alignas(16) std::byte sh_page[kPageBytes + 16];
  for (unsigned i = threadIdx.x; i < kPageBytes; i += blockDim.x) sh_page[i] = std::byte(i * 7 + 3);
  __syncthreads();

  std::byte* source = sh_page + 16 + (pattern == kLoadOnly ? skew : 0);
  const bool loads = pattern != kStoreConstantNoLoad;
  std::uint32_t value = 12345;
  if (pattern == kStoreLoadedGeneric) {
    // An address that the compiler cannot know to be shared memory's.
    std::byte* generic = source;
    asm volatile("" : "+l"(generic));
    value = word_at(generic);
    __syncwarp();
    word_at(generic + 64 + skew) = value;
    value = word_at(generic + 64 + skew);
  } else if (loads) {
    value = word_at(source);
  }
  const unsigned computed = computed_place(value) + skew;
  __syncwarp();
  std::byte* stored = nullptr;
  switch (pattern) {
    case kReadComputedAddress:
      value = word_at(sh_page + computed);
      break;
    case kStoreConstantComputed:
      word_at(stored = sh_page + computed) = 12345;
      break;
    case kStoreLoadedShared:
      word_at(stored = sh_page + 128 + skew) = value;
      break;
    case kStoreLoadedGlobal:
      word_at(stored = d_result + skew) = value;
      break;
    case kStoreLoadedComputed:
      word_at(stored = sh_page + computed) = value;
      break;
    case kStoreShuffledGlobal:
      word_at(stored = d_result + skew) = __shfl_xor_sync(~0u, value, 1);
      break;
    case kStoreConstantNoLoad:
      word_at(stored = d_result + skew) = value;
      break;
    default:
      break;
  }
  __syncwarp();
  if (stored != nullptr && skew == 0) value = word_at(stored);
  if (threadIdx.x == 0) *d_value = value;
}

// The value that the four bytes at page position 16 make, little-endian.
constexpr std::uint32_t expected_word(unsigned position) {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; i++) word |= std::uint32_t((position + i) * 7 + 3 & 0xff) << (8 * i);
  return word;
}

// What an aligned pattern leaves as its value. Before its store, something else stands there.
constexpr std::uint32_t expected_value(int pattern) {
  if (pattern == kStoreConstantNoLoad || pattern == kStoreConstantComputed) return 12345;
  return expected_word(pattern == kReadComputedAddress ? computed_place(expected_word(16)) : 16);
}
static_assert(expected_word(computed_place(expected_word(16))) != expected_word(16));
static_assert(expected_word(128) != expected_word(16));

std::string child_case(const std::string& name) {
  int pattern = 0;
  unsigned skew = 0;
  if (std::sscanf(name.c_str(), "%d,%u", &pattern, &skew) != 2) return "not a case: " + name;
  std::byte* d_result = nullptr;
  std::uint32_t* d_value = nullptr;
  cuda::check(cudaMalloc(&d_result, 64), "cudaMalloc");
  cuda::check(cudaMalloc(&d_value, sizeof(std::uint32_t)), "cudaMalloc");
  cuda::check(cudaMemset(d_result, 0, 64), "cudaMemset");
  run_pattern<<<1, 32>>>(pattern, skew, d_result, d_value);
  cuda::check(cudaGetLastError(), "run_pattern");
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return std::string(cudaGetErrorName(error)) + " " + std::to_string(error);
  std::uint32_t value = 0;
  cuda::check(cudaMemcpy(&value, d_value, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return "value " + std::to_string(value);
}

class LoadThenStoreTest : public CudaTest, public testing::WithParamInterface<int> {
 protected:
  std::string observe(unsigned skew) {
    const std::string outcome = run_child(std::to_string(GetParam()) + "," + std::to_string(skew));
    std::printf("%-42s | skew %u | %s\n", kNames[GetParam()], skew, outcome.c_str());
    RecordProperty("skew" + std::to_string(skew), outcome);
    return outcome;
  }
};

TEST_P(LoadThenStoreTest, AlignedWordsAlwaysWork) {
  EXPECT_EQ(observe(0), "value " + std::to_string(expected_value(GetParam())));
}

TEST_P(LoadThenStoreTest, UnalignedWordsAreError716) {
  for (const unsigned skew : {1u, 2u, 3u}) EXPECT_EQ(observe(skew), "cudaErrorMisalignedAddress 716");
}

INSTANTIATE_TEST_SUITE_P(Patterns, LoadThenStoreTest, testing::Range(0, int{kPatternCount}));

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) { return hemstitch::cuda_child_main(argc, argv, hemstitch::child_case); }
