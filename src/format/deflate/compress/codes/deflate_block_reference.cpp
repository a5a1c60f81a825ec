#include <algorithm>

#include "format/deflate/compress/codes/deflate_block.hpp"

namespace hemstitch {
namespace {

// Writes code lengths for symbols with these frequencies.
void make_lengths(const std::uint32_t* frequencies, std::uint32_t symbol_count, std::uint32_t max_bits,
                  std::uint8_t* lengths) {
  std::array<std::uint32_t, kDeflateLitlenCount> keys;
  const std::uint32_t key_count = deflate_sort_keys(frequencies, symbol_count, keys.data());
  std::sort(keys.begin(), keys.begin() + key_count);
  std::fill_n(lengths, symbol_count, std::uint8_t{0});
  deflate_code_lengths(keys.data(), key_count, max_bits, lengths);
}

DeflateBlock make_dynamic_block(const DeflateHistogram& histogram) {
  DeflateBlock block;
  block.type = DeflateBlockType::kDynamic;
  auto litlen = histogram.litlen;
  litlen[kDeflateEndOfBlock] = 1;
  make_lengths(litlen.data(), kDeflateLitlenCount, kDeflateMaxCodeBits, block.lengths.litlen.data());
  make_lengths(histogram.distance.data(), kDeflateDistanceCount, kDeflateMaxCodeBits,
               block.lengths.distance.data());
  std::array<std::uint32_t, kDeflatePrecodeCount> item_frequencies;
  deflate_begin_header(block.lengths.litlen.data(), block.lengths.distance.data(), block.header,
                       item_frequencies.data());
  make_lengths(item_frequencies.data(), kDeflatePrecodeCount, kDeflateMaxPrecodeBits,
               block.header.precode_bits);
  deflate_end_header(block.header);
  block.bits = kDeflateBlockHeadBits + block.header.bits + block.lengths.token_bits(histogram);
  return block;
}

}  // namespace

std::uint64_t DeflateCodeLengths::token_bits(const DeflateHistogram& histogram) const {
  std::uint64_t bits = litlen[kDeflateEndOfBlock];
  for (std::uint32_t symbol = 0; symbol < kDeflateLitlenCount; ++symbol) {
    const std::uint32_t extra_bits =
        symbol < kDeflateFirstLengthSymbol ? 0 : deflate_length_extra_bits(symbol);
    bits += std::uint64_t{histogram.litlen[symbol]} * (litlen[symbol] + extra_bits);
  }
  for (std::uint32_t symbol = 0; symbol < kDeflateDistanceCount; ++symbol)
    bits +=
        std::uint64_t{histogram.distance[symbol]} * (distance[symbol] + deflate_distance_extra_bits(symbol));
  return bits;
}

const DeflateCodeLengths& deflate_fixed_lengths() {
  static const DeflateCodeLengths fixed = [] {
    DeflateCodeLengths lengths;
    for (std::uint32_t symbol = 0; symbol < kDeflateFixedLitlenCount; ++symbol)
      lengths.litlen[symbol] = static_cast<std::uint8_t>(deflate_fixed_litlen_bits(symbol));
    lengths.distance.fill(kDeflateFixedDistanceBits);
    return lengths;
  }();
  return fixed;
}

DeflateBlock choose_deflate_block(const DeflateHistogram& histogram, std::uint64_t content_bytes) {
  DeflateBlock best = make_dynamic_block(histogram);
  const std::uint64_t fixed_bits = kDeflateBlockHeadBits + deflate_fixed_lengths().token_bits(histogram);
  if (fixed_bits <= best.bits) best = {DeflateBlockType::kFixed, fixed_bits, deflate_fixed_lengths(), {}};
  const std::uint64_t stored_bits =
      kDeflateStoredHeadBits * deflate_stored_block_count(content_bytes) + 8 * content_bytes;
  if (stored_bits <= best.bits) {
    best.type = DeflateBlockType::kStored;
    best.bits = stored_bits;
  }
  return best;
}

}  // namespace hemstitch
