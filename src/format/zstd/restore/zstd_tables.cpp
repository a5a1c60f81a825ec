#include "format/zstd/restore/zstd_tables.hpp"

#include <algorithm>
#include <bit>

#include "format/zstd/restore/zstd_bits.hpp"

namespace hemstitch {
namespace {

constexpr unsigned kLeastLog = 5;
// The RFC allows codes of 11 bits (4.2.1); libzstd reads 12.
constexpr unsigned kMostCodeBits = 12;
constexpr unsigned kMostWeightLog = 6;
constexpr unsigned kMostCodedWeight = 11;
constexpr std::size_t kMostWeights = 255;  // without the last one, which is not given

template <class Probability>
ZstdTable spread(std::span<const Probability> probabilities, unsigned log) {
  const std::size_t size = std::size_t{1} << log;
  ZstdTable table{log, std::vector<ZstdCell>(size)};
  std::vector<std::uint32_t> next(probabilities.size());
  // What is rarer than one cell has one at the end.
  std::size_t end = size;
  for (std::size_t symbol = 0; symbol < probabilities.size(); ++symbol)
    if (probabilities[symbol] == -1) {
      table.cells[--end].symbol = static_cast<std::uint8_t>(symbol);
      next[symbol] = 1;
    }
  const std::size_t step = (size >> 1) + (size >> 3) + 3;
  std::size_t at = 0;
  for (std::size_t symbol = 0; symbol < probabilities.size(); ++symbol) {
    if (probabilities[symbol] <= 0) continue;
    next[symbol] = static_cast<std::uint32_t>(int{probabilities[symbol]});
    for (int i = 0; i < probabilities[symbol]; ++i) {
      table.cells[at].symbol = static_cast<std::uint8_t>(symbol);
      do at = (at + step) & (size - 1);
      while (at >= end);
    }
  }
  for (ZstdCell& cell : table.cells) {
    const std::uint32_t state = next[cell.symbol]++;
    cell.bits = static_cast<std::uint8_t>(log + 1 - static_cast<unsigned>(std::bit_width(state)));
    cell.base = static_cast<std::uint16_t>((state << cell.bits) - size);
  }
  return table;
}

// The weights of all symbols but the last one (4.2.1).
ZstdHuffman huffman_of(std::vector<std::uint8_t> weights) {
  std::uint32_t sum = 0;
  for (const unsigned weight : weights) {
    require_zstd(weight <= kMostCodeBits, "a Huffman code is too long (4.2.1)");
    if (weight != 0) sum += 1U << (weight - 1);
  }
  require_zstd(sum != 0, "all weights of a Huffman table are 0 (4.2.1)");
  const auto most_bits = static_cast<unsigned>(std::bit_width(sum));
  require_zstd(most_bits <= kMostCodeBits, "a Huffman code is too long (4.2.1)");
  const std::uint32_t rest = (1U << most_bits) - sum;
  require_zstd(std::has_single_bit(rest), "the weights of a Huffman table do not add up (4.2.1)");
  weights.push_back(static_cast<std::uint8_t>(std::bit_width(rest)));
  const auto longest = std::count(weights.begin(), weights.end(), 1);
  require_zstd(longest >= 2 && longest % 2 == 0, "the longest Huffman codes are no pairs (4.2.1)");
  ZstdHuffman table{most_bits, std::vector<ZstdHuffman::Entry>(std::size_t{1} << most_bits)};
  auto at = table.entries.begin();
  for (unsigned weight = 1; weight <= most_bits; ++weight)
    for (std::size_t symbol = 0; symbol < weights.size(); ++symbol)
      if (weights[symbol] == weight)
        at = std::fill_n(at, std::size_t{1} << (weight - 1),
                         ZstdHuffman::Entry{static_cast<std::uint8_t>(symbol),
                                            static_cast<std::uint8_t>(most_bits + 1 - weight)});
  return table;
}

// Weights as symbols of FSE, in two interleaved states (4.2.1.2). The stream ends where a state lacks bits;
// the other state then gives the last weight.
std::vector<std::uint8_t> read_weights(std::span<const std::byte> section) {
  constexpr std::string_view kTooMany = "a Huffman table has too many weights (4.2.1.2)";
  std::size_t table_bytes = 0;
  const ZstdTable table = read_zstd_table(section, kMostWeightLog, kMostWeights, table_bytes);
  require_zstd(std::all_of(table.cells.begin(), table.cells.end(),
                           [](const ZstdCell& cell) { return cell.symbol <= kMostCodedWeight; }),
               "a Huffman table codes weights above 11 (4.2.1.2)");
  ZstdBackwardBits bits(section.subspan(table_bytes));
  std::size_t states[2];
  for (std::size_t& state : states) state = bits.take(table.log);
  require_zstd(bits.left() >= 0, "the weights of a Huffman table are cut off (4.2.1.2)");
  std::vector<std::uint8_t> weights;
  for (std::size_t turn = 0;; turn ^= 1) {
    const ZstdCell& cell = table.cells[states[turn]];
    require_zstd(weights.size() + 1 < kMostWeights, kTooMany);
    weights.push_back(cell.symbol);
    states[turn] = cell.base + bits.take(cell.bits);
    if (bits.left() >= 0) continue;
    weights.push_back(table.cells[states[turn ^ 1]].symbol);
    return weights;
  }
}

}  // namespace

ZstdTable make_zstd_table(std::span<const std::int8_t> probabilities, unsigned log) {
  return spread(probabilities, log);
}
ZstdTable make_zstd_table(std::span<const std::int16_t> probabilities, unsigned log) {
  return spread(probabilities, log);
}

ZstdTable make_zstd_rle_table(std::uint8_t symbol) { return {0, {{symbol, 0, 0}}}; }

// 4.1.1
ZstdTable read_zstd_table(std::span<const std::byte> bytes, unsigned most_log, unsigned most_symbol,
                          std::size_t& used_bytes) {
  constexpr std::string_view kCutOff = "an FSE table is cut off (4.1.1)";
  constexpr std::string_view kTooManySymbols = "an FSE table has too many symbols (4.1.1)";
  ZstdForwardBits bits(bytes);
  const unsigned log = bits.take(4) + kLeastLog;
  require_zstd(log <= most_log, "an FSE table is too large (4.1.1)");
  std::vector<std::int16_t> probabilities;
  int remaining = (1 << log) + 1;  // what is left to share out, and 1
  bool was_zero = false;
  while (remaining > 1) {
    // Two bits after a 0 say how many more follow; 3 means that two more bits come.
    for (std::uint32_t zeros = 3; was_zero && zeros == 3;) {
      zeros = bits.take(2);
      probabilities.insert(probabilities.end(), zeros, std::int16_t{0});
      require_zstd(probabilities.size() <= most_symbol + 1, kTooManySymbols);
      require_zstd(bits.used_bytes() <= bytes.size(), kCutOff);
    }
    require_zstd(probabilities.size() <= most_symbol, kTooManySymbols);
    // A value up to `remaining`: the lowest ones take a bit less than the others.
    const auto width = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(remaining)));
    const int half = 1 << (width - 1);
    const int short_values = 2 * half - 1 - remaining;
    int value = static_cast<int>(bits.peek(width));
    if ((value & (half - 1)) < short_values) {
      value &= half - 1;
      bits.skip(width - 1);
    } else {
      if (value >= half) value -= short_values;
      bits.skip(width);
    }
    const int probability = value - 1;
    remaining -= probability < 0 ? 1 : probability;
    probabilities.push_back(static_cast<std::int16_t>(probability));
    was_zero = probability == 0;
    require_zstd(bits.used_bytes() <= bytes.size(), kCutOff);
  }
  require_zstd(remaining == 1, "the probabilities of an FSE table do not add up (4.1.1)");
  used_bytes = bits.used_bytes();
  return make_zstd_table(probabilities, log);
}

// 4.2.1
ZstdHuffman read_zstd_huffman(std::span<const std::byte> bytes, std::size_t& used_bytes) {
  constexpr std::string_view kCutOff = "a Huffman table is cut off (4.2.1)";
  constexpr unsigned kFirstDirect = 128;
  require_zstd(!bytes.empty(), kCutOff);
  const auto head = static_cast<unsigned>(bytes[0]);
  if (head < kFirstDirect) {
    used_bytes = 1 + head;
    require_zstd(used_bytes <= bytes.size(), kCutOff);
    return huffman_of(read_weights(bytes.subspan(1, head)));
  }
  // Half bytes, the higher one first (4.2.1.1).
  const std::size_t count = head - kFirstDirect + 1;
  used_bytes = 1 + (count + 1) / 2;
  require_zstd(used_bytes <= bytes.size(), kCutOff);
  std::vector<std::uint8_t> weights(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto pair = static_cast<std::uint8_t>(bytes[1 + i / 2]);
    weights[i] = i % 2 == 0 ? pair >> 4 : pair & 15;
  }
  return huffman_of(std::move(weights));
}

}  // namespace hemstitch
