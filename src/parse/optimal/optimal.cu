// The optimal parses for the flat model, and what they have in common with those for other models.
#include "match/common/cuda/device_work.hpp"
#include "parse/optimal/optimal_exact.cuh"
#include "parse/optimal/optimal_launch.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kCountThreads = 256;

// How many segments each block has: one thread a block, no shared memory.
__global__ void __launch_bounds__(kCountThreads)
    count_segments_of_blocks(const DeviceBlock* d_blocks, std::uint32_t block_count,
                             std::uint32_t* d_counts) {
  const std::uint32_t i = blockIdx.x * kCountThreads + threadIdx.x;
  if (i < block_count) d_counts[i] = segment_count(d_blocks[i].block_bytes);
}

constexpr KernelBudget kCountBudget("optimal.count_segments", "count_segments_of_blocks",
                                    {.threads = kCountThreads, .registers = 32});
const KernelRegistration kCountRegistration(kCountBudget, count_segments_of_blocks);
const KernelRegistration kSolveRegistration(kSolveBudget,
                                            solve_segments<FullLengthCostModel, true, kNearCosts>);
const KernelRegistration kSolveWideRegistration(kSolveBudget,
                                                solve_segments<FullLengthCostModel, false, kNearCosts>);
const KernelRegistration kSolveBlocksRegistration(optimal_detail::kSolveBlocksBudget,
                                                  optimal_detail::solve_blocks<FullLengthCostModel>);
const KernelRegistration kWalkRegistration(kWalkBudget, walk_block<kWalkTilePositions, StoredDecision>);

}  // namespace

namespace optimal_detail {

void count_segments(const DeviceBlocks& blocks, std::uint32_t* d_counts, cudaStream_t stream) {
  const std::uint32_t grid = blocks.block_count / kCountThreads + (blocks.block_count % kCountThreads != 0);
  count_segments_of_blocks<<<grid, kCountThreads, 0, stream>>>(blocks.d_blocks, blocks.block_count, d_counts);
  check_launch(kCountBudget.name.data(), work_of(blocks));
}

}  // namespace optimal_detail

template std::size_t parse_optimal_cuda_scratch_bytes(const DeviceBlocks&, const FullLengthCostModel&);
template void parse_optimal_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                 const FullLengthCostModel&, const DeviceSequences&, void*, std::size_t,
                                 cudaStream_t);
template std::size_t parse_optimal_exact_cuda_scratch_bytes(const DeviceBlocks&, const FullLengthCostModel&);
template void parse_optimal_exact_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                       const FullLengthCostModel&, const DeviceSequences&, void*, std::size_t,
                                       cudaStream_t);

}  // namespace hemstitch::cuda
