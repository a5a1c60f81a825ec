// Greedy makes no decisions of its own: every usable match is one. The walk (parse/walk/walk.cuh, with mapping, shared memory and
// cost) reads the records and applies the format's limits. CPU twin: greedy_reference.cpp.
#include "parse/greedy/greedy_cuda.hpp"
#include "parse/usable_length.cuh"
#include "parse/walk/walk.cuh"

namespace hemstitch::cuda {
namespace {

template <typename Record>
struct GreedyDecision {
  static constexpr unsigned kAlignment = 1;
  const Record* d_records;
  BlockPlan plan;

  template <class Put>
  __device__ void operator()(const DeviceBlock& block, std::uint32_t begin, unsigned count,
                             const Put& put) const {
    const UsableLengths usable(plan, block.block_bytes, begin);
    const Record* const records = d_records + block.position + begin;
#pragma unroll 8
    for (unsigned i = threadIdx.x; i < count; i += kWalkThreads) put(i, usable(records[i], i));
  }
};

const KernelRegistration kGreedyRegistration(kWalkBudget,
                                             walk_block<kWalkTilePositions, GreedyDecision<MatchRecord>>);

}  // namespace

template <typename Record>
void parse_greedy_cuda(const DeviceBlocks& blocks, const Record* d_records, const BlockPlan& plan,
                       const DeviceSequences& sequences, cudaStream_t stream) {
  walk_blocks(blocks, GreedyDecision<Record>{d_records, plan}, RecordOffset<Record>{d_records}, plan,
              sequences, stream);
}

template void parse_greedy_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&,
                                const DeviceSequences&, cudaStream_t);

}  // namespace hemstitch::cuda
