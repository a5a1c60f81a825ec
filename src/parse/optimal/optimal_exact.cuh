// The exact optimal parse, a template over the cost model like optimal_launch.cuh: one thread solves a whole block backwards, with all its costs in device memory, and the
// walk (parse/walk/walk.cuh) collects the decisions.
//
// Mapping: one thread a block, warps of 32 blocks; nothing is shared or staged, and accesses of a warp are a block
// apart. Plain on purpose: this parse measures finders and tests the other, a few blocks at a time. 64-bit costs, so
// that no block is too long. Work: one dependent step a position. CPU twin: optimal_reference.hpp.
#pragma once

#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/kernel_registry.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_work.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/walk/walk.cuh"

namespace hemstitch::cuda {
namespace optimal_detail {

template <typename Model, typename Record = MatchRecord>
__global__ void __launch_bounds__(32)
    solve_blocks(const DeviceBlock* __restrict__ d_blocks, std::uint32_t block_count,
                 const Record* __restrict__ d_records, const BlockPlan plan, const Model model,
                 std::uint64_t* __restrict__ d_costs, std::uint16_t* __restrict__ d_lengths) {
  const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= block_count) return;
  const DeviceBlock block = d_blocks[index];
  std::uint64_t* const costs = d_costs + block.position;
  std::uint64_t next_cost = 0;
  for (std::uint32_t position = block.block_bytes; position-- > 0;) {
    std::uint64_t best_cost = model.literal_cost() + next_cost;
    std::uint32_t best_length = 0;
    const Match match = usable_match(d_records[block.position + position], position, block.block_bytes, plan);
    if (match.length != 0) {
      for (unsigned edge = 0; edge < model.tried_length_count(); ++edge) {
        const std::uint32_t length = model.tried_length(match.length, edge);
        if (length < shortest_match(plan)) continue;
        const std::uint32_t target = position + length;
        const std::uint64_t cost =
            model.match_cost(length) + (target < block.block_bytes ? costs[target] : 0);
        if (cost < best_cost) {
          best_cost = cost;
          best_length = length;
        }
      }
    }
    costs[position] = next_cost = best_cost;
    d_lengths[block.position + position] = static_cast<std::uint16_t>(best_length);
  }
}

constexpr KernelBudget kSolveBlocksBudget("optimal_exact.solve_blocks", "solve_blocks",
                                          {.threads = 32, .registers = 64});

struct ExactScratch {
  std::uint64_t* d_costs;
  std::uint16_t* d_lengths;
  std::size_t bytes;
};

inline ExactScratch carve_exact(const DeviceBlocks& blocks, void* d_scratch) {
  Carver carver(d_scratch);
  ExactScratch scratch{};
  scratch.d_costs = carver.take<std::uint64_t>(blocks.total_block_bytes);
  scratch.d_lengths = carver.take<std::uint16_t>(blocks.total_block_bytes);
  scratch.bytes = carver.bytes();
  return scratch;
}

}  // namespace optimal_detail

template <typename Model>
std::size_t parse_optimal_exact_cuda_scratch_bytes(const DeviceBlocks& blocks, const Model&) {
  return optimal_detail::carve_exact(blocks, nullptr).bytes;
}

template <typename Model, typename Record>
void parse_optimal_exact_cuda(const DeviceBlocks& blocks, const Record* d_records, const BlockPlan& plan,
                              const Model& model, const DeviceSequences& sequences, void* d_scratch,
                              std::size_t scratch_bytes, cudaStream_t stream) {
  const optimal_detail::ExactScratch scratch = optimal_detail::carve_exact(blocks, d_scratch);
  check_scratch("parse_optimal_exact", scratch.bytes, d_scratch, scratch_bytes);
  launch({.kernel = optimal_detail::kSolveBlocksBudget,
          .grid = (blocks.block_count + 31) / 32,
          .stream = stream,
          .work = work_of(blocks)},
         optimal_detail::solve_blocks<Model, Record>, blocks.d_blocks, blocks.block_count, d_records, plan,
         model, scratch.d_costs, scratch.d_lengths);
  walk_blocks(blocks, StoredDecision{scratch.d_lengths}, RecordOffset<Record>{d_records}, plan, sequences,
              stream);
}

}  // namespace hemstitch::cuda
