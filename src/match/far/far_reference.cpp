#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/between_pieces.hpp"
#include "core/bytes.hpp"
#include "match/common/common_length.hpp"
#include "match/common/hash_word.hpp"
#include "match/common/parameter_check.hpp"
#include "match/far/far.hpp"
#include "match/far/far_hash.hpp"
#include "match/stitch/stitch.hpp"
#include "match/stitch/stitch_wide.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::uint32_t kMostWays = 64, kMostGridBytes = 64, kMostFarWindowBytes = (1U << 31) - 1;
constexpr unsigned kMostFarHashBits = 24;

class FarTable {
 public:
  FarTable(const FinderInput& input, const FarParameters& parameters)
      : input_(input),
        parameters_(parameters),
        places_((std::size_t{1} << parameters.hash_bits) * parameters.ways),
        grid_begin_(input.history_bytes % parameters.grid_bytes),
        entered_(grid_begin_) {}

  // Enters all positions of the data below `end` that were not entered yet.
  void enter_up_to(std::size_t end) {
    for (; entered_ < end; entered_ += parameters_.grid_bytes)
      if (has_hash(entered_))
        bucket_of(entered_)[way_of(entered_)] = static_cast<std::uint32_t>(entered_) + 1;
  }

  Match best_for(std::size_t position) const {
    Match best;
    if (!has_hash(position)) return best;
    const std::uint32_t* const bucket = bucket_of(position);
    const std::byte* const here = input_.data.data() + position;
    const std::size_t limit = std::min<std::size_t>(parameters_.cap_bytes, input_.data.size() - position);
    for (std::uint32_t way = 0; way < parameters_.ways; ++way) {
      if (bucket[way] == 0) continue;
      const std::size_t offset = position - (bucket[way] - 1);
      if (offset > parameters_.window_bytes) continue;
      const Match found{static_cast<std::uint32_t>(offset),
                        static_cast<std::uint32_t>(common_length(here, here - offset, limit))};
      if (found.length >= parameters_.hash_bytes && better_match(found, best)) best = found;
    }
    return best;
  }

 private:
  bool has_hash(std::size_t position) const {
    return position + parameters_.hash_bytes <= input_.data.size();
  }
  std::size_t bucket_index(std::size_t position) const {
    const std::size_t left = input_.data.size() - position;
    std::uint64_t word = 0;
    if (left >= kWordBytes)
      word = load_le64(input_.data.data() + position);
    else
      for (std::size_t i = 0; i < left; ++i)
        word |= static_cast<std::uint64_t>(input_.data[position + i]) << (8 * i);
    const std::uint64_t product = far_product(word & far_mask(parameters_.hash_bytes));
    return static_cast<std::size_t>(product >> (64 - parameters_.hash_bits)) * parameters_.ways;
  }
  std::uint32_t* bucket_of(std::size_t position) { return &places_[bucket_index(position)]; }
  const std::uint32_t* bucket_of(std::size_t position) const { return &places_[bucket_index(position)]; }
  // Which way is called the first does not matter: the same positions share places.
  std::size_t way_of(std::size_t position) const {
    return position / parameters_.grid_bytes % parameters_.ways;
  }

  const FinderInput& input_;
  const FarParameters& parameters_;
  std::vector<std::uint32_t> places_;  // a position in the data, plus 1; 0: none
  std::size_t grid_begin_;
  std::size_t entered_;
};

void check_power_of_two(std::string_view field, std::uint32_t value, std::uint32_t most) {
  check_parameter("far", field, value, 1, most);
  // The next power below is what the value must be.
  check_parameter("far", field, value, std::bit_floor(value), std::bit_floor(value));
}

}  // namespace

void check_far_parameters(const FarParameters& parameters) {
  check_parameter("far", "hash_bits", parameters.hash_bits, kMinHashBits, kMostFarHashBits);
  check_parameter("far", "hash_bytes", parameters.hash_bytes, kHashedBytes, kMostHashedBytes);
  check_power_of_two("ways", parameters.ways, kMostWays);
  check_power_of_two("grid_bytes", parameters.grid_bytes, kMostGridBytes);
  check_parameter("far", "window_bytes", parameters.window_bytes, 1, kMostFarWindowBytes);
  check_parameter("far", "cap_bytes", parameters.cap_bytes, parameters.hash_bytes, kMaxRecordLength);
  check_parameter("far", "stitch_reach", parameters.stitch_reach, 1, kMostStitchReach);
  check_parameter("far", "generation_bytes", parameters.generation_bytes, parameters.grid_bytes,
                  kMostFarWindowBytes);
  check_parameter("far", "generation_bytes modulo grid_bytes",
                  parameters.generation_bytes % parameters.grid_bytes, 0, 0);
}

WideRecords find_far(const FinderInput& input, const FarParameters& parameters) {
  check_far_parameters(parameters);
  check_parameter("far", "history_bytes", input.history_bytes, 0, input.data.size());
  check_parameter("far", "data bytes", input.data.size(), 0, std::numeric_limits<std::uint32_t>::max() - 1);
  WideRecords records(input.block_bytes());
  // Nothing is in the table for the first generation of data without history.
  if (input.data.size() <= parameters.generation_bytes && input.history_bytes == 0) return records;

  FarTable table(input, parameters);
  PositionCount positions;
  for (std::size_t begin = 0; begin < records.size(); begin += parameters.generation_bytes) {
    table.enter_up_to(input.history_bytes + begin);
    const std::size_t end = std::min<std::size_t>(begin + parameters.generation_bytes, records.size());
    for (std::size_t position = begin; position < end; ++position, positions.next())
      records[position] = table.best_for(input.history_bytes + position);
  }
  stitch_matches(input, parameters.stitch_reach, records);
  return records;
}

}  // namespace hemstitch
