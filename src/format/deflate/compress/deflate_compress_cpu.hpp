// Compressing to DEFLATE on a processor, by the libraries that do it best: libdeflate, ISA-L, and zlib for short content with
// history. Which one serves which level is measured: docs/decisions/deflate-cpu.md.
//
// Content of a stream that is compressed in parts, side by side, has to end in each part without the bit that says that a block is
// the last, and with a whole byte: the parts are then put one behind the other. ISA-L and zlib can do that. libdeflate, which is
// several times as fast at the same size, cannot: it takes its input for all there is. What it wrote is walked over
// (block/deflate_walk.hpp) to find the bit, which is cleared, and the end, where an empty stored block goes on. The walk takes 6 to 20
// percent of the time, and holds whether the blocks say as much content as there is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace hemstitch {

// The libraries' working memory, made on first use and kept. Thread safety: one call at a time.
class DeflateCompressorCpu {
 public:
  DeflateCompressorCpu();
  ~DeflateCompressorCpu();
  DeflateCompressorCpu(const DeflateCompressorCpu&) = delete;
  DeflateCompressorCpu& operator=(const DeflateCompressorCpu&) = delete;

  // Compresses `content`, of one byte at least, at level 1 to 12, into blocks that end with a whole byte; `is_last`: the last of them
  // ends the stream. `history` is what stands before it, of which the last 32 KB are used, or nothing.
  // `room` has deflate_data_room() bytes. Returns how many of them were written. Throws kOutOfMemory, kInternal.
  std::size_t compress(std::span<const std::byte> content, std::span<const std::byte> history, int level,
                       bool is_last, std::span<std::byte> room);

 private:
  // Each of them returns nothing where the room does not suffice.
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
