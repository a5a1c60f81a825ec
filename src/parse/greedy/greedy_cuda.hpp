// greedy on a CUDA device; the definition stands in greedy.hpp.
#pragma once

#include "parse/greedy/greedy.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// One list of sequences a block, equal to parse_greedy()'s. Asynchronous on `stream`, no scratch; may be captured
// in a graph.
void parse_greedy_cuda(const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
                       const DeviceSequences& sequences, cudaStream_t stream);

inline std::size_t parse_scratch_bytes(const DeviceBlocks&, const GreedyParse&) { return 0; }
inline void parse(const DeviceBlocks& blocks, const GreedyParse&, const MatchRecord* d_records,
                  const BlockPlan& plan, const DeviceSequences& sequences, void*, std::size_t,
                  cudaStream_t stream) {
  parse_greedy_cuda(blocks, d_records, plan, sequences, stream);
}

}  // namespace hemstitch::cuda
