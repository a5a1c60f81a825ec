// Lazy's decision looks at two neighbouring records and at no other decision, so it is made where the walk
// (parse/walk/walk.cuh, with mapping, shared memory and cost) reads them; the neighbour's record comes from the first
// level cache. CPU twin: lazy_reference.cpp.
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/parse.hpp"
#include "parse/walk/walk.cuh"

namespace hemstitch {
namespace {

struct LazyDecision {
  const MatchRecord* d_records;
  BlockPlan plan;
  std::uint32_t lazy_skip;

  __device__ std::uint32_t usable(const DeviceBlock& block, std::uint32_t position) const {
    if (position >= block.block_bytes) return 0;
    return usable_match(d_records[block.position + position], position, block.block_bytes, plan).length;
  }
  __device__ std::uint32_t length(const DeviceBlock& block, std::uint32_t position) const {
    const std::uint32_t here = usable(block, position), next = usable(block, position + 1);
    const bool look_ahead = lazy_skip == 0 || here < lazy_skip;
    return look_ahead && next > here ? 0 : here;
  }
};

}  // namespace

void parse_lazy_cuda(const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
                     std::uint32_t lazy_skip, const DeviceSequences& sequences, cudaStream_t stream) {
  cuda::walk_blocks(blocks, LazyDecision{d_records, plan, lazy_skip}, d_records, plan, sequences, stream);
}

}  // namespace hemstitch
