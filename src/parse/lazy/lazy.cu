// Lazy's decision looks at two neighbouring records and at no other decision, so it is made where the walk
// (parse/walk/walk.cuh, with mapping, shared memory and cost) reads them. CPU twin: lazy_reference.cpp.
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/usable_length.cuh"
#include "parse/walk/walk.cuh"

namespace hemstitch::cuda {
namespace {

template <typename Record>
struct LazyDecision {
  static constexpr unsigned kAlignment = 1;
  const Record* d_records;
  BlockPlan plan;
  std::uint32_t lazy_skip;

  // A warp reads 32 neighbours and decides for 31 of them; the last one's neighbour is read again, by the next.
  template <class Put>
  __device__ void operator()(const DeviceBlock& block, std::uint32_t begin, unsigned count,
                             const Put& put) const {
    constexpr unsigned kDecided = 31, kWarps = kWalkThreads / 32;
    const UsableLengths usable(plan, block.block_bytes, begin);
    const Record* const records = d_records + block.position + begin;
    const unsigned readable = block.block_bytes - begin;
    const unsigned lane = threadIdx.x % 32;
#pragma unroll 4
    for (unsigned first = threadIdx.x / 32 * kDecided; first < count; first += kWarps * kDecided) {
      const unsigned i = first + lane;
      const std::uint32_t here = i < readable ? usable(records[i], i) : 0;
      const std::uint32_t next = __shfl_down_sync(~0u, here, 1);
      const bool look_ahead = lazy_skip == 0 || here < lazy_skip;
      if (lane < kDecided && i < count) put(i, look_ahead && next > here ? 0 : here);
    }
  }
};

const KernelRegistration kLazyRegistration(kWalkBudget,
                                           walk_block<kWalkTilePositions, LazyDecision<MatchRecord>>);

}  // namespace

template <typename Record>
void parse_lazy_cuda(const DeviceBlocks& blocks, const Record* d_records, const BlockPlan& plan,
                     std::uint32_t lazy_skip, const DeviceSequences& sequences, cudaStream_t stream) {
  walk_blocks(blocks, LazyDecision<Record>{d_records, plan, lazy_skip}, RecordOffset<Record>{d_records}, plan,
              sequences, stream);
}

template void parse_lazy_cuda(const DeviceBlocks&, const MatchRecord*, const BlockPlan&, std::uint32_t,
                              const DeviceSequences&, cudaStream_t);

}  // namespace hemstitch::cuda
