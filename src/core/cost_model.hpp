// What a parse assumes that literals and matches cost in the encoded block.
// Integers in sixteenths of a bit, so that no rounding of a processor ever decides a byte.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kCostUnitsPerBit = 16;

// The flat model of founding document 000 (docs/founding.md): every literal 9 bits, every match 25 bits.
struct CostModel {
  std::uint32_t literal_cost_bits = 9;
  std::uint32_t match_fixed_cost_bits = 25;

  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t literal_cost() const {
    return literal_cost_bits * kCostUnitsPerBit;
  }
  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t match_cost(std::uint32_t /*length*/) const {
    return match_fixed_cost_bits * kCostUnitsPerBit;
  }
};

}  // namespace hemstitch
