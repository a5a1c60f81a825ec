// Where a block of DEFLATE may begin, judged by its first bits alone. This is how a stream can be entered in its middle. For host
// and device.
//
// Nothing marks a block's beginning, so every bit position is tested. A block with codes of its own (RFC 1951, section 3.2.7)
// announces them in a form that random bits hardly ever have:
//   1. 3 bits say that it is such a block, and not the last; 2 times 5 say how many codes it has, of which 30 values are allowed:
//      1 position of 9 passes;
//   2. the code of the code lengths is complete, that is, every sequence of bits means something: 1 of some 1,100 positions passes;
//   3. both codes of the block are complete as well: of 149 million positions in real streams none passed that was no block.
// A stored block has its size twice, once inverted, on whole bytes after three bits of 0. Random bytes look like one every 500 KB,
// so the finder (deflate_finder.hpp) checks what follows it. Blocks with the fixed code are never found: their header is three
// bits.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {

// The number of bits of step 1, and where the lengths of the code of code lengths begin.
inline constexpr unsigned kDeflateStartBits = 13, kDeflatePrecodeLengthsAt = 17;

// Step 1 for the next bits; the first one is the lowest.
HEMSTITCH_HOST_DEVICE constexpr bool may_begin_dynamic_block(std::uint32_t bits) {
  return (bits & 7) == 4 && (bits >> 3 & 31) <= kDeflateLitlenCount - kDeflateFirstLengthSymbol &&
         (bits >> 8 & 31) < kDeflateDistanceCount;
}

// How many of the codes of 7 bits a code of this many bits takes.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t precode_share(std::uint32_t bits) {
  return bits == 0 ? 0 : 128u >> bits;
}

// Step 2 for the lengths that there are, 3 bits each; the first one is the lowest.
HEMSTITCH_HOST_DEVICE constexpr bool precode_is_complete(std::uint64_t lengths) {
  std::uint32_t filled = 0;
  for (; lengths != 0; lengths >>= 3) filled += precode_share(static_cast<std::uint32_t>(lengths & 7));
  return filled == 128;
}

// Step 3: the code lengths of a block, counted as they are read, one after the other: those of literals and lengths, then those of
// distances.
class DeflateCodeSums {
 public:
  HEMSTITCH_HOST_DEVICE constexpr DeflateCodeSums(std::uint32_t litlen_count, std::uint32_t distance_count)
      : litlen_count_(litlen_count), count_(litlen_count + distance_count) {}

  HEMSTITCH_HOST_DEVICE constexpr std::uint32_t left() const { return count_ - at_; }
  // Adds `times` lengths of `bits` bits; at most left().
  HEMSTITCH_HOST_DEVICE constexpr void add(std::uint32_t bits, std::uint32_t times) {
    if (bits != 0) {
      const std::uint32_t of_litlen = at_ >= litlen_count_          ? 0
                                      : times < litlen_count_ - at_ ? times
                                                                    : litlen_count_ - at_;
      litlen_filled_ += of_litlen * (kCodes >> bits);
      distance_filled_ += (times - of_litlen) * (kCodes >> bits);
      distance_codes_ += times - of_litlen;
      if (at_ <= kDeflateEndOfBlock && at_ + times > kDeflateEndOfBlock) has_end_ = true;
    }
    at_ += times;
  }
  // There are more codes than there can be, so whatever follows, fit() will be false.
  HEMSTITCH_HOST_DEVICE constexpr bool is_overfull() const {
    return litlen_filled_ > kCodes || distance_filled_ > kCodes;
  }
  // Called once nothing is left. A code of a single literal or length is valid, but no encoder makes one: it does not fit. A code
  // of one distance, or none, fits.
  HEMSTITCH_HOST_DEVICE constexpr bool fit() const {
    return has_end_ && litlen_filled_ == kCodes &&
           (distance_filled_ == kCodes || distance_codes_ == 0 ||
            (distance_codes_ == 1 && distance_filled_ == kCodes / 2));
  }

 private:
  static constexpr std::uint32_t kCodes = 1u << kDeflateMaxCodeBits;
  std::uint32_t litlen_count_, count_;
  std::uint32_t at_ = 0, litlen_filled_ = 0, distance_filled_ = 0, distance_codes_ = 0;
  bool has_end_ = false;
};

}  // namespace hemstitch
