// Restores a piece of a stream from a place that was found (deflate_finder.hpp), or that the piece before came to, without what stands before
// it: to symbols (deflate_markers.hpp) as long as markers stand among the last 32 KB, and to bytes from then on.
//
// A piece ends at a block's end, so that the next one begins with a header. What it makes is a guess until somebody comes to its
// beginning: nothing here is a verdict. What stops it, damage or missing room, makes it end at the last block's end before that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/deflate/restore/deflate_table.hpp"

namespace hemstitch {

// Content of one stream. A member of gzip that ends inside the piece ends a part, and the next member begins another.
struct DeflatePart {
  std::uint64_t begin_bits = 0;  // of the piece's input, of a block's header
  std::uint64_t end_bits = 0;    // behind a block
  bool final = false;            // which was the last
  bool begins_stream = false;    // nothing stands before it
  // Where its content stands in the piece's memory: symbols, in order, then bytes.
  std::size_t symbols_at = 0, symbol_count = 0;  // in bytes; a number of symbols
  std::size_t bytes_at = 0, byte_count = 0;
  std::size_t content_bytes() const { return symbol_count + byte_count; }
};

// Says how far a piece goes. Called from the thread that restores it.
class DeflatePieceGuide {
 public:
  virtual ~DeflatePieceGuide() = default;
  // Between blocks: whether to end here.
  virtual bool ends_at(std::uint64_t bits) = 0;
  // Now and then: whether nobody wants it any more.
  virtual bool is_cancelled() = 0;
};

class DeflatePieceDecoder {
 public:
  // Restores from the header at `begin_bits` on into `memory`. So many bytes behind the end of `input` may be read as kDeflateReadBehindBytes
  // says. With `members` a member of gzip may follow another. The parts have at least one block each; none where the first block
  // does not end well. The bytes of `memory` before `bytes_at` of the last part, 32 KB or as many as the stream has, are the window there.
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

// The last 32 KB, or as many as there are, behind a part: of its content, and of `window`, what stands before it. Of `memory` before markers of the
// part are resolved.
std::vector<std::byte> deflate_window_behind(const DeflatePart& part, std::span<const std::byte> memory,
                                             std::span<const std::byte> window);

}  // namespace hemstitch
