// lazy on a CUDA device; the definition stands in lazy.hpp.
#pragma once

#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// One list of sequences a block, equal to parse_lazy()'s. Asynchronous on `stream`, no scratch; may be captured in a
// graph.
void parse_lazy_cuda(const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
                     std::uint32_t lazy_skip, const DeviceSequences& sequences, cudaStream_t stream);

}  // namespace hemstitch::cuda
