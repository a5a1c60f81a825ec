// lazy on a CUDA device; lazy.hpp defines it.
#pragma once

#include "parse/lazy/lazy.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// Writes one list of sequences for each block, equal to that of parse_lazy(). Asynchronous on `stream`,
// without scratch; can be captured in a graph.
template <typename Record>
void parse_lazy_cuda(const DeviceBlocks& blocks, const Record* d_records, const BlockPlan& plan,
                     std::uint32_t lazy_skip, const DeviceSequences& sequences, cudaStream_t stream);

inline std::size_t parse_scratch_bytes(const DeviceBlocks&, const LazyParse&) { return 0; }
template <typename Record>
void parse(const DeviceBlocks& blocks, const LazyParse& lazy, const Record* d_records, const BlockPlan& plan,
           const DeviceSequences& sequences, void*, std::size_t, cudaStream_t stream) {
  parse_lazy_cuda(blocks, d_records, plan, lazy.skip, sequences, stream);
}

}  // namespace hemstitch::cuda
