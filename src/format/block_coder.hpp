// Compresses and restores single blocks that are whole in memory, as containers of arrays have them (src/arrays): blocks of LZ4, streams of
// zlib, frames of Zstandard. What a stream of the pipeline takes for each would cost more than blocks of some kilobytes do.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hemstitch {

// Holds the libraries' working memory, made on first use. Thread safety: one call at a time. Calls throw kOutOfMemory.
class BlockCoder {
 public:
  virtual ~BlockCoder() = default;

  // Whether `block` is valid, and its content as large as `output`. Reads and writes nothing outside of both.
  virtual bool restore(std::span<const std::byte> block, std::span<std::byte> output) = 0;

  // The most bytes that compress() needs for so much content.
  virtual std::size_t bound(std::size_t content_bytes) const = 0;
  // Compresses `content`, at least one byte, at one of the format's levels. Returns how many bytes it wrote; nothing if `room` is
  // smaller than bound(), and does not suffice.
  virtual std::optional<std::size_t> compress(std::span<const std::byte> content, int level, int acceleration,
                                              std::span<std::byte> room) = 0;
};

}  // namespace hemstitch
