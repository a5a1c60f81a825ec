// Compresses to DEFLATE on a processor, with the best library for each level: libdeflate, ISA-L, and zlib for
// short content with history. docs/decisions/deflate-cpu.md has the measurements.
//
// If a stream is compressed in parts, in parallel, each part must end at a byte, without the bit that marks
// the last block; then the parts can be put one after the other. ISA-L and zlib can do that. libdeflate is
// several times as fast at the same size, but always ends the stream. So its output is walked over
// (block/deflate_walk.hpp) to find this bit, which is cleared, and the end, where an empty stored block is
// appended. The walk takes 6 to 20 percent of the time, and checks that the blocks hold as much content as
// they should.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace hemstitch {

// Holds the libraries' working memory, made on first use. Thread safety: one call at a time.
class DeflateCompressorCpu {
 public:
  DeflateCompressorCpu();
  ~DeflateCompressorCpu();
  DeflateCompressorCpu(const DeflateCompressorCpu&) = delete;
  DeflateCompressorCpu& operator=(const DeflateCompressorCpu&) = delete;

  // Compresses `content`, at least one byte, at level 1 to 12, into blocks that end at a byte; `is_last`:
  // the last of them ends the stream. `history` is the content before, of which at most the last 32 KB are
  // used. `room` has deflate_data_room() bytes. Returns how many bytes were written. Throws kOutOfMemory,
  // kInternal.
  std::size_t compress(std::span<const std::byte> content, std::span<const std::byte> history, int level,
                       bool is_last, std::span<std::byte> room);

 private:
  // Each returns nothing if the room is too small.
  std::optional<std::size_t> by_isal(std::span<const std::byte> content, std::span<const std::byte> history,
                                     bool is_last, std::span<std::byte> room);
  std::optional<std::size_t> by_libdeflate(std::span<const std::byte> content, int level, bool is_last,
                                           std::span<std::byte> room);
  std::optional<std::size_t> by_zlib(std::span<const std::byte> content, std::span<const std::byte> history,
                                     int level, bool is_last, std::span<std::byte> room);

  struct Libraries;
  std::unique_ptr<Libraries> libraries_;
};

}  // namespace hemstitch
