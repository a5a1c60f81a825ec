#include "parse/optimal/cost_table.hpp"

#include <algorithm>

#include "match/common/parameter_check.hpp"

namespace hemstitch {

void check_cost_table(const CostTable& table) {
  check_parameter("optimal", "number of lengths", table.lengths.size(), 1, 65536);
  check_parameter("optimal", "literal", table.literal, 0, CostTable::kMostPrice);
  for (const std::uint32_t price : table.lengths)
    check_parameter("optimal", "length's price", price, 0, CostTable::kMostPrice);
  for (const std::uint32_t price : table.offsets)
    check_parameter("optimal", "offset's price", price, 0, CostTable::kMostPrice);
}

}  // namespace hemstitch
