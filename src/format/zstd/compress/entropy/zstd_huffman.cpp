#include "format/zstd/compress/entropy/zstd_huffman.hpp"

#include <algorithm>

#include "format/deflate/block/deflate_codes.hpp"
#include "format/zstd/compress/entropy/zstd_bit_writer.hpp"
#include "format/zstd/compress/entropy/zstd_cells.hpp"
#include "format/zstd/compress/entropy/zstd_state_writer.hpp"
#include "format/zstd/restore/zstd_tables.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kWeightValues = kZstdMostLiteralBits + 1;

std::vector<std::uint8_t> weights_of(const ZstdHuffmanCode& code) {
  const unsigned longest = *std::max_element(code.lengths.begin(), code.lengths.end());
  std::size_t last = kZstdByteValues - 1;
  while (code.lengths[last] == 0) --last;
  std::vector<std::uint8_t> weights(last);
  for (std::size_t byte = 0; byte < last; ++byte)
    if (code.lengths[byte] != 0) weights[byte] = static_cast<std::uint8_t>(longest + 1 - code.lengths[byte]);
  return weights;
}

// Two states take turns. The stream ends where a state lacks bits: the last two symbols come from the states in
// which they begin here.
std::vector<std::byte> code_weights(std::span<const std::uint8_t> weights,
                                    std::span<const std::uint32_t> counts, unsigned log) {
  const std::vector<std::int16_t> cells = share_zstd_cells(counts, log);
  std::vector<std::byte> coded = describe_zstd_table(cells, log);
  ZstdBitWriter bits(coded);
  const ZstdTable table = make_zstd_table(cells, log);
  std::array<ZstdStateWriter, 2> states{ZstdStateWriter(table), ZstdStateWriter(table)};
  for (std::size_t i = weights.size(); i-- > 0;) {
    if (i + 2 >= weights.size())
      states[i % 2].begin(weights[i]);
    else
      states[i % 2].go_back(weights[i], bits);
  }
  states[1].end(bits);
  states[0].end(bits);
  bits.end_backward();
  return coded;
}

}  // namespace

ZstdHuffmanCode make_zstd_huffman(const ZstdByteCounts& counts) {
  std::array<std::uint32_t, kZstdByteValues> keys;
  const std::uint32_t key_count = deflate_sort_keys(counts.data(), kZstdByteValues, keys.data());
  std::sort(keys.begin(), keys.begin() + key_count);
  ZstdHuffmanCode code;
  deflate_code_lengths(keys.data(), key_count, kZstdMostLiteralBits, code.lengths.data());
  std::uint32_t next = 0;
  for (unsigned length = kZstdMostLiteralBits; length > 0; --length, next >>= 1)
    for (std::size_t byte = 0; byte < kZstdByteValues; ++byte)
      if (code.lengths[byte] == length) code.codes[byte] = static_cast<std::uint16_t>(next++);
  return code;
}

std::vector<std::byte> describe_zstd_huffman(const ZstdHuffmanCode& code) {
  const std::vector<std::uint8_t> weights = weights_of(code);
  std::vector<std::byte> best;
  if (weights.size() <= kZstdMostDirectWeights) {
    best.assign(1 + (weights.size() + 1) / 2, std::byte{0});
    best[0] = static_cast<std::byte>(127 + weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      best[1 + i / 2] |= static_cast<std::byte>(i % 2 == 0 ? weights[i] << 4 : weights[i]);
  }
  std::array<std::uint32_t, kWeightValues> counts{};
  for (const std::uint8_t weight : weights) ++counts[weight];
  if (std::count(counts.begin(), counts.end(), 0U) + 1 == kWeightValues) return best;
  for (const unsigned log : kZstdWeightLogs) {
    const std::vector<std::byte> coded = code_weights(weights, counts, log);
    if (coded.size() >= kZstdMostDirectWeights || (!best.empty() && 1 + coded.size() >= best.size()))
      continue;
    best.assign(1, static_cast<std::byte>(coded.size()));
    best.insert(best.end(), coded.begin(), coded.end());
  }
  return best;
}

}  // namespace hemstitch
