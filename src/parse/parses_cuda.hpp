// Runs any parse on a CUDA device, also after any finder: includes a header for each of those in
// parse/parse_rows.hpp.
#pragma once

#include <algorithm>

#include "gpu/cuda/scratch.hpp"
#include "match/finders_cuda.hpp"
#include "parse/greedy/greedy_cuda.hpp"
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/parse_rows.hpp"

namespace hemstitch::cuda {

// Throw kInvalidOption for costs that the parse does not support and for too little scratch. Asynchronous;
// can be captured in a graph. The scratch is free again once the stream has passed this work.
template <typename Costs>
std::size_t parse_scratch_bytes(const AnyParse<Costs>& any, const DeviceBlocks& blocks) {
  return std::visit([&](const auto& parameters) { return parse_scratch_bytes(blocks, parameters); }, any);
}

template <typename Costs>
void parse(const AnyParse<Costs>& any, const DeviceBlocks& blocks, const MatchRecord* d_records,
           const BlockPlan& plan, const DeviceSequences& sequences, void* d_scratch,
           std::size_t scratch_bytes, cudaStream_t stream) {
  std::visit(
      [&](const auto& parameters) {
        parse(blocks, parameters, d_records, plan, sequences, d_scratch, scratch_bytes, stream);
      },
      any);
}

// Finds, then parses. Holds the records between the two, and the scratch that both use in turn.
template <typename Costs>
class FindAndParse {
 public:
  FindAndParse(const AnyFinder& finder, const AnyParse<Costs>& any_parse, const DeviceBlocks& blocks,
               const BlockPlan& plan, Carver& carver)
      : finder_(finder), parse_(any_parse), blocks_(blocks), plan_(plan) {
    d_records_ = carver.take<MatchRecord>(blocks.total_block_bytes);
    sequences_.d_sequences = carver.take<Sequence>(device_sequence_capacity(blocks, plan));
    sequences_.d_counts = carver.take<std::uint32_t>(blocks.block_count);
    sequences_.d_total = carver.take<std::uint64_t>(1);
    stage_bytes_ = std::max(find_scratch_bytes(finder, blocks), parse_scratch_bytes(any_parse, blocks));
    d_stage_ = carver.take<std::byte>(stage_bytes_);
  }

  void run(cudaStream_t stream) const {
    find(finder_, blocks_, {.d_records = d_records_}, d_stage_, stage_bytes_, stream);
    parse(parse_, blocks_, d_records_, plan_, sequences_, d_stage_, stage_bytes_, stream);
  }

  const DeviceSequences& sequences() const { return sequences_; }

 private:
  AnyFinder finder_;
  AnyParse<Costs> parse_;
  DeviceBlocks blocks_;
  BlockPlan plan_;
  MatchRecord* d_records_;
  DeviceSequences sequences_;
  std::size_t stage_bytes_;
  std::byte* d_stage_;
};

}  // namespace hemstitch::cuda
