// XXH32 as its specification (xxhash.com, "XXH32 algorithm description") gives it.
//
// Mapping. Four lanes a span, eight spans a warp; a lane has one of the four accumulators and reads every fourth word. Words are
// read whole and shifted into place. In a span's first and last stripe, words may lie partly outside, so bytes are read one by one.
// The first lane takes the rest after the last stripe, at most 15 bytes.
//
// No shared memory, no synchronisation but shuffles among the four. Work: a multiplication chain of one step for every 16
// bytes. CPU twin: xxHash's XXH32().
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint32_t kPrime1 = 2654435761u, kPrime2 = 2246822519u, kPrime3 = 3266489917u,
                        kPrime4 = 668265263u, kPrime5 = 374761393u;
constexpr unsigned kThreads = 128, kLanes = 4;
constexpr std::uint32_t kStripeBytes = 16;

__device__ std::uint32_t rotated(std::uint32_t word, unsigned bits) {
  return __funnelshift_l(word, word, bits);
}

__device__ std::uint32_t round_of(std::uint32_t accumulator, std::uint32_t word) {
  return rotated(accumulator + word * kPrime2, 13) * kPrime1;
}

__device__ std::uint32_t word_by_bytes(const std::byte* bytes) {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
  return word;
}

__global__ void __launch_bounds__(kThreads)
    checksum_spans(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                   std::uint32_t* d_hashes) {
  const std::uint64_t index = (std::uint64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const unsigned part = threadIdx.x % kLanes;
  const unsigned others = 0xFu << (threadIdx.x % 32 / kLanes * kLanes);
  if (index >= count) return;  // all four lanes of a span
  if (part == 0) trace_mark(kTraceChecksumSpan, static_cast<std::uint32_t>(index));
  const std::byte* const span = d_spans[index];
  const std::size_t size = d_sizes[index];
  const std::size_t stripes = size / kStripeBytes;

  std::uint32_t hash = kPrime5;
  if (stripes != 0) {
    std::uint32_t accumulator = part == 0   ? kPrime1 + kPrime2
                                : part == 1 ? kPrime2
                                : part == 2 ? 0
                                            : 0 - kPrime1;
    const std::byte* const own = span + part * 4;
    accumulator = round_of(accumulator, word_by_bytes(own));
    const auto address = reinterpret_cast<std::uintptr_t>(own);
    const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    const auto shift = static_cast<unsigned>(address % 4 * 8);
    constexpr unsigned kBatch = 8;
    std::size_t stripe = 1;
    for (; stripe + kBatch < stripes; stripe += kBatch) {
      std::uint32_t loaded[kBatch];
#pragma unroll
      for (unsigned i = 0; i < kBatch; ++i) {
        const std::uint32_t* word = words + (stripe + i) * (kStripeBytes / 4);
        loaded[i] = __funnelshift_r(__ldg(word), __ldg(word + 1), shift);
      }
#pragma unroll
      for (unsigned i = 0; i < kBatch; ++i) accumulator = round_of(accumulator, loaded[i]);
    }
    for (; stripe < stripes; ++stripe)
      accumulator = round_of(accumulator, word_by_bytes(own + stripe * kStripeBytes));
    hash = rotated(accumulator, part == 0 ? 1 : part == 1 ? 7 : part == 2 ? 12 : 18);
    hash += __shfl_xor_sync(others, hash, 1);
    hash += __shfl_xor_sync(others, hash, 2);
  }
  if (part != 0) return;

  hash += static_cast<std::uint32_t>(size);
  std::size_t at = stripes * kStripeBytes;
  for (; at + 4 <= size; at += 4) hash = rotated(hash + word_by_bytes(span + at) * kPrime3, 17) * kPrime4;
  for (; at < size; ++at) hash = rotated(hash + static_cast<std::uint32_t>(span[at]) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 15) * kPrime2;
  hash = (hash ^ hash >> 13) * kPrime3;
  d_hashes[index] = hash ^ hash >> 16;
}

constexpr KernelBudget kChecksumBudget("lz4.checksum_spans", "checksum_spans",
                                       {.threads = kThreads, .registers = 48});
const KernelRegistration kChecksumRegistration(kChecksumBudget, checksum_spans);

}  // namespace

void checksum_lz4_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                       std::uint32_t* d_hashes, cudaStream_t stream) {
  constexpr std::uint64_t kSpans = kThreads / kLanes;
  launch({.kernel = kChecksumBudget,
          .grid = static_cast<unsigned>((count + kSpans - 1) / kSpans),
          .stream = stream},
         checksum_spans, d_spans, d_sizes, count, d_hashes);
}

}  // namespace hemstitch::cuda
