// coop_stitch: 64 neighbouring positions search different distances and try each other's finds. The finder of
// founding document 000 (docs/founding.md), kept complete for study and comparison.
//
// Why it can work: a repetition has a period. If 30 bytes at position p also occur `d` bytes earlier, the
// same offset d gives position p + 1 at least 29 bytes, and p + 15 at least 15. So an offset that one
// position finds is worth a try by its neighbours, and a group of positions can divide the distances among
// themselves.
//
// Algorithm. Positions are taken in groups of 64, counted from the first byte of the block. Position t of a
// group, at p in the data, has the near range, offsets 1..near_range, and a band of its own, offsets
//   band_origin + t * stride + 1 .. band_origin + t * stride + window_size.
// Offsets larger than p, which reach before the data (or its history), are left out everywhere. The length of
// an offset is the number of leading bytes on which p and p - offset agree, at most max_match_len and never
// past the end of the data. What is shorter than min_match_len is no match.
//
//   Phase A. Each position tries the offsets of its near range, then those of its band, both upwards and each
//   offset once: in the band those up to near_range are not tried again. It keeps the best match of all, and
//   a list of at most top_k matches to show:
//     kLongest            the best top_k of all it found;
//     kLongestPerBucket   the band is cut into top_k buckets of ceil(window_size / top_k) offsets, the last
//                         ones being shorter or empty, and the best match of each bucket is shown. Offsets
//                         outside the band are in no bucket: all positions search the near range themselves.
//   With good_match_len set, phase A of a position ends with the first match of that length, which still
//   counts.
//
//   Barrier: all lists of the group are complete.
//
//   Phase B, unless `stitch` is off. Each position tries every offset in the lists of the other 63. A
//   position that has a match of good_match_len bytes already does not.
//
// "Best" always means the longer match, and of equally long ones the one with the smaller offset. This is a
// total order on the matches of one position, so the result depends neither on the order of phase B nor on
// that of a group's threads. Only phase A with good_match_len depends on its own order, which is given above.
//
// On a device: a workgroup for each group, a thread for each position. The lists are in workgroup memory, 64
// * top_k records (offset << 16 | length, 0 for an empty entry), written once before the barrier and only
// read after it; empty entries may be skipped. The text is read from global memory through the caches, which
// suits neighbours that read neighbouring bytes. A list is top_k registers, sorted, with insertion from the
// end. Trying an offset again cannot change a result, so a kernel may skip or repeat tries. Threads after the
// end of the block write empty lists.
//
// Cost and benefit: at most near_range + window_size + 63 * top_k probes for each position, while the group
// reaches band_origin + 63 * stride + window_size bytes back. But only one position in 64 tries an offset of
// a band, and the offset gets into a list only where that position begins a repetition. On text, a group
// fills its lists with about six different offsets, and most of what the far bands hold is never seen.
// window_index searches a small window completely with less work. A stride above window_size leaves gaps that
// no position searches: coop_stitch_plan shows them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "match/common/find_counters.hpp"
#include "match/common/finder.hpp"
#include "match/finder_parameters.hpp"

namespace hemstitch {

struct CoopStitchParameters : FinderParameters {
  static constexpr std::string_view kName = "coop_stitch";
  static constexpr std::array<std::string_view, 8> kFields = {"window_size", "stride",        "near_range",
                                                              "band_origin", "top_k",         "top_k_policy",
                                                              "stitch",      "good_match_len"};
  static constexpr bool kCounts = true;
  static constexpr bool kKeepsBeforeStitch = true;
  static FinderParameters defaults() { return {}; }
  static CoopStitchParameters from(const FinderParameters& p) { return {p}; }
};

// Throws kInvalidOption with the name of the first of its own fields that is outside its limits.
void check_parameters(const CoopStitchParameters& parameters);

struct CoopStitchResult {
  MatchRecords records;
  MatchRecords before_stitch;  // the best of phase A: what `records` would be without `stitch`
  FindCounters
      counters;  // one probe for each offset of a list, whether the position had tried it before or not
};

// Reads all of `parameters` except far_step and the costs; check_finder_parameters accepted them.
CoopStitchResult coop_stitch_reference(const FinderInput& input, const FinderParameters& parameters);

inline FoundMatches find_reference(const FinderInput& input, const CoopStitchParameters& parameters) {
  CoopStitchResult result = coop_stitch_reference(input, parameters);
  return {std::move(result.records), std::move(result.before_stitch), result.counters};
}

// What a set of parameters will do, computed without data.
struct CoopStitchPlan {
  struct Gap {
    std::uint32_t first_offset = 0;
    std::uint32_t last_offset = 0;
  };
  std::uint32_t largest_offset = 0;        // bytes; the far end of the last band, or of the near range
  std::uint32_t covered_offset_count = 0;  // offsets that at least one position of a group tries in phase A
  std::vector<Gap> gaps;                   // offsets up to the largest that no position tries
  std::uint32_t near_probes = 0;           // for each position, at most
  std::uint32_t band_probes = 0;
  std::uint32_t stitch_probes = 0;
  std::uint32_t workgroup_bytes = 0;  // of the lists

  std::uint32_t probes() const { return near_probes + band_probes + stitch_probes; }
  // A few lines for printing.
  std::string text() const;
};

CoopStitchPlan coop_stitch_plan(const FinderParameters& parameters);

}  // namespace hemstitch
