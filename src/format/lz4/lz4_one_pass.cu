// Level 1 on pages and small blocks: a warp each (lz4_one_pass.cuh, with mapping, shared memory and cost).
#include "device/cuda/launch.hpp"
#include "format/lz4/lz4_one_pass.cuh"
#include "format/lz4/lz4_one_pass_cuda.hpp"

namespace hemstitch::cuda {
namespace {

template <class Text, unsigned kHashBits, unsigned kWarps>
__global__ void __launch_bounds__(kWarps * 32, (Text::kPage ? 24 : 12) / kWarps)
    compress_one_pass(DeviceBlocks blocks, DeviceLz4Output output) {
  extern __shared__ uint4 sh_memory[];
  auto& sh = reinterpret_cast<OnePassShared<Text, kHashBits>*>(sh_memory)[threadIdx.x / 32];
  const std::uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[index];
  using Pass = OnePass<Text, kHashBits>;
  Pass pass(sh, block.d_block, block.block_bytes, output.d_outputs[index], output.d_capacities[index],
            threadIdx.x % 32);
  const std::uint32_t bytes = pass.compress();
  if (threadIdx.x % 32 != 0) return;
  const bool fits = bytes != Pass::kDoesNotFit;
  output.d_output_bytes[index] = fits ? bytes : 0;
  output.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

consteval KernelBudget budget(std::string_view name, unsigned warps, std::uint32_t shared_bytes) {
  return {name,
          "compress_one_pass",
          {.threads = warps * 32,
           .dynamic_shared_bytes = warps * shared_bytes,
           .registers = 80,
           .shared_bytes = 64 * 1024}};
}

template <class Text, unsigned kHashBits, unsigned kWarps>
void run(const KernelBudget& kernel, const DeviceBlocks& blocks, const DeviceLz4Output& output,
         cudaStream_t stream) {
  const unsigned grid = (blocks.block_count + kWarps - 1) / kWarps;
  launch({.kernel = kernel, .grid = grid, .stream = stream, .batch = &blocks},
         compress_one_pass<Text, kHashBits, kWarps>, blocks, output);
}

constexpr unsigned kPageBits = hash_chain_fast_bits(kPageBytes);
constexpr unsigned kBlockBits = hash_chain_fast_bits(kOnePassBlockBytes);
static_assert(kHashChainFastCapBytes == kOnePassCapBytes);
constexpr auto kPageShared = static_cast<std::uint32_t>(sizeof(OnePassShared<SharedText, kPageBits>));
constexpr auto kBlockShared = static_cast<std::uint32_t>(sizeof(OnePassShared<GlobalText, kBlockBits>));
constexpr KernelBudget kPage4 = budget("lz4.compress_pages", 4, kPageShared);
constexpr KernelBudget kPage2 = budget("lz4.compress_pages", 2, kPageShared);
constexpr KernelBudget kPage1 = budget("lz4.compress_pages", 1, kPageShared);
constexpr KernelBudget kBlock1 = budget("lz4.compress_blocks", 1, kBlockShared);
constexpr KernelBudget kBlock2 = budget("lz4.compress_blocks", 2, kBlockShared);

}  // namespace

bool one_pass_takes(const DeviceBlocks& blocks, const Lz4Level& level) {
  const auto* chain = std::get_if<HashChainParameters>(&level.finder);
  if (blocks.max_block_bytes > kOnePassBlockBytes || blocks.max_history_bytes != 0 || chain == nullptr)
    return false;
  return chain->hash_bits == (blocks.max_block_bytes <= kPageBytes ? kPageBits : kBlockBits) &&
         chain->depth == 1 && chain->cap_bytes == kOnePassCapBytes &&
         chain->window_bytes >= kMaxRecordOffset && chain->stitch && level.parse == Lz4Parse::kLazy;
}

void compress_one_pass_cuda(const DeviceBlocks& blocks, const DeviceLz4Output& output, cudaStream_t stream,
                            int table) {
  if (blocks.max_block_bytes <= kPageBytes) {
    if (table == 0) run<SharedText, kPageBits, 4>(kPage4, blocks, output, stream);
    if (table == 1) run<SharedText, kPageBits, 1>(kPage1, blocks, output, stream);
    if (table == 2) run<SharedText, kPageBits, 2>(kPage2, blocks, output, stream);
    if (table == 3) run<GlobalText, kPageBits, 4>(kPage4, blocks, output, stream);
  } else {
    if (table == 0) run<GlobalText, kBlockBits, 1>(kBlock1, blocks, output, stream);
    if (table == 1) run<GlobalText, kBlockBits, 2>(kBlock2, blocks, output, stream);
    if (table == 2) run<GlobalText, 12, 1>(kBlock1, blocks, output, stream);
  }
}

}  // namespace hemstitch::cuda
