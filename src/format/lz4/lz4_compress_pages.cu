// Level 1 on pages: a warp a page (lz4_compress_page.cuh, with mapping, shared memory and cost).
#include "device/cuda/launch.hpp"
#include "format/lz4/lz4_compress_page.cuh"
#include "format/lz4/lz4_compress_pages.hpp"

namespace hemstitch::cuda {
namespace {

template <class Table>
__global__ void __launch_bounds__(kPageWarps * 32)
    compress_pages(DeviceBlocks pages, DeviceLz4Output output) {
  extern __shared__ uint4 sh_memory[];
  auto& sh = reinterpret_cast<PageShared<Table>*>(sh_memory)[threadIdx.x / 32];
  const std::uint32_t index = blockIdx.x * kPageWarps + threadIdx.x / 32;
  if (index >= pages.block_count) return;
  const DeviceBlock page = pages.d_blocks[index];
  PageCompressor<Table> compressor(sh, page.d_block, page.block_bytes, output.d_outputs[index],
                                   output.d_capacities[index], threadIdx.x % 32);
  const std::uint32_t bytes = compressor.compress();
  if (threadIdx.x % 32 != 0) return;
  const bool fits = bytes != PageCompressor<Table>::kDoesNotFit;
  output.d_output_bytes[index] = fits ? bytes : 0;
  output.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

template <class Table>
constexpr KernelLimits kLimits{.threads = kPageWarps * 32,
                               .dynamic_shared_bytes = kPageWarps * sizeof(PageShared<Table>),
                               .registers = 80,
                               .shared_bytes = 64 * 1024};
constexpr KernelBudget kMaxBudget("lz4.compress_pages", "compress_pages", kLimits<MaxTable>);
constexpr KernelBudget kMatchBudget("lz4.compress_pages_match", "compress_pages", kLimits<MatchTable>);
constexpr KernelBudget kRetryBudget("lz4.compress_pages_retry", "compress_pages", kLimits<RetryTable>);

}  // namespace

bool compresses_as_pages(const DeviceBlocks& blocks, const Lz4Level& level) {
  const auto* step = std::get_if<HashStepParameters>(&level.finder);
  return blocks.max_block_bytes <= kPageBytes && blocks.max_history_bytes == 0 && step != nullptr &&
         step->hash_bits == kPageHashBits && step->group_positions == 32 &&
         step->cap_bytes == kPageCapBytes && step->stitch && level.parse == Lz4Parse::kLazy;
}

void compress_lz4_as_pages_cuda(const DeviceBlocks& pages, const DeviceLz4Output& output, cudaStream_t stream,
                                int table) {
  const unsigned grid = (pages.block_count + kPageWarps - 1) / kPageWarps;
  if (table == 0)
    launch({.kernel = kMaxBudget, .grid = grid, .stream = stream, .batch = &pages}, compress_pages<MaxTable>,
           pages, output);
  else if (table == 1)
    launch({.kernel = kMatchBudget, .grid = grid, .stream = stream, .batch = &pages},
           compress_pages<MatchTable>, pages, output);
  else
    launch({.kernel = kRetryBudget, .grid = grid, .stream = stream, .batch = &pages},
           compress_pages<RetryTable>, pages, output);
}

}  // namespace hemstitch::cuda
