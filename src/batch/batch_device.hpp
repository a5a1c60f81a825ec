// The device's part of the batch interface, with checked options and the types of the stages. Builds with CUDA
// have batch_cuda.cpp and long_stream_cuda.cpp, others stubs that throw kDeviceUnavailable
// (cmake/no_device_stubs.cmake).
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/block_plan.hpp"
#include "format/batch_format.hpp"
#include "format/lz4/compress/lz4_cost.hpp"
#include "hemstitch/batch.h"
#include "match/finder_rows.hpp"
#include "parse/parse_rows.hpp"

namespace hemstitch {

struct BatchParse {
  std::variant<AnyParse<FullLengthCostModel>, AnyParse<Lz4CostModel>> parse;
  BlockPlan plan;
};

// Like the functions of the same names in batch.h, but they throw Error.
std::size_t batch_find_temp_bytes(const hemstitch_batch& batch, const AnyFinder& finder);
void batch_find_async(const hemstitch_batch& batch, const AnyFinder& finder,
                      hemstitch_candidate* d_candidates, std::uint64_t* d_first, hemstitch_status* d_statuses,
                      void* d_temp, std::size_t temp_bytes, hemstitch_stream stream);

struct BatchLists {
  hemstitch_sequence* d_sequences;
  std::uint64_t* d_first_sequences;
  std::uint32_t* d_counts;
  std::uint64_t* d_total;
};

std::size_t batch_parse_temp_bytes(const hemstitch_batch& batch, const BatchParse& parse);
void batch_parse_async(const hemstitch_batch& batch, const BatchParse& parse,
                       const hemstitch_candidate* d_candidates, const BatchLists& lists,
                       hemstitch_status* d_statuses, void* d_temp, std::size_t temp_bytes,
                       hemstitch_stream stream);

// For a format that restores long streams.
std::size_t batch_long_stream_temp_bytes(Format format, std::uint64_t stream_bytes, std::uint64_t capacity);
// Returns the status of the stream.
Status batch_long_stream_restore(Format format, const std::byte* d_data, std::uint64_t stream_bytes,
                                 std::byte* d_output, std::uint64_t capacity, std::uint64_t& output_bytes,
                                 BatchTemp temp, hemstitch_stream stream);

}  // namespace hemstitch
