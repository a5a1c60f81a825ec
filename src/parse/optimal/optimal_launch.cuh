// The launches of the optimal parse, a template over the cost model: a .cu file for a model includes this file and instantiates
// parse_optimal_cuda(), parse_optimal_exact_cuda() and the functions for their scratch memory.
//
// Segments are counted and ranked over the batch, solved (optimal_kernel.cuh, with mapping, shared memory and cost), and
// the walk (parse/walk/walk.cuh) collects the decisions. CPU twin: optimal_reference.hpp.
#pragma once

#include <algorithm>
#include <string>

#include "compact/scan/scan_cuda.hpp"
#include "core/status.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_work.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/optimal/optimal_cuda_tuning.hpp"
#include "parse/optimal/optimal_kernel.cuh"
#include "parse/walk/walk.cuh"

namespace hemstitch::cuda {
namespace optimal_detail {

// One count a block (optimal.cu).
void count_segments(const DeviceBlocks& blocks, std::uint32_t* d_counts, cudaStream_t stream);

// Warps that share the work on the current device, for a batch that needs at most `groups`.
inline std::uint32_t solving_warps(std::uint64_t groups) {
  int device = 0, multiprocessors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(groups, 1, static_cast<std::uint64_t>(multiprocessors) * kSolvingWarps));
}

template <typename Model>
bool narrow(const Model& model) {
  if constexpr (NarrowCosts<Model>::kAlways)
    return true;
  else
    return NarrowCosts<Model>::fit(model);
}

struct Scratch {
  std::uint32_t* d_segment_counts;
  std::uint64_t* d_first_segment;
  std::byte* d_scan;
  std::size_t scan_bytes;
  std::uint16_t* d_lengths;
  std::byte* d_far_costs;
  std::uint32_t warps;
  std::size_t bytes;
};

template <typename Model>
Scratch carve(const DeviceBlocks& blocks, const Model& model, void* d_scratch) {
  // Each block may have one short segment.
  const std::uint64_t most_segments = blocks.total_block_bytes / kSegmentPositions + blocks.block_count;
  Carver carver(d_scratch);
  Scratch scratch{};
  scratch.warps = solving_warps((most_segments + 31) / 32);
  scratch.scan_bytes = scan_sizes_cuda_scratch_bytes(blocks.block_count);
  scratch.d_segment_counts = carver.take<std::uint32_t>(blocks.block_count);
  scratch.d_first_segment = carver.take<std::uint64_t>(std::size_t{blocks.block_count} + 1);
  scratch.d_scan = carver.take<std::byte>(scratch.scan_bytes);
  scratch.d_lengths = carver.take<std::uint16_t>(blocks.total_block_bytes);
  scratch.d_far_costs = carver.take<std::byte>(std::size_t{scratch.warps} * kFarBatches * kBatchPositions *
                                               32 * (narrow(model) ? 2 : 4));
  scratch.bytes = carver.bytes();
  return scratch;
}

template <typename Model>
void check_unit_costs(const Model& model) {
  const std::uint32_t costs[] = {model.literal_cost(), model.match_cost(kMaxRecordLength)};
  for (const std::uint32_t cost : costs)
    if (cost > kMaxUnitCost)
      throw Error(Status::kInvalidOption, "parse_optimal: a literal or match costs " + std::to_string(cost) +
                                              " units, the most is " + std::to_string(kMaxUnitCost));
}

}  // namespace optimal_detail

template <typename Model>
std::size_t parse_optimal_cuda_scratch_bytes(const DeviceBlocks& blocks, const Model& model) {
  return optimal_detail::carve(blocks, model, nullptr).bytes;
}

template <typename Model>
void parse_optimal_cuda(const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
                        const Model& model, const DeviceSequences& sequences, void* d_scratch,
                        std::size_t scratch_bytes, cudaStream_t stream) {
  static_assert(
      !requires(std::uint32_t offset) { model.offset_cost(offset); },
      "EdgeSearch knows lengths alone: prices of offsets need one of their own");
  optimal_detail::check_unit_costs(model);
  const optimal_detail::Scratch scratch = optimal_detail::carve(blocks, model, d_scratch);
  check_scratch("parse_optimal", scratch.bytes, d_scratch, scratch_bytes);

  if (blocks.block_count != 0) {
    optimal_detail::count_segments(blocks, scratch.d_segment_counts, stream);
    scan_sizes_cuda(scratch.d_segment_counts, blocks.block_count, scratch.d_first_segment, scratch.d_scan,
                    scratch.scan_bytes, stream);
    const auto solve = [&](auto kernel) {
      kernel<<<scratch.warps, 32, 0, stream>>>(blocks.d_blocks, blocks.block_count, scratch.d_first_segment,
                                               d_records, plan, model, scratch.d_lengths,
                                               scratch.d_far_costs);
    };
    if constexpr (NarrowCosts<Model>::kAlways)
      solve(solve_segments<Model, true, kNearCosts>);
    else if (optimal_detail::narrow(model))
      solve(solve_segments<Model, true, kNearCosts>);
    else
      solve(solve_segments<Model, false, kNearCosts>);
    check_launch(kSolveBudget.name.data(), work_of(blocks));
  }
  walk_blocks(blocks, StoredDecision{scratch.d_lengths}, RecordOffset<>{d_records}, plan, sequences, stream);
}

}  // namespace hemstitch::cuda
