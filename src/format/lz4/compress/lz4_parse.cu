// The optimal parses for LZ4's costs.
#include "format/lz4/compress/lz4_lengths.cuh"
#include "parse/optimal/optimal_exact.cuh"
#include "parse/optimal/optimal_launch.cuh"

namespace hemstitch::cuda {
namespace {

const KernelRegistration kSolveRegistration(kSolveBudget, solve_segments<Lz4CostModel, true, kNearCosts>);
const KernelRegistration kSolveBlocksRegistration(optimal_detail::kSolveBlocksBudget,
                                                  optimal_detail::solve_blocks<Lz4CostModel>);

}  // namespace

template std::size_t parse_optimal_cuda_scratch_bytes(const DeviceBlocks&, const Lz4CostModel&);
template void parse_optimal_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                 const Lz4CostModel&, const DeviceSequences&, void*, std::size_t,
                                 cudaStream_t);
template std::size_t parse_optimal_exact_cuda_scratch_bytes(const DeviceBlocks&, const Lz4CostModel&);
template void parse_optimal_exact_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                       const Lz4CostModel&, const DeviceSequences&, void*, std::size_t,
                                       cudaStream_t);

}  // namespace hemstitch::cuda
