// Where the matches of a file point and how long they are: the diagnostics of founding document 001 (docs/founding.md).
//
// It counts the matches that the optimal parse takes, not all candidates, since an encoder writes those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/finder_choice.hpp"
#include "format/format.hpp"
#include "hemstitch/match.hpp"

namespace hemstitch {

// The classes of distance in the founding documents. Each begins where the one before ends.
inline constexpr std::array<std::uint32_t, 5> kDistanceClassEnds = {1024, 4096, 8192, 32768, 65535};
inline constexpr std::array<const char*, 5> kDistanceClassNames = {"to 1K", "1K-4K", "4K-8K", "8K-32K",
                                                                   "32K-64K"};
// The largest length of each class.
inline constexpr std::array<std::uint32_t, 7> kLengthClassEnds = {4, 8, 16, 32, 64, 128, 65535};
inline constexpr std::array<const char*, 7> kLengthClassNames = {"3-4",   "5-8",    "9-16", "17-32",
                                                                 "33-64", "65-128", "129-"};

std::size_t distance_class(std::uint32_t offset);
std::size_t length_class(std::uint32_t length);

struct MatchShare {
  std::uint64_t match_count = 0;
  std::uint64_t matched_bytes = 0;
};

struct MatchAnalysis {
  std::string finder;
  double cost = 0;  // relative to the input's own bits; see evaluation.hpp
  std::uint64_t literal_count = 0;
  MatchShare all;
  std::array<MatchShare, kDistanceClassEnds.size()> by_distance{};
  std::array<MatchShare, kLengthClassEnds.size()> by_length{};
  std::vector<PositionedMatch> matches;
};

// `format` as in evaluation.hpp. Throws kInternal if a match refers to different bytes.
MatchAnalysis analyze(std::span<const std::byte> data, const FinderChoice& choice,
                      const MatchRecords& records, const FrameFormat* format = nullptr);

// Compares the candidates of two finders, position by position.
struct FinderComparison {
  std::uint64_t longer = 0;  // positions where the first finder has the longer match
  std::uint64_t equal = 0;   // where both have the same length, or none
  std::uint64_t shorter = 0;
};

FinderComparison compare_candidates(const MatchRecords& first, const MatchRecords& second,
                                    const FinderParameters& parameters);

// An SVG drawing. From left to right: the file; upwards: the distance back, on a logarithmic scale. The more
// bytes are matched at a place, the darker it is. Below: how much of each part of the file is literals and
// matches, by class of distance.
std::string match_map_svg(const MatchAnalysis& analysis, const std::string& file_name,
                          std::uint64_t file_bytes);

}  // namespace hemstitch
