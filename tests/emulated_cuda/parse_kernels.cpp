// The walk and the parses that need no kernels besides, compiled for the processor, for records of both widths.
#include <cuda_runtime.h>

#include "parse/greedy/greedy.cu"
#include "parse/lazy/lazy.cu"
#include "parse/optimal/optimal_exact.cuh"

namespace hemstitch::cuda {

template void parse_greedy_cuda(const DeviceBlocks&, const WideRecord*, const BlockPlan&,
                                const DeviceSequences&, cudaStream_t);
template void parse_lazy_cuda(const DeviceBlocks&, const WideRecord*, const BlockPlan&, std::uint32_t,
                              const DeviceSequences&, cudaStream_t);
template std::size_t parse_optimal_exact_cuda_scratch_bytes(const DeviceBlocks&, const FullLengthCostModel&);
template void parse_optimal_exact_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                       const FullLengthCostModel&, const DeviceSequences&, void*, std::size_t,
                                       cudaStream_t);
template void parse_optimal_exact_cuda(const DeviceBlocks&, const WideRecord*, const BlockPlan&,
                                       const FullLengthCostModel&, const DeviceSequences&, void*, std::size_t,
                                       cudaStream_t);

}  // namespace hemstitch::cuda
