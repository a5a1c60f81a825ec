// Prices for parses of DEFLATE chunks on devices, and what the twin makes of a chunk by them.
#pragma once

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "format/deflate/compress/deflate_chunk.hpp"
#include "format/deflate/compress/parse/deflate_cost.hpp"
#include "format/deflate/compress/parse/deflate_device_costs.hpp"
#include "parse/optimal/optimal_reference.hpp"

namespace hemstitch::testing {

inline DeflateDeviceCosts device_costs(const DeflateCosts& costs) {
  DeflateDeviceCosts device{};
  const auto bits = [](std::uint32_t cost) { return static_cast<std::uint8_t>(cost / kCostUnitsPerBit); };
  std::ranges::transform(costs.literals, device.literals, bits);
  std::ranges::transform(costs.lengths, device.lengths, bits);
  std::ranges::transform(costs.distances, device.distances, bits);
  return device;
}

inline DeflateCosts twin_costs(const DeflateDeviceCosts& device) {
  DeflateCosts costs;
  const auto units = [](std::uint8_t bits) { return bits * kCostUnitsPerBit; };
  std::transform(device.literals, device.literals + costs.literals.size(), costs.literals.begin(), units);
  std::transform(device.lengths, device.lengths + costs.lengths.size(), costs.lengths.begin(), units);
  std::transform(device.distances, device.distances + costs.distances.size(), costs.distances.begin(), units);
  return costs;
}

// From 0 to `most` bits each; many positions have several edges of equal cost where that is little.
inline DeflateDeviceCosts random_costs(std::uint32_t seed, std::uint32_t most = kDeflateMostPriceBits) {
  std::mt19937 random(seed);
  DeflateDeviceCosts costs;
  const auto price = [&] { return static_cast<std::uint8_t>(random() % (most + 1)); };
  std::ranges::generate(costs.literals, price);
  std::ranges::generate(costs.lengths, price);
  std::ranges::generate(costs.distances, price);
  return costs;
}

// `costs` is one for the chunk, or one for each unit.
inline std::vector<Sequence> parse_deflate_chunk(std::span<const std::byte> content,
                                                 std::span<const MatchRecord> records,
                                                 std::span<const std::uint16_t> near_offsets,
                                                 std::span<const DeflateDeviceCosts> costs) {
  std::vector<DeflateCosts> models;
  for (const DeflateDeviceCosts& one : costs) models.push_back(twin_costs(one));
  const std::vector<MatchRecord> near = deflate_near_records(content, near_offsets);
  return parse_optimal_by_segments({records, deflate_block_plan(), content, near},
                                   [&](std::size_t begin) -> const DeflateCosts& {
                                     return models[models.size() == 1 ? 0 : begin / kDeflateSplitUnitBytes];
                                   });
}

}  // namespace hemstitch::testing
