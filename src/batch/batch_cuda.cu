// The batch interface on a CUDA device: arrays of pointers and sizes become the batch of blocks that finders and parses
// take, in three small launches; then the stages run as they are.
//
//   admit_blocks   one thread a block: a block that breaks the batch's bounds counts 0 bytes and gets a status
//   scan           positions
//   place_blocks   one thread a block: pointer, size, history and position together; a block behind the last position
//                  that there is memory for is left out as well, so that no later kernel writes outside
//
// No shared memory, no synchronisation; 40 bytes of temporary memory a block.
#include <algorithm>

#include "batch/batch_device.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "device/cuda/cuda_error.hpp"
#include "device/cuda/device_block.hpp"
#include "device/cuda/kernel_registry.hpp"
#include "device/cuda/scratch.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/hash_step/hash_step_cuda.hpp"
#include "parse/greedy/greedy_cuda.hpp"
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/optimal/optimal_cuda.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::check_launch;

static_assert(sizeof(hemstitch_sequence) == sizeof(Sequence) &&
                  offsetof(hemstitch_sequence, literal_bytes) == offsetof(Sequence, literal_count) &&
                  offsetof(hemstitch_sequence, match_bytes) == offsetof(Sequence, match_length) &&
                  offsetof(hemstitch_sequence, offset) == offsetof(Sequence, offset),
              "kernels write the sequences of the C interface");

constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    admit_blocks(const hemstitch_batch batch, std::uint32_t* d_admitted_bytes, hemstitch_status* d_statuses) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= batch.count) return;
  const std::uint32_t input_bytes = batch.input_bytes[i];
  const std::uint32_t history_bytes = batch.history_bytes == nullptr ? 0 : batch.history_bytes[i];
  const bool admitted = input_bytes <= batch.max_input_bytes && history_bytes <= batch.max_history_bytes &&
                        (batch.inputs == nullptr || batch.inputs[i] != nullptr || input_bytes == 0);
  d_admitted_bytes[i] = admitted ? input_bytes : 0;
  d_statuses[i] = admitted ? HEMSTITCH_OK : HEMSTITCH_INVALID_OPTION;
}

// `d_first_sequences` may be left out.
__global__ void __launch_bounds__(kThreads)
    place_blocks(const hemstitch_batch batch, const std::uint32_t* d_admitted_bytes,
                 const std::uint64_t* d_first, const BlockPlan plan, DeviceBlock* d_blocks,
                 std::uint64_t* d_first_sequences, hemstitch_status* d_statuses) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= batch.count) return;
  const std::uint64_t position = min(d_first[i], batch.total_input_bytes);
  std::uint32_t block_bytes = d_admitted_bytes[i];
  if (d_first[i] + block_bytes > batch.total_input_bytes) {
    block_bytes = 0;
    d_statuses[i] = HEMSTITCH_OUTPUT_TOO_SMALL;
  }
  const bool has_history = block_bytes != 0 && batch.history_bytes != nullptr;
  d_blocks[i] = {batch.inputs == nullptr ? nullptr : static_cast<const std::byte*>(batch.inputs[i]),
                 block_bytes, has_history ? batch.history_bytes[i] : 0, position};
  if (d_first_sequences != nullptr) d_first_sequences[i] = first_sequence(position, i, plan);
}

constexpr cuda::KernelBudget kAdmitBudget("batch.admit_blocks", "admit_blocks",
                                          {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kPlaceBudget("batch.place_blocks", "place_blocks",
                                          {.threads = kThreads, .registers = 40});
const cuda::KernelRegistration kAdmitRegistration(kAdmitBudget, admit_blocks);
const cuda::KernelRegistration kPlaceRegistration(kPlaceBudget, place_blocks);

// The batch's part of the temporary memory.
struct Layout {
  std::uint32_t* d_admitted_bytes;
  std::byte* d_scan;
  std::size_t scan_bytes;
  DeviceBlock* d_blocks;

  Layout(const hemstitch_batch& batch, cuda::Carver& carver)
      : scan_bytes(cuda::scan_sizes_cuda_scratch_bytes(batch.count)) {
    d_admitted_bytes = carver.take<std::uint32_t>(batch.count);
    d_scan = carver.take<std::byte>(scan_bytes);
    d_blocks = carver.take<DeviceBlock>(batch.count);
  }

  DeviceBlocks blocks(const hemstitch_batch& batch) const {
    return {d_blocks, batch.count, batch.max_input_bytes, batch.max_history_bytes, batch.total_input_bytes};
  }
};

void lay_out(const hemstitch_batch& batch, const Layout& layout, std::uint64_t* d_first,
             const BlockPlan& plan, std::uint64_t* d_first_sequences, hemstitch_status* d_statuses,
             cudaStream_t stream) {
  const unsigned grid = batch.count / kThreads + (batch.count % kThreads != 0);
  if (grid != 0) {
    admit_blocks<<<grid, kThreads, 0, stream>>>(batch, layout.d_admitted_bytes, d_statuses);
    check_launch(kAdmitBudget.name.data());
  }
  cuda::scan_sizes_cuda(layout.d_admitted_bytes, batch.count, d_first, layout.d_scan, layout.scan_bytes,
                        stream);
  if (grid != 0) {
    place_blocks<<<grid, kThreads, 0, stream>>>(batch, layout.d_admitted_bytes, d_first, plan,
                                                layout.d_blocks, d_first_sequences, d_statuses);
    check_launch(kPlaceBudget.name.data());
  }
}

// Throws, with the reason, where there is no device.
void need_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
}

std::size_t finder_scratch_bytes(const DeviceBlocks& blocks, const BatchFinder& finder) {
  if (const auto* step = std::get_if<HashStepParameters>(&finder))
    return cuda::find_hash_step_cuda_scratch_bytes(blocks, *step);
  return cuda::find_hash_chain_cuda_scratch_bytes(blocks, std::get<HashChainParameters>(finder));
}

std::size_t parse_scratch_bytes(const DeviceBlocks& blocks, const BatchParse& parse) {
  return std::visit(
      [&](const auto& costs) -> std::size_t {
        if (parse.parse == HEMSTITCH_PARSE_OPTIMAL)
          return cuda::parse_optimal_cuda_scratch_bytes(blocks, costs);
        if (parse.parse == HEMSTITCH_PARSE_OPTIMAL_EXACT)
          return cuda::parse_optimal_exact_cuda_scratch_bytes(blocks, costs);
        return 0;
      },
      parse.costs);
}

struct FindTemp {
  cuda::Carver carver;
  Layout layout;
  std::size_t finder_bytes;
  std::byte* d_finder;

  FindTemp(const hemstitch_batch& batch, const BatchFinder& finder, void* d_temp)
      : carver(d_temp),
        layout(batch, carver),
        finder_bytes(finder_scratch_bytes(layout.blocks(batch), finder)) {
    d_finder = carver.take<std::byte>(finder_bytes);
  }
};

struct ParseTemp {
  cuda::Carver carver;
  Layout layout;
  std::uint64_t* d_first;
  std::size_t parse_bytes;
  std::byte* d_parse;

  ParseTemp(const hemstitch_batch& batch, const BatchParse& parse, void* d_temp)
      : carver(d_temp), layout(batch, carver), parse_bytes(parse_scratch_bytes(layout.blocks(batch), parse)) {
    d_first = carver.take<std::uint64_t>(std::size_t{batch.count} + 1);
    d_parse = carver.take<std::byte>(parse_bytes);
  }
};

}  // namespace

std::size_t batch_find_temp_bytes(const hemstitch_batch& batch, const BatchFinder& finder) {
  need_device();
  return FindTemp(batch, finder, nullptr).carver.bytes();
}

void batch_find_async(const hemstitch_batch& batch, const BatchFinder& finder,
                      hemstitch_candidate* d_candidates, std::uint64_t* d_first, hemstitch_status* d_statuses,
                      void* d_temp, std::size_t temp_bytes, hemstitch_stream stream) {
  need_device();
  const FindTemp temp(batch, finder, d_temp);
  cuda::check_scratch("find", temp.carver.bytes(), d_temp, temp_bytes);
  lay_out(batch, temp.layout, d_first, {}, nullptr, d_statuses, stream);
  const DeviceBlocks blocks = temp.layout.blocks(batch);
  if (const auto* step = std::get_if<HashStepParameters>(&finder))
    cuda::find_hash_step_cuda(blocks, *step, d_candidates, temp.d_finder, temp.finder_bytes, stream);
  else
    cuda::find_hash_chain_cuda(blocks, std::get<HashChainParameters>(finder), d_candidates, temp.d_finder,
                               temp.finder_bytes, stream);
}

std::size_t batch_parse_temp_bytes(const hemstitch_batch& batch, const BatchParse& parse) {
  need_device();
  return ParseTemp(batch, parse, nullptr).carver.bytes();
}

void batch_parse_async(const hemstitch_batch& batch, const BatchParse& parse,
                       const hemstitch_candidate* d_candidates, const BatchLists& lists,
                       hemstitch_status* d_statuses, void* d_temp, std::size_t temp_bytes,
                       hemstitch_stream stream) {
  need_device();
  const ParseTemp temp(batch, parse, d_temp);
  cuda::check_scratch("parse", temp.carver.bytes(), d_temp, temp_bytes);
  lay_out(batch, temp.layout, temp.d_first, parse.plan, lists.d_first_sequences, d_statuses, stream);
  const DeviceBlocks blocks = temp.layout.blocks(batch);
  const cuda::DeviceSequences sequences{reinterpret_cast<Sequence*>(lists.d_sequences), lists.d_counts,
                                        lists.d_total};
  switch (parse.parse) {
    case HEMSTITCH_PARSE_GREEDY:
      cuda::parse_greedy_cuda(blocks, d_candidates, parse.plan, sequences, stream);
      break;
    case HEMSTITCH_PARSE_LAZY:
      cuda::parse_lazy_cuda(blocks, d_candidates, parse.plan, parse.lazy_skip, sequences, stream);
      break;
    case HEMSTITCH_PARSE_OPTIMAL:
      std::visit(
          [&](const auto& costs) {
            cuda::parse_optimal_cuda(blocks, d_candidates, parse.plan, costs, sequences, temp.d_parse,
                                     temp.parse_bytes, stream);
          },
          parse.costs);
      break;
    case HEMSTITCH_PARSE_OPTIMAL_EXACT:
      std::visit(
          [&](const auto& costs) {
            cuda::parse_optimal_exact_cuda(blocks, d_candidates, parse.plan, costs, sequences, temp.d_parse,
                                           temp.parse_bytes, stream);
          },
          parse.costs);
      break;
  }
}

}  // namespace hemstitch
