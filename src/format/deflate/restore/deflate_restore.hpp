// Restoring DEFLATE at the processor's speed, with the verdicts of the reference (deflate_restore_reference.hpp).
//
// Why not a library's: zlib takes twice the time; ISA-L and libdeflate take codes that are incomplete, and other headers that zlib
// refuses, so that one file would be sound here and damaged there (docs/formats/deflate.md has the differences). Headers are read by
// the code that the reference reads them by. Tokens are found in tables, several bits at a time: a table is looked up by the next bits,
// and says how many of them a symbol has with its extra bits, and what it is; codes too long for it go on in a second table. Far
// from the ends of input and output nothing is checked but that a match lies inside the content; near them every token is
// checked for its bits and its room before anything is written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/deflate/restore/deflate_header.hpp"
#include "format/deflate/restore/deflate_restore_reference.hpp"
#include "format/stream_decoder.hpp"

namespace hemstitch {

// What the next bits are. A word:
//   bits 0-5: how many bits to take, those of the code and its extra bits | bits 8-11: how many of them are the code's
//   bits 12-15: flags | bits 16-31: the literal, the smallest length or distance, or where the second table begins
// Where a second table follows, bits 0-5 are those that found it, bits 8-11 those that are looked up in it.
template <unsigned Bits, unsigned Symbols>
struct DeflateTable {
  static constexpr unsigned kBits = Bits;
  // A second table for codes of up to n bits more is shared by at least n + 1 codes.
  static constexpr unsigned kMoreBits = kDeflateMaxCodeBits - Bits;
  static constexpr unsigned kMostEntries = (1u << Bits) + Symbols / (kMoreBits + 1) * (1u << kMoreBits);
  std::array<std::uint32_t, kMostEntries> entries;
};

class DeflateDecoder : public StreamDecoder {
 public:
  explicit DeflateDecoder(std::span<const std::byte> history);

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;

  // A whole stream, as deflate_restore_reference() does it. What the decoder was given before is forgotten.
  DeflateRestored restore_whole(std::span<const std::byte> input, std::span<const std::byte> history,
                                std::span<std::byte> output);

 private:
  enum class Part { kBlockHeader, kStored, kTokens, kEnd };
  enum class Stop { kNone, kInput, kRoom, kDamage };
  // A piece of the stream.
  struct Input {
    std::span<const std::byte> bytes;
    std::uint64_t position_bits = 0;
    std::uint64_t left_bits() const { return bytes.size() * std::uint64_t{8} - position_bits; }
  };
  // The room for a piece of content.
  struct Output {
    std::byte* begin;
    std::byte* at;
    std::byte* end;
    std::size_t room() const { return static_cast<std::size_t>(end - at); }
    std::size_t bytes() const { return static_cast<std::size_t>(at - begin); }
  };

  void reset(std::span<const std::byte> history);
  Stop run(Input& input, Output& output);
  Stop begin_block(Input& input);
  Stop restore_stored(Input& input, Output& output);
  Stop restore_tokens(Input& input, Output& output);
  Stop restore_tokens_fast(Input& input, Output& output);
  Stop restore_tokens_far_from_ends(Input& input, Output& output);
#ifdef __x86_64__
  Stop restore_tokens_fast_bmi2(Input& input, Output& output);
#endif
  Stop restore_token(Input& input, Output& output);
  Stop restore_match(Output& output);
  Stop damaged(std::string_view what);
  void keep_window(const Output& output);

  Part part_ = Part::kBlockHeader;
  bool final_ = false;
  std::uint32_t stored_left_ = 0;
  std::uint32_t match_left_ = 0, match_distance_ = 0;
  std::string_view detail_;
  std::span<const std::byte> before_;  // what stands before the output
  std::vector<std::byte> window_;      // the same, of a stream
  std::vector<std::byte> pending_;     // bytes whose items are not restored
  unsigned pending_bits_ = 0;          // of the first one, that are

  DeflateTable<11, kDeflateFixedLitlenCount> litlen_;
  DeflateTable<8, kDeflateFixedDistanceCount> distance_;
};

}  // namespace hemstitch
