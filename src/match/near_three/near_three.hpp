// near_three: the nearest earlier place with the same three bytes, for formats with matches of three bytes (DEFLATE).
//
// hash_chain looks up four bytes and keeps the longest match of its candidates. A short match nearby is cheap
// in a format that gives near offsets few bits. Where most matches have three bytes (pictures, machine code),
// these are worth 2 to 6 % of the output. This finder adds to the other one: it gives each position a second
// candidate. "Data" is the history followed by the block, and positions count from the data's first byte:
//
//   1. The candidates of a position p are the `depth` nearest positions q < p with hash(q) = hash(p) and p - q <= window.
//      A hash covers three bytes (hash_word() of them, the highest byte 0); equal hashes count toward the depth even where the bytes
//      differ. Positions with fewer than 3 bytes left in the data have no hash: they have no candidates and are never candidates.
//   2. The offset of p is that of the nearest candidate with the same three bytes; 0 where there is none.
//
// So it is hash_chain's first step with three bytes instead of four, and on a device the same kernel builds
// the links of both (match/stitch/build_chains.cuh). It gives no lengths: whoever uses the offsets knows how
// many bytes are worth comparing.
//
// Why a depth. Three bytes of a picture collide often in 14 bits: for x-ray, exact answers save 0.9 %
// compared with four candidates, and those 1.1 % compared with one. Text is hardly affected: 0.01 %.
//
// Cost: one insertion for each byte, at most `depth` comparisons of three bytes for each position, and 2
// bytes for each position for the result.
#pragma once

#include <cstdint>
#include <vector>

#include "core/match.hpp"
#include "match/common/finder.hpp"
#include "match/near_three/near_three_tuning.hpp"

namespace hemstitch {

// How many bytes a hash of this finder covers.
inline constexpr std::size_t kNearThreeBytes = 3;

struct NearThreeParameters {
  unsigned hash_bits = kNearThreeHashBits;  // kMinHashBits..kMaxHashBits
  std::uint32_t depth = 1;                  // candidates of a position, at least 1
  std::uint32_t window_bytes = 32768;       // the largest offset; 1..65535
};

// One for each position of the block: bytes back, 0 for none.
using NearOffsets = std::vector<std::uint16_t>;
static_assert(kMaxRecordOffset <= UINT16_MAX, "an offset has 16 bits");

// Throws kInvalidOption, with the field's name, for parameters outside their limits.
void check_near_three_parameters(const NearThreeParameters& parameters);

// Throws kInvalidOption, with the field's name, for parameters outside their limits. Thread safety: any
// number of calls at once.
NearOffsets find_near_three(const FinderInput& input, const NearThreeParameters& parameters);

}  // namespace hemstitch
