// Finding and parsing of the batch interface on a CUDA device. Arrays of pointers and sizes become the batch
// of blocks that finders and parses take (batch_layout.hpp); then the stages run unchanged.
#include "batch/batch_device.hpp"
#include "batch/batch_layout.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_block.hpp"
#include "parse/parses_cuda.hpp"

namespace hemstitch {
namespace {

static_assert(sizeof(hemstitch_sequence) == sizeof(Sequence) &&
                  offsetof(hemstitch_sequence, literal_bytes) == offsetof(Sequence, literal_count) &&
                  offsetof(hemstitch_sequence, match_bytes) == offsetof(Sequence, match_length) &&
                  offsetof(hemstitch_sequence, offset) == offsetof(Sequence, offset),
              "kernels write the sequences of the C interface");

cuda::GivenBlocks given_blocks(const hemstitch_batch& batch) {
  return {.d_inputs = batch.inputs,
          .d_input_bytes_32 = batch.input_bytes,
          .d_history_bytes = batch.history_bytes,
          .count = batch.count,
          .max_input_bytes = batch.max_input_bytes,
          .max_history_bytes = batch.max_history_bytes,
          .total_input_bytes = batch.total_input_bytes};
}

struct FindTemp {
  cuda::Carver carver;
  cuda::BatchLayout layout;
  std::size_t finder_bytes;
  std::byte* d_finder;

  FindTemp(const hemstitch_batch& batch, const AnyFinder& finder, void* d_temp)
      : carver(d_temp),
        layout(given_blocks(batch), carver),
        finder_bytes(cuda::find_scratch_bytes(finder, layout.blocks())) {
    d_finder = carver.take<std::byte>(finder_bytes);
  }
};

struct ParseTemp {
  cuda::Carver carver;
  cuda::BatchLayout layout;
  std::uint64_t* d_first;
  std::size_t parse_bytes;
  std::byte* d_parse;

  ParseTemp(const hemstitch_batch& batch, const BatchParse& parse, void* d_temp)
      : carver(d_temp),
        layout(given_blocks(batch), carver),
        parse_bytes(std::visit(
            [&](const auto& any) { return cuda::parse_scratch_bytes(any, layout.blocks()); }, parse.parse)) {
    d_first = carver.take<std::uint64_t>(std::size_t{batch.count} + 1);
    d_parse = carver.take<std::byte>(parse_bytes);
  }
};

}  // namespace

std::size_t batch_find_temp_bytes(const hemstitch_batch& batch, const AnyFinder& finder) {
  cuda::need_device();
  return FindTemp(batch, finder, nullptr).carver.bytes();
}

void batch_find_async(const hemstitch_batch& batch, const AnyFinder& finder,
                      hemstitch_candidate* d_candidates, std::uint64_t* d_first, hemstitch_status* d_statuses,
                      void* d_temp, std::size_t temp_bytes, hemstitch_stream stream) {
  cuda::need_device();
  const FindTemp temp(batch, finder, d_temp);
  cuda::check_scratch("find", temp.carver.bytes(), d_temp, temp_bytes);
  temp.layout.lay_out(d_first, {}, nullptr, d_statuses, stream);
  cuda::find(finder, temp.layout.blocks(), {.d_records = d_candidates}, temp.d_finder, temp.finder_bytes,
             stream);
}

std::size_t batch_parse_temp_bytes(const hemstitch_batch& batch, const BatchParse& parse) {
  cuda::need_device();
  return ParseTemp(batch, parse, nullptr).carver.bytes();
}

void batch_parse_async(const hemstitch_batch& batch, const BatchParse& parse,
                       const hemstitch_candidate* d_candidates, const BatchLists& lists,
                       hemstitch_status* d_statuses, void* d_temp, std::size_t temp_bytes,
                       hemstitch_stream stream) {
  cuda::need_device();
  const ParseTemp temp(batch, parse, d_temp);
  cuda::check_scratch("parse", temp.carver.bytes(), d_temp, temp_bytes);
  temp.layout.lay_out(temp.d_first, parse.plan, lists.d_first_sequences, d_statuses, stream);
  const DeviceBlocks blocks = temp.layout.blocks();
  const cuda::DeviceSequences sequences{reinterpret_cast<Sequence*>(lists.d_sequences), lists.d_counts,
                                        lists.d_total};
  std::visit(
      [&](const auto& any) {
        cuda::parse(any, blocks, d_candidates, parse.plan, sequences, temp.d_parse, temp.parse_bytes, stream);
      },
      parse.parse);
}

}  // namespace hemstitch
