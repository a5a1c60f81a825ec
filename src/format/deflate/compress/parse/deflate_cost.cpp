#include "format/deflate/compress/parse/deflate_cost.hpp"

namespace hemstitch {
namespace {

// `length_bits` and `distance_bits` return the bits of a symbol, without extra bits.
template <typename LengthBits, typename DistanceBits>
void set_match_costs(const LengthBits& length_bits, const DistanceBits& distance_bits, DeflateCosts& costs) {
  for (std::uint32_t length = kDeflateMinMatchBytes; length <= kDeflateMaxMatchBytes; ++length) {
    const std::uint32_t symbol = deflate_length_symbol(length);
    costs.lengths[length] = (length_bits(symbol) + deflate_length_extra_bits(symbol)) * kCostUnitsPerBit;
  }
  for (std::uint32_t symbol = 0; symbol < kDeflateDistanceCount; ++symbol)
    costs.distances[symbol] =
        (distance_bits(symbol) + deflate_distance_extra_bits(symbol)) * kCostUnitsPerBit;
}

}  // namespace

DeflateCosts deflate_prior_costs() {
  DeflateCosts costs;
  costs.literals.fill(kDeflatePriorLiteralBits * kCostUnitsPerBit);
  set_match_costs([](std::uint32_t symbol) { return deflate_prior_length_bits(symbol); },
                  [](std::uint32_t) { return kDeflatePriorDistanceBits; }, costs);
  return costs;
}

DeflateCosts deflate_costs_of(const DeflateCodeLengths& lengths) {
  DeflateCosts costs;
  for (std::size_t literal = 0; literal < costs.literals.size(); ++literal)
    costs.literals[literal] =
        deflate_bits_or(lengths.litlen[literal], kDeflateUnusedLiteralBits) * kCostUnitsPerBit;
  set_match_costs(
      [&](std::uint32_t symbol) { return deflate_bits_or(lengths.litlen[symbol], kDeflateUnusedLengthBits); },
      [&](std::uint32_t symbol) {
        return deflate_bits_or(lengths.distance[symbol], kDeflateUnusedDistanceBits);
      },
      costs);
  return costs;
}

}  // namespace hemstitch
