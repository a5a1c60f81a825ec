// optimal on a CUDA device; optimal.hpp defines it.
//
// The library has these functions compiled for FullLengthCostModel, and for the models of formats beside
// their formats (format/lz4/compress/lz4_parse.cu). optimal_launch.cuh and optimal_exact.cuh have them for
// every other model. Both parses throw kInvalidOption for too little scratch (`..._scratch_bytes`), and
// parse_optimal_cuda() also for costs above kMaxUnitCost. Asynchronous on `stream`; can be captured in a
// graph.
#pragma once

#include "parse/optimal/optimal.hpp"
#include "parse/parse_cuda.hpp"

namespace hemstitch::cuda {

// The most that one literal or match may cost: 4096 bits. With it, 1280 of them, and three more bits, fit
// into 32 bits.
inline constexpr std::uint32_t kMaxUnitCost = 4096 * kCostUnitsPerBit;

// Writes one list of sequences for each block, equal to that of parse_optimal(). Scratch: 2 bytes for each
// position for the decisions; 12 bytes for each block; and 82 KB for each of 12 warps of each multiprocessor,
// but no more than 2.6 bytes for each position (twice that for costs that are not whole bits, or above 50
// bits for a literal).
template <typename Model>
std::size_t parse_optimal_cuda_scratch_bytes(const DeviceBlocks& blocks, const Model& model);
template <typename Model>
void parse_optimal_cuda(const DeviceBlocks& blocks, const MatchRecord* d_records, const BlockPlan& plan,
                        const Model& model, const DeviceSequences& sequences, void* d_scratch,
                        std::size_t scratch_bytes, cudaStream_t stream);

// Writes one list of sequences for each block, equal to that of parse_optimal_exact(), with one thread for
// each block: for evaluation and tests. Scratch: 10 bytes for each position.
template <typename Model>
std::size_t parse_optimal_exact_cuda_scratch_bytes(const DeviceBlocks& blocks, const Model& model);
template <typename Model, typename Record>
void parse_optimal_exact_cuda(const DeviceBlocks& blocks, const Record* d_records, const BlockPlan& plan,
                              const Model& model, const DeviceSequences& sequences, void* d_scratch,
                              std::size_t scratch_bytes, cudaStream_t stream);

template <typename Model>
std::size_t parse_scratch_bytes(const DeviceBlocks& blocks, const OptimalParse<Model>& optimal) {
  return parse_optimal_cuda_scratch_bytes(blocks, optimal.costs);
}
template <typename Model>
void parse(const DeviceBlocks& blocks, const OptimalParse<Model>& optimal, const MatchRecord* d_records,
           const BlockPlan& plan, const DeviceSequences& sequences, void* d_scratch,
           std::size_t scratch_bytes, cudaStream_t stream) {
  parse_optimal_cuda(blocks, d_records, plan, optimal.costs, sequences, d_scratch, scratch_bytes, stream);
}

template <typename Model>
std::size_t parse_scratch_bytes(const DeviceBlocks& blocks, const OptimalExactParse<Model>& optimal) {
  return parse_optimal_exact_cuda_scratch_bytes(blocks, optimal.costs);
}
template <typename Model, typename Record>
void parse(const DeviceBlocks& blocks, const OptimalExactParse<Model>& optimal, const Record* d_records,
           const BlockPlan& plan, const DeviceSequences& sequences, void* d_scratch,
           std::size_t scratch_bytes, cudaStream_t stream) {
  parse_optimal_exact_cuda(blocks, d_records, plan, optimal.costs, sequences, d_scratch, scratch_bytes,
                           stream);
}

}  // namespace hemstitch::cuda
