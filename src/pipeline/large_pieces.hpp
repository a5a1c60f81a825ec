// Reading and writing what is large enough that one thread copying it would be what everything else waits for.
#pragma once

#include <cstddef>
#include <span>

#include "pipeline/stream.hpp"

namespace hemstitch {

// From here on handing pieces to other threads costs little beside copying them.
inline constexpr std::size_t kLargePieceBytes = std::size_t{8} << 20;

// `threads` is how many the caller's arena has.
inline std::size_t read_piece(Source& source, std::span<std::byte> into, unsigned threads) {
  return threads > 1 && into.size() >= kLargePieceBytes ? source.read_in_parallel(into) : source.read(into);
}

inline void write_piece(Sink& sink, std::span<const std::byte> piece, unsigned threads) {
  if (threads > 1 && piece.size() >= kLargePieceBytes)
    sink.write_in_parallel(piece);
  else
    sink.write(piece);
}

}  // namespace hemstitch
