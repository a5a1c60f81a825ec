// Restores DEFLATE at the processor's speed, with the verdicts of the reference
// (deflate_restore_reference.hpp).
//
// Why not a library: zlib takes twice the time. ISA-L and libdeflate accept incomplete codes and other
// headers that zlib refuses, so a file would be valid here and damaged there (docs/formats/deflate.md lists
// the differences). The reference's code reads the headers. Tables find tokens, several bits at a time
// (deflate_table.hpp). Far from the ends of input and output, the only check is that a match lies inside the
// content (deflate_tokens.hpp). Near them, every token is checked for its bits and its room before anything
// is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/deflate/restore/deflate_header.hpp"
#include "format/deflate/restore/deflate_restore_reference.hpp"
#include "format/deflate/restore/deflate_table.hpp"
#include "format/stream_decoder.hpp"

namespace hemstitch {

class DeflateDecoder : public StreamDecoder {
 public:
  explicit DeflateDecoder(std::span<const std::byte> history);

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;
  // Points are the headers of blocks.
  void stop_at_points(bool stops) override { stops_at_points_ = stops; }
  std::optional<StreamPoint> point() const override {
    return is_between_blocks() ? std::optional(StreamPoint{unread_bits(), window_}) : std::nullopt;
  }

  // Begins again, at the header of a block inside a stream: after the first `taken_bits` (at most 7) bits
  // of `first_byte`. If `taken_bits` is not 0, `first_byte` is not part of the input that follows.
  // `history`: the content before. Everything that the decoder received before is forgotten.
  void begin(std::span<const std::byte> history, std::byte first_byte, unsigned taken_bits);
  // Like restore(), but stops before the first block whose header begins at or after this bit of the input.
  // The bit may lie before the input, in what was passed earlier.
  StreamStep restore_until(std::int64_t stop_bits, std::span<const std::byte> input,
                           std::span<std::byte> output);
  // Whether a block's header comes next.
  bool is_between_blocks() const { return part_ == Part::kBlockHeader; }
  // How many of the bits received so far are not restored yet.
  std::uint64_t unread_bits() const { return pending_.size() * std::uint64_t{8} - pending_bits_; }
  // How far the input goes beyond the last header that can be found without the decoder (of a block with
  // its own codes, or with at least kDeflateLeastStoredStart stored bytes), or beyond where the decoder
  // began.
  std::uint64_t unannounced_bits() const { return static_cast<std::uint64_t>(-announced_bits_); }
  // The last 32 KB of the content and of what precedes it. Valid until the next call.
  std::span<const std::byte> window() const { return window_; }

  // Restores a whole stream, like deflate_restore_reference(). Everything that the decoder received before
  // is forgotten.
  DeflateRestored restore_whole(std::span<const std::byte> input, std::span<const std::byte> history,
                                std::span<std::byte> output);

 private:
  static constexpr std::int64_t kNoStop = INT64_MAX;
  static constexpr std::int64_t kNextBlock = INT64_MIN / 2;  // the block after that bit, wherever that is
  enum class Part { kBlockHeader, kStored, kTokens, kEnd };
  enum class Stop { kNone, kInput, kRoom, kDamage, kBlock };
  // A piece of the stream.
  struct Input {
    std::span<const std::byte> bytes;
    std::uint64_t position_bits = 0;
    std::int64_t stop_bits = kNoStop;  // no block is begun from here on
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
  Stop restore_token(Input& input, Output& output);
  Stop restore_match(Output& output);
  Stop damaged(std::string_view what);
  void keep_window(const Output& output);

  Part part_ = Part::kBlockHeader;
  bool final_ = false;
  bool stops_at_points_ = false;
  std::uint32_t stored_left_ = 0;
  std::uint32_t match_left_ = 0, match_distance_ = 0;
  std::string_view detail_;
  std::span<const std::byte> before_;  // the content before the output
  std::vector<std::byte> window_;      // the same, for a stream
  std::vector<std::byte> pending_;     // bytes whose items are not restored
  unsigned pending_bits_ = 0;          // of the first byte: bits that are restored
  // The end of the last header that can be found: in the current input, then counted from the end of all
  // input.
  std::int64_t announced_bits_ = 0;

  DeflateLitlenTable litlen_;
  DeflateDistanceTable distance_;
};

}  // namespace hemstitch
