// The optimal parses for the flat model.
#include "parse/optimal/optimal_exact.cuh"
#include "parse/optimal/optimal_launch.cuh"

namespace hemstitch::cuda {

template std::size_t parse_optimal_cuda_scratch_bytes(const DeviceBlocks&, const FullLengthCostModel&);
template void parse_optimal_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                 const FullLengthCostModel&, const DeviceSequences&, void*, std::size_t,
                                 cudaStream_t);
template std::size_t parse_optimal_exact_cuda_scratch_bytes(const DeviceBlocks&, const FullLengthCostModel&);
template void parse_optimal_exact_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                       const FullLengthCostModel&, const DeviceSequences&, void*, std::size_t,
                                       cudaStream_t);

}  // namespace hemstitch::cuda
