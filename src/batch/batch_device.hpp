// The device's part of the batch interface, with checked options and the types of the stages. Every build has
// one of batch_cuda.cpp and batch_no_device.cpp; the latter throws kDeviceUnavailable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "core/block_plan.hpp"
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

}  // namespace hemstitch
