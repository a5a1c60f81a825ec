// greedy on a CUDA device; greedy.hpp defines it.
#pragma once

#include "parse/greedy/greedy.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// Writes one list of sequences for each block, equal to that of parse_greedy(). Asynchronous on `stream`,
// without scratch; can be captured in a graph.
template <typename Record>
void parse_greedy_cuda(const DeviceBlocks& blocks, const Record* d_records, const BlockPlan& plan,
                       const DeviceSequences& sequences, cudaStream_t stream);

inline std::size_t parse_scratch_bytes(const DeviceBlocks&, const GreedyParse&) { return 0; }
template <typename Record>
void parse(const DeviceBlocks& blocks, const GreedyParse&, const Record* d_records, const BlockPlan& plan,
           const DeviceSequences& sequences, void*, std::size_t, cudaStream_t stream) {
  parse_greedy_cuda(blocks, d_records, plan, sequences, stream);
}

}  // namespace hemstitch::cuda
