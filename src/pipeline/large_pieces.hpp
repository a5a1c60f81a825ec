// Reads and writes large pieces with several threads. If one thread copied such a piece, all others would
// wait for it.
#pragma once

#include <cstddef>
#include <span>

#include "pipeline/stream.hpp"

namespace hemstitch {

// From this size on, handing parts of a piece to other threads costs little compared with copying.
inline constexpr std::size_t kLargePieceBytes = std::size_t{8} << 20;

// `threads` is the number of threads in the caller's arena.
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
