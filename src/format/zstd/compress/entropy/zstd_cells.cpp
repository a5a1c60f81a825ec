#include "format/zstd/compress/entropy/zstd_cells.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "format/zstd/compress/entropy/zstd_bit_writer.hpp"

namespace hemstitch {
namespace {

std::uint64_t sum_of(std::span<const std::uint32_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// The first of the largest.
template <class Range>
auto& largest_in(Range&& range) {
  return *std::max_element(range.begin(), range.end());
}

}  // namespace

unsigned zstd_table_log(std::span<const std::uint32_t> counts, unsigned most_log) {
  const auto used = static_cast<std::size_t>(
      std::count_if(counts.begin(), counts.end(), [](std::uint32_t count) { return count != 0; }));
  const auto usual = static_cast<int>(std::bit_width(sum_of(counts))) - 1 - 2;
  const auto enough = static_cast<int>(std::bit_width(used - 1));
  return std::min(most_log, static_cast<unsigned>(std::max({usual, enough, int{kZstdLeastTableLog}})));
}

std::vector<std::int16_t> share_zstd_cells(std::span<const std::uint32_t> counts, unsigned log) {
  while (counts.back() == 0) counts = counts.first(counts.size() - 1);
  const std::uint64_t sum = sum_of(counts);
  std::vector<std::int16_t> cells(counts.size());
  int left = 1 << log;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] == 0) continue;
    const auto share = static_cast<std::int16_t>((std::uint64_t{counts[symbol]} << log) / sum);
    cells[symbol] = std::max<std::int16_t>(share, 1);
    left -= cells[symbol];
  }
  if (left > 0) {
    const auto most_frequent = std::max_element(counts.begin(), counts.end()) - counts.begin();
    cells[static_cast<std::size_t>(most_frequent)] += static_cast<std::int16_t>(left);
  }
  for (; left < 0; ++left) --largest_in(cells);
  return cells;
}

std::vector<std::byte> describe_zstd_table(std::span<const std::int16_t> cells, unsigned log) {
  std::vector<std::byte> description;
  ZstdBitWriter bits(description);
  bits.put(log - kZstdLeastTableLog, 4);
  std::uint32_t remaining = (1U << log) + 1;  // what is left to share out, and 1
  for (std::size_t symbol = 0; remaining > 1; ++symbol) {
    // A value up to `remaining`: the lowest ones take a bit less than the others.
    const auto value = static_cast<std::uint32_t>(cells[symbol] + 1);
    const auto width = static_cast<unsigned>(std::bit_width(remaining));
    const std::uint32_t half = 1U << (width - 1), short_values = 2 * half - 1 - remaining;
    if (value < short_values)
      bits.put(value, width - 1);
    else
      bits.put(value < half ? value : value + short_values, width);
    remaining -= static_cast<std::uint32_t>(cells[symbol]);
    if (cells[symbol] != 0) continue;
    // Two bits say how many more zeros follow; 3 means that two more bits come.
    std::uint32_t zeros = 0;
    while (cells[symbol + 1] == 0) ++symbol, ++zeros;
    for (; zeros >= 3; zeros -= 3) bits.put(3, 2);
    bits.put(zeros, 2);
  }
  bits.end();
  return description;
}

}  // namespace hemstitch
