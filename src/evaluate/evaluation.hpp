// How good a finder is on a file: the five criteria of founding document 000 (docs/founding.md).
//
// A finder is judged by what a perfect parse makes of its matches, under the document's flat prices (a
// literal 9 bits, a match 25). Costs are given as a part of the input's own bits: 1.0 is raw, "c9" in the
// records. Two parses:
//   full         optimal_exact, each candidate at its full length or not at all: the measure by which finders
//                are compared
//   all lengths  each candidate at any length from min_match_len on. Since all matches cost the same, the
//                longest match of each position makes this the optimum over every choice of matches that the
//                offsets allow.
// With a format they are judged by its costs instead: its own parse takes the matches, at the lengths that it tries, and the cost is the size of
// the blocks that are written with them. Optima keep to the format's lengths and offsets then.
//
// Whole files are one block, and every offset that a finder has stays inside its window, which slides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluate/finder_choice.hpp"
#include "format/format.hpp"
#include "hemstitch/match.hpp"

namespace hemstitch {

struct ParseFigures {
  double cost = 0;                         // of the input's own bits, full lengths
  std::optional<double> cost_all_lengths;  // under flat prices
  std::uint64_t literal_count = 0;         // of the parse that `cost` is of, like the rest
  std::uint64_t match_count = 0;
  std::uint64_t matched_bytes = 0;
};

struct Evaluation {
  // 1. Every record of the table, chosen or not, stands for equal bytes.
  bool verified = false;
  std::optional<std::size_t> first_wrong_position;
  // 2.
  ParseFigures figures;
  // 3.
  std::optional<FindCounters> counters;
  // 4. Finding and parsing the first bytes of the file.
  std::size_t latency_bytes = 0;
  double first_call_seconds = 0;
  double warm_seconds = 0;  // the fastest of a few more calls
  // 5.
  std::optional<ParseFigures> without_stitch;

  double find_seconds = 0;  // the whole file, with both sides of the stitch where the finder has one
};

// Criterion 2's measure: every offset up to the window, under the same lengths and prices.
struct Optimum {
  std::uint32_t window_bytes = 0;
  ParseFigures figures;
};

inline constexpr std::size_t kLatencyBytes = 256 << 10;

// `data` is not empty. `format` says whose costs count, and has matches (FrameFormat::match_limits()); null: the flat prices of the parameters.
Evaluation evaluate(std::span<const std::byte> data, const FinderChoice& choice,
                    const FrameFormat* format = nullptr);
Optimum optimum(std::span<const std::byte> data, std::uint32_t window_bytes,
                const FinderParameters& parameters, const FrameFormat* format = nullptr);

// What a perfect parse, or the format's, makes of one record a byte. Without a format `data` may be empty.
JudgedMatches judge(std::span<const std::byte> data, const MatchRecords& records,
                    const FinderParameters& parameters, const FrameFormat* format = nullptr);
ParseFigures parse_figures(std::span<const std::byte> data, const MatchRecords& records,
                           const FinderParameters& parameters, const FrameFormat* format = nullptr);

// Bits, exactly.
std::uint64_t cost_all_lengths_bits(const MatchRecords& records, const FinderParameters& parameters);

}  // namespace hemstitch
