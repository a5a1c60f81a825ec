// How good a finder is on a file: the five criteria of founding document 000 (docs/founding.md).
//
// A finder is judged by the result of a perfect parse of its matches, at the document's flat prices (a
// literal 9 bits, a match 25). Costs are relative to the input's own bits: 1.0 is raw; records call it "c9".
// There are two parses:
// records. Two parses:
//   full         optimal_exact, each candidate at its full length or not at all: the measure by which finders
//                are compared
//   all lengths  each candidate at any length from min_match_len on. Since all matches cost the same, the
//                longest match of each position makes this the optimum over every choice of matches that the
//                offsets allow.
// With a format, its costs count instead: its own parse takes the matches, at the lengths that it tries, and
// the cost is the size of the blocks that are written with them. Optima then keep to the format's lengths and
// offsets.
//
// A whole file is one block. Offsets stay within the finder's window, which slides.
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
  double cost = 0;                         // relative to the input's own bits, with full lengths
  std::optional<double> cost_all_lengths;  // at flat prices
  std::uint64_t literal_count = 0;         // like the rest, of the parse of `cost`
  std::uint64_t match_count = 0;
  std::uint64_t matched_bytes = 0;
};

struct Evaluation {
  // 1. Every record of the table, chosen or not, refers to equal bytes.
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

  double find_seconds = 0;  // for the whole file, with and without the stitch if the finder has one
};

// The reference of criterion 2: every offset within the window, with the same lengths and prices.
struct Optimum {
  std::uint32_t window_bytes = 0;
  ParseFigures figures;
};

inline constexpr std::size_t kLatencyBytes = 256 << 10;

// `data` must not be empty. `format` gives the costs and must have matches (FrameFormat::match_limits());
// null: the flat prices in the parameters.
Evaluation evaluate(std::span<const std::byte> data, const FinderChoice& choice,
                    const FrameFormat* format = nullptr);
Optimum optimum(std::span<const std::byte> data, std::uint32_t window_bytes,
                const FinderParameters& parameters, const FrameFormat* format = nullptr);

// The result of a perfect parse, or the format's, for one record per byte. Without a format, `data` may be
// empty.
JudgedMatches judge(std::span<const std::byte> data, const MatchRecords& records,
                    const FinderParameters& parameters, const FrameFormat* format = nullptr);
ParseFigures parse_figures(std::span<const std::byte> data, const MatchRecords& records,
                           const FinderParameters& parameters, const FrameFormat* format = nullptr);

// Exact, in bits.
std::uint64_t cost_all_lengths_bits(const MatchRecords& records, const FinderParameters& parameters);

}  // namespace hemstitch
