// Level 1 on pages and small blocks: a warp each (lz4_one_pass.cuh, with mapping, shared memory and cost).
#include "device/cuda/launch.hpp"
#include "format/lz4/lz4_compress_pages.hpp"
#include "format/lz4/lz4_one_pass.cuh"

namespace hemstitch::cuda {
namespace {

template <class Text, class Table, unsigned kWarps>
__global__ void __launch_bounds__(kWarps * 32) compress_one_pass(DeviceBlocks blocks, DeviceLz4Output output) {
  extern __shared__ uint4 sh_memory[];
  auto& sh = reinterpret_cast<OnePassShared<Text, Table>*>(sh_memory)[threadIdx.x / 32];
  const std::uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[index];
  OnePass<Text, Table> pass(sh, block.d_block, block.block_bytes, output.d_outputs[index],
                            output.d_capacities[index], threadIdx.x % 32);
  const std::uint32_t bytes = pass.compress();
  if (threadIdx.x % 32 != 0) return;
  const bool fits = bytes != OnePass<Text, Table>::kDoesNotFit;
  output.d_output_bytes[index] = fits ? bytes : 0;
  output.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

template <class Text, class Table, unsigned kWarps>
constexpr KernelLimits kLimits{.threads = kWarps * 32,
                               .dynamic_shared_bytes = kWarps * sizeof(OnePassShared<Text, Table>),
                               .registers = 80,
                               .shared_bytes = 64 * 1024};
template <class Text, class Table, unsigned kWarps>
constexpr KernelBudget kBudget("lz4.compress_one_pass", "compress_one_pass", kLimits<Text, Table, kWarps>);

template <class Text, class Table, unsigned kWarps>
void run(const DeviceBlocks& blocks, const DeviceLz4Output& output, cudaStream_t stream) {
  const unsigned grid = (blocks.block_count + kWarps - 1) / kWarps;
  launch({.kernel = kBudget<Text, Table, kWarps>, .grid = grid, .stream = stream, .batch = &blocks},
         compress_one_pass<Text, Table, kWarps>, blocks, output);
}

}  // namespace

bool compresses_as_pages(const DeviceBlocks& blocks, const Lz4Level& level) {
  const auto* step = std::get_if<HashStepParameters>(&level.finder);
  return blocks.max_block_bytes <= kOnePassBlockBytes && blocks.max_history_bytes == 0 && step != nullptr &&
         step->hash_bits == hash_step_bits(blocks.max_block_bytes) && step->group_positions == 32 &&
         step->cap_bytes == kOnePassCapBytes && step->stitch && level.parse == Lz4Parse::kLazy;
}

void compress_lz4_as_pages_cuda(const DeviceBlocks& blocks, const DeviceLz4Output& output, cudaStream_t stream,
                                int table) {
  if (blocks.max_block_bytes <= kPageBytes) {
    if (table == 0) run<SharedText, MaxTable<11>, kPageWarps>(blocks, output, stream);
    if (table == 1) run<SharedText, MatchTable<11>, kPageWarps>(blocks, output, stream);
    if (table == 2) run<SharedText, RetryTable<11>, kPageWarps>(blocks, output, stream);
    if (table == 3) run<GlobalText, MatchTable<11>, kPageWarps>(blocks, output, stream);
  } else {
    if (table == 0) run<GlobalText, MatchTable<13>, 1>(blocks, output, stream);
    if (table == 1) run<GlobalText, RetryTable<13>, 1>(blocks, output, stream);
    if (table == 2) run<GlobalText, MaxTable<13>, 1>(blocks, output, stream);
    if (table == 3) run<GlobalText, MatchTable<13>, 2>(blocks, output, stream);
  }
}

}  // namespace hemstitch::cuda
