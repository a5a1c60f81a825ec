// Level 1 on pages, a warp each (lz4_one_pass_page.cuh, with mapping, shared memory, synchronisation and cost), and on blocks
// of up to 64 KB, a thread block each (lz4_one_pass_block.cuh). A block's candidates are found before, as chains of depth 1 (hash_chain.cu).
#include "format/lz4/compress/lz4_one_pass_block.cuh"
#include "format/lz4/compress/lz4_one_pass_cuda.hpp"
#include "format/lz4/compress/lz4_one_pass_page.cuh"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/shared_memory.hpp"
#include "match/common/device_work.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/hash_chain/hash_chain_tuning.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kBlockHashBits = hash_chain_fast_bits(kOnePassBlockBytes);
static_assert(kHashChainFastCapBytes == kOnePassCapBytes);
using Page = PagePass<kHashPairsBits>;

__device__ void leave_result(const DeviceLz4Output& output, std::uint32_t index, std::uint32_t bytes,
                             bool fits) {
  output.d_output_bytes[index] = fits ? bytes : 0;
  output.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

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

__global__ void __launch_bounds__(kBlockWarps * 32, kBlocksResident)
    compress_blocks(DeviceBlocks blocks, const std::uint16_t* d_links, uint2* d_lists,
                    DeviceLz4Output output) {
  extern __shared__ uint4 sh_memory[];
  const DeviceBlock block = blocks.d_blocks[blockIdx.x];
  BlockPass pass(
      *reinterpret_cast<BlockShared*>(sh_memory), block.d_block, block.block_bytes, d_links + block.position,
      d_lists + std::uint64_t{blockIdx.x} * kBlockWarps * kSegmentSequences, warp_number(), threadIdx.x % 32);
  const std::uint32_t bytes = pass.compress(output.d_outputs[blockIdx.x], output.d_capacities[blockIdx.x]);
  if (threadIdx.x == 0) leave_result(output, blockIdx.x, bytes, bytes != BlockPass::kDoesNotFit);
}

constexpr auto kPagesShared = static_cast<std::uint32_t>(kPageWarps * sizeof(Page::Shared));
constexpr auto kBlockSharedBytes = static_cast<std::uint32_t>(sizeof(BlockShared));
constexpr KernelBudget kPagesBudget("lz4.compress_small", "compress_small",
                                    {.threads = kPageWarps * 32,
                                     .dynamic_shared_bytes = kPagesShared,
                                     .registers = 88,
                                     .shared_bytes = kPagesShared});
constexpr KernelBudget kBlocksBudget("lz4.compress_blocks", "compress_blocks",
                                     {.threads = kBlockWarps * 32,
                                      .dynamic_shared_bytes = kBlockSharedBytes,
                                      .registers = 80,
                                      .shared_bytes = kBlockSharedBytes});
const KernelRegistration kPagesRegistration(kPagesBudget, compress_small);
const KernelRegistration kBlocksRegistration(kBlocksBudget, compress_blocks);

struct Scratch {
  Carver carver;
  uint2* d_lists;
  std::size_t chains_bytes;
  std::byte* d_chains;

  Scratch(const DeviceBlocks& blocks, const HashChainParameters& chain, void* d_scratch) : carver(d_scratch) {
    d_lists = carver.take<uint2>(std::size_t{blocks.block_count} * kBlockWarps * kSegmentSequences);
    chains_bytes = find_hash_chain_cuda_scratch_bytes(blocks, chain);
    d_chains = carver.take<std::byte>(chains_bytes);
  }
};

bool is_lazy(const Lz4Parse& parse) {
  const auto* lazy = std::get_if<LazyParse>(&parse);
  return lazy != nullptr && lazy->skip == 0;
}

}  // namespace

bool one_pass_takes_as_pages(const DeviceBlocks& blocks, const Lz4Level& level) {
  const auto* pairs = std::get_if<HashPairsParameters>(&level.finder);
  return blocks.max_block_bytes <= kPageBytes && blocks.max_history_bytes == 0 && pairs != nullptr &&
         pairs->hash_bits == kHashPairsBits && is_lazy(level.parse);
}

bool one_pass_takes(const DeviceBlocks& blocks, const Lz4Level& level) {
  if (one_pass_takes_as_pages(blocks, level)) return true;
  const auto* chain = std::get_if<HashChainParameters>(&level.finder);
  return blocks.max_block_bytes <= kOnePassBlockBytes && blocks.max_history_bytes == 0 && chain != nullptr &&
         chain->hash_bits == kBlockHashBits && fits_shared_memory(kBlocksBudget) && chain->depth == 1 &&
         chain->cap_bytes == kOnePassCapBytes && chain->window_bytes == kMaxRecordOffset && chain->stitch &&
         chain->stitch_reach == kHashChainFastStitchReach && is_lazy(level.parse);
}

std::size_t compress_one_pass_cuda_scratch_bytes(const DeviceBlocks& blocks, const Lz4Level& level) {
  if (one_pass_takes_as_pages(blocks, level)) return 0;
  return Scratch(blocks, std::get<HashChainParameters>(level.finder), nullptr).carver.bytes();
}

void compress_one_pass_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                            void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (one_pass_takes_as_pages(blocks, level)) {
    launch({.kernel = kPagesBudget,
            .grid = (blocks.block_count + kPageWarps - 1) / kPageWarps,
            .stream = stream,
            .work = work_of(blocks)},
           compress_small, blocks, output);
    return;
  }
  const auto& chain = std::get<HashChainParameters>(level.finder);
  const Scratch scratch(blocks, chain, d_scratch);
  check_scratch("compress_lz4", scratch.carver.bytes(), d_scratch, scratch_bytes);
  build_hash_chains_cuda(blocks, chain, scratch.d_chains, scratch.chains_bytes, stream);
  launch({.kernel = kBlocksBudget, .grid = blocks.block_count, .stream = stream, .work = work_of(blocks)},
         compress_blocks, blocks, hash_chain_links(blocks, chain, scratch.d_chains), scratch.d_lists, output);
}

}  // namespace hemstitch::cuda
