// Restores a piece of a stream, without the content before it, from a place that was found
// (deflate_finder.hpp) or where the piece before ended: to symbols (deflate_markers.hpp) as long as there are
// markers among the last 32 KB, and to bytes after that.
//
// A piece ends at the end of a block, so that the next one begins with a header. Its content is a guess until
// another thread arrives at its beginning: nothing here is a verdict. Damage or missing room makes it end at
// the end of the last block before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/deflate/restore/deflate_table.hpp"

namespace hemstitch {

// Content of one stream. When a gzip member ends inside the piece, this part ends, and the next member begins
// another part.
struct DeflatePart {
  std::uint64_t begin_bits = 0;  // of a block's header, in the piece's input
  std::uint64_t end_bits = 0;    // after a block
  bool final = false;            // whether that was the last block
  bool begins_stream = false;    // nothing precedes it
  // Where its content is in the piece's memory: symbols, in order, then bytes.
  std::size_t symbols_at = 0, symbol_count = 0;  // in bytes; a number of symbols
  std::size_t bytes_at = 0, byte_count = 0;
  std::size_t content_bytes() const { return symbol_count + byte_count; }
};

// Decides how far a piece goes. Called by the thread that restores it.
class DeflatePieceGuide {
 public:
  virtual ~DeflatePieceGuide() = default;
  // Between blocks: whether to end here.
  virtual bool ends_at(std::uint64_t bits) = 0;
  // Now and then: whether the piece is no longer wanted.
  virtual bool is_cancelled() = 0;
  // Before more of its memory is written to than before: whether so many bytes from its beginning may be. If
  // not, there is no more room.
  virtual bool may_write(std::size_t bytes) = 0;
};

class DeflatePieceDecoder {
 public:
  // Restores from the header at `begin_bits` into `memory`. May read kDeflateReadBehindBytes after the end
  // of `input`. With `members`, one gzip member may follow another. Each part has at least one block; there
  // are none if the first block is damaged. The bytes of `memory` before `bytes_at` of the last part (32
  // KB, or as many as the stream has) are the window there.
  std::vector<DeflatePart> restore(std::span<const std::byte> input, std::uint64_t begin_bits, bool members,
                                   std::span<std::byte> memory, DeflatePieceGuide& guide);

 private:
  struct Output;
  enum class Stop { kNone, kBad, kCancelled };
  Stop restore_block(std::span<const std::byte> input, std::uint64_t& position_bits, Output& output,
                     bool& final, DeflatePieceGuide& guide);
  Stop restore_tokens(std::span<const std::byte> input, std::uint64_t& position_bits, Output& output,
                      DeflatePieceGuide& guide);

  DeflateLitlenTable litlen_;
  DeflateDistanceTable distance_;
};

// The last 32 KB, or as many as there are, after a part: of its content, and of `window`, the content before
// it. Call it before the part's markers are resolved.
std::vector<std::byte> deflate_window_behind(const DeflatePart& part, std::span<const std::byte> memory,
                                             std::span<const std::byte> window);

}  // namespace hemstitch
