// greedy on a CUDA device; the definition stands in greedy.hpp.
#pragma once

#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// One list of sequences a block, equal to parse_greedy()'s. Asynchronous on `stream`, no scratch; may be captured
// in a graph.
void parse_greedy_cuda(const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
                       const DeviceSequences& sequences, cudaStream_t stream);

}  // namespace hemstitch::cuda
