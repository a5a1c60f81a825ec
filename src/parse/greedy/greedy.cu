// Greedy has no decisions of its own: every usable match is one. The walk (parse/walk/walk.cuh, with mapping, shared
// memory and cost) reads the records, applies the format's limits and goes. CPU twin: greedy_reference.cpp.
#include "parse/greedy/greedy_cuda.hpp"
#include "parse/parse.hpp"
#include "parse/walk/walk.cuh"

namespace hemstitch {
namespace {

struct GreedyDecision {
  const MatchRecord* d_records;
  BlockPlan plan;

  __device__ std::uint32_t length(const DeviceBlock& block, std::uint32_t position) const {
    return usable_match(d_records[block.position + position], position, block.block_bytes, plan).length;
  }
};

}  // namespace

void parse_greedy_cuda(const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
                       const DeviceSequences& sequences, cudaStream_t stream) {
  cuda::walk_blocks(blocks, GreedyDecision{d_records, plan}, d_records, plan, sequences, stream);
}

}  // namespace hemstitch
