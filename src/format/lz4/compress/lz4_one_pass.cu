// Level 1 on pages, a warp each (lz4_one_pass_page.cuh, with mapping, shared memory, synchronisation and cost).
#include "format/lz4/compress/lz4_one_pass_cuda.hpp"
#include "format/lz4/compress/lz4_one_pass_page.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

using Page = PagePass<kHashPairsBits>;

__global__ void __launch_bounds__(kPageWarps * 32, kPageWarpsResident / kPageWarps)
    compress_small(DeviceBlocks pages, DeviceLz4Output output) {
  extern __shared__ uint4 sh_memory[];
  const unsigned warp = warp_number(), lane = threadIdx.x % 32;
  const std::uint32_t index = blockIdx.x * kPageWarps + warp;
  if (index >= pages.block_count) return;
  if (lane == 0) trace_mark(kTraceCompressPage, index);
  const DeviceBlock page = pages.d_blocks[index];
  Page pass(reinterpret_cast<Page::Shared*>(sh_memory)[warp], page.d_block, page.block_bytes, lane);
  const std::uint32_t bytes = pass.compress(output.d_outputs[index], output.d_capacities[index]);
  if (lane == 0) leave_result(output, index, bytes, bytes != Page::kDoesNotFit);
}

constexpr auto kPagesShared = static_cast<std::uint32_t>(kPageWarps * sizeof(Page::Shared));
constexpr KernelBudget kPagesBudget("lz4.compress_small", "compress_small",
                                    {.threads = kPageWarps * 32,
                                     .dynamic_shared_bytes = kPagesShared,
                                     .registers = 88,
                                     .shared_bytes = kPagesShared});
const KernelRegistration kPagesRegistration(kPagesBudget, compress_small);

}  // namespace

bool one_pass_takes_as_pages(const DeviceBlocks& blocks, const Lz4Level& level) {
  const auto* pairs = std::get_if<HashPairsParameters>(&level.finder);
  return blocks.max_block_bytes <= kPageBytes && blocks.max_history_bytes == 0 && pairs != nullptr &&
         pairs->hash_bits == kHashPairsBits && is_plain_lazy(level.parse);
}

bool is_plain_lazy(const Lz4Parse& parse) {
  const auto* lazy = std::get_if<LazyParse>(&parse);
  return lazy != nullptr && lazy->skip == 0;
}

void compress_pages_one_pass_cuda(const DeviceBlocks& blocks, const DeviceLz4Output& output,
                                  cudaStream_t stream) {
  launch({.kernel = kPagesBudget,
          .grid = (blocks.block_count + kPageWarps - 1) / kPageWarps,
          .stream = stream,
          .work = work_of(blocks)},
         compress_small, blocks, output);
}

}  // namespace hemstitch::cuda
