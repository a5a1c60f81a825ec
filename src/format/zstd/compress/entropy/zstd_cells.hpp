// From how often symbols occur to the cells of an FSE table, and to the table's description (RFC 8878, section 4.1.1). Together with
// zstd_log2.hpp and zstd_table_choice.hpp this defines the tables that we write.
//
// Log. 2^log cells with log = floor(log2(number of symbols)) - 2, but at least 5, at least so many that each value that occurs has a cell, and
// at most what the format allows for the kind of code. (To try every log gains less than 0.01 %.)
//
// Cells. A value that occurs f times among n has floor(f * 2^log / n) cells, but at least one. Cells that are left go to the value that occurs
// most often, of equal ones the smallest. If there are too many, then one is taken from the value with the most cells, of equal ones the
// smallest, until it fits. No probability of "less than one cell" is written. (The best shares would gain 0.02 %.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hemstitch {

inline constexpr unsigned kZstdLeastTableLog = 5;

// At least one of `counts` is not 0.
unsigned zstd_table_log(std::span<const std::uint32_t> counts, unsigned most_log);

// The cells of each symbol, up to the last one that occurs. There are no more of these than 2^log.
std::vector<std::int16_t> share_zstd_cells(std::span<const std::uint32_t> counts, unsigned log);

// Describes a table; `cells` are at least two symbols', whose sum is 2^log.
std::vector<std::byte> describe_zstd_table(std::span<const std::int16_t> cells, unsigned log);

}  // namespace hemstitch
