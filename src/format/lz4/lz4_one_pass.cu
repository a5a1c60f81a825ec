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

constexpr unsigned kPageHashBits = hash_chain_fast_bits(kPageBytes);
constexpr unsigned kBlockHashBits = hash_chain_fast_bits(kOnePassBlockBytes);
static_assert(kHashChainFastCapBytes == kOnePassCapBytes);

// All instances in one budget: `warps` warps, each with `warp_shared_bytes`.
consteval KernelBudget budget(std::string_view name, unsigned warps, std::size_t warp_shared_bytes) {
  const auto shared_bytes = static_cast<std::uint32_t>(warps * warp_shared_bytes);
  return {name,
          "compress_one_pass",
          {.threads = warps * 32,
           .dynamic_shared_bytes = shared_bytes,
           .registers = 80,
           .shared_bytes = shared_bytes}};
}
constexpr KernelBudget kPagesBudget =
    budget("lz4.compress_pages", kPageWarps, sizeof(OnePassShared<SharedText, kPageHashBits>));
constexpr KernelBudget kBlocksBudget =
    budget("lz4.compress_blocks", kBlockWarps, sizeof(OnePassShared<GlobalText, kBlockHashBits>));
const KernelRegistration kPagesRegistration(kPagesBudget,
                                            compress_one_pass<SharedText, kPageHashBits, kPageWarps>);
const KernelRegistration kBlocksRegistration(kBlocksBudget,
                                             compress_one_pass<GlobalText, kBlockHashBits, kBlockWarps>);

template <class Text, unsigned kHashBits, unsigned kWarps>
void run(const KernelBudget& kernel, const DeviceBlocks& blocks, const DeviceLz4Output& output,
         cudaStream_t stream) {
  const unsigned grid = (blocks.block_count + kWarps - 1) / kWarps;
  launch({.kernel = kernel, .grid = grid, .stream = stream, .batch = &blocks},
         compress_one_pass<Text, kHashBits, kWarps>, blocks, output);
}

bool is_for_pages(const DeviceBlocks& blocks, unsigned hash_bits) {
  return blocks.max_block_bytes <= kPageBytes && hash_bits == kPageHashBits;
}

}  // namespace

bool one_pass_takes(const DeviceBlocks& blocks, const Lz4Level& level) {
  const auto* chain = std::get_if<HashChainParameters>(&level.finder);
  if (blocks.max_block_bytes > kOnePassBlockBytes || blocks.max_history_bytes != 0 || chain == nullptr)
    return false;
  return (is_for_pages(blocks, chain->hash_bits) || chain->hash_bits == kBlockHashBits) &&
         chain->depth == 1 && chain->cap_bytes == kOnePassCapBytes &&
         chain->window_bytes == kMaxRecordOffset && chain->stitch &&
         chain->stitch_reach == kHashChainFastStitchReach && level.parse == Lz4Parse::kLazy;
}

bool one_pass_takes_as_pages(const DeviceBlocks& blocks, const Lz4Level& level) {
  return one_pass_takes(blocks, level) &&
         is_for_pages(blocks, std::get<HashChainParameters>(level.finder).hash_bits);
}

void compress_one_pass_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                            cudaStream_t stream) {
  if (one_pass_takes_as_pages(blocks, level))
    run<SharedText, kPageHashBits, kPageWarps>(kPagesBudget, blocks, output, stream);
  else
    run<GlobalText, kBlockHashBits, kBlockWarps>(kBlocksBudget, blocks, output, stream);
}

}  // namespace hemstitch::cuda
