#include "format/zstd/frame/zstd_checksum_cuda.hpp"
#include "format/zstd/restore/zstd_hash.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 128, kSpans = kThreads / kZstdHashLanes;

// Mapping: four lanes a span, eight spans a warp. No shared memory, no synchronisation but shuffles among the four. Work: a chain of a
// multiplication for every 32 bytes. CPU twin: xxHash's XXH64().
__global__ void __launch_bounds__(kThreads)
    hash_zstd_spans(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                    std::uint32_t* d_hashes) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kSpans + threadIdx.x / kZstdHashLanes;
  const unsigned part = threadIdx.x % kZstdHashLanes;
  if (index >= count) return;  // all four lanes of a span
  if (part == 0) trace_mark(kTraceChecksumSpan, static_cast<std::uint32_t>(index));
  const unsigned lanes = 0xFu << (threadIdx.x % 32 / kZstdHashLanes * kZstdHashLanes);
  const std::uint32_t hash =
      zstd_content_hash(reinterpret_cast<const std::uint8_t*>(d_spans[index]), d_sizes[index], part, lanes);
  if (part == 0) d_hashes[index] = hash;
}

constexpr KernelBudget kHashBudget("zstd.hash_spans", "hash_zstd_spans",
                                   {.threads = kThreads, .registers = 64});
const KernelRegistration kHashRegistration(kHashBudget, hash_zstd_spans);

}  // namespace

void checksum_zstd_cuda(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                        std::uint32_t* d_hashes, cudaStream_t stream) {
  launch(
      {.kernel = kHashBudget, .grid = static_cast<unsigned>((count + kSpans - 1) / kSpans), .stream = stream},
      hash_zstd_spans, d_spans, d_sizes, count, d_hashes);
}

}  // namespace hemstitch::cuda
