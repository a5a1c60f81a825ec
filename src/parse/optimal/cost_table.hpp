// Costs from a table: for formats that give lengths and offsets codes of different sizes.
//
// A literal has one price. A match has a price for the class of its length, and another one for the class of its
// offset. The parse tries a match's full length and the three lengths below it.
//
// A format says what its classes are. Those of CostTable: every length is a class of its own. Offsets have 0 for
// 1, 1 for 2, and then two classes for each power of two that (offset - 1) reaches (2 for 3, 3 for 4, 4 for 5 and
// 6, 5 for 7 and 8, 6 for 9 to 12, ..., 31 for the last quarter of those up to 65536).
//
// Prices are sixteenths of a bit. Devices read them from a buffer that holds words().
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cost_model.hpp"

namespace hemstitch {

inline constexpr std::size_t kOffsetClassCount = 32;

// `offset` is 1 to 65536.
constexpr std::uint32_t offset_class(std::uint32_t offset) {
  const std::uint32_t distance = offset - 1;
  if (distance < 2) return distance;
  const auto log = static_cast<std::uint32_t>(std::bit_width(distance)) - 1;
  return 2 * log + (distance >> (log - 1) & 1);
}
static_assert(offset_class(3) == 2 && offset_class(6) == 4 && offset_class(7) == 5 &&
              offset_class(65536) == 31);

struct HalfPowerClasses {
  static constexpr std::size_t kOffsetClassCount = hemstitch::kOffsetClassCount;
  static constexpr std::uint32_t of_offset(std::uint32_t offset) { return offset_class(offset); }
  static constexpr std::uint32_t of_length(std::uint32_t length) { return length; }
};

template <typename Classes>
struct BasicCostTable {
  // The highest price: 4096 bits. With it, the costs of 1280 literals, and three more bits, fit into 32
  // bits.
  static constexpr std::uint32_t kMostPrice = 4096 * kCostUnitsPerBit;

  std::uint32_t literal = 0;
  std::array<std::uint32_t, Classes::kOffsetClassCount> offsets = {};
  std::vector<std::uint32_t> lengths = {0};  // of each class; higher ones cost as much as the last

  std::uint32_t literal_cost() const { return literal; }
  std::uint32_t match_cost(std::uint32_t length) const {
    const std::uint32_t its_class = Classes::of_length(length);
    return its_class < lengths.size() ? lengths[its_class] : lengths.back();
  }
  std::uint32_t offset_cost(std::uint32_t offset) const { return offsets[Classes::of_offset(offset)]; }
  unsigned tried_length_count() const { return 4; }
  std::uint32_t tried_length(std::uint32_t full_length, unsigned index) const {
    return full_length > index ? full_length - index : 0;
  }

  // In the layout that cost_table.wgsl reads.
  std::vector<std::uint32_t> words() const {
    std::vector<std::uint32_t> all = {literal, static_cast<std::uint32_t>(lengths.size() - 1)};
    all.insert(all.end(), offsets.begin(), offsets.end());
    all.insert(all.end(), lengths.begin(), lengths.end());
    return all;
  }
};

using CostTable = BasicCostTable<HalfPowerClasses>;

// Throws kInvalidOption if the table has no lengths, or a price above kMostPrice.
void check_cost_table(const CostTable& table);

}  // namespace hemstitch
