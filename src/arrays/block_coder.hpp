// Compresses and restores single blocks of chunks on the processor: blocks of LZ4, and whole streams of zlib and frames of
// Zstandard whose content is in memory. What a stream of the pipeline takes for each of them would cost more than blocks of
// some kilobytes do.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/status.hpp"
#include "hemstitch/arrays.hpp"

namespace hemstitch {

// The most bytes that compress() needs for so much content.
std::size_t coded_block_bound(Format format, std::size_t content_bytes);

// Holds the libraries' working memory, made on first use. Thread safety: one call at a time.
class BlockCoder {
 public:
  BlockCoder();
  ~BlockCoder();
  BlockCoder(const BlockCoder&) = delete;
  BlockCoder& operator=(const BlockCoder&) = delete;

  // Whether `block` is valid, and its content as large as `output`. Reads and writes nothing outside of both.
  bool restore(Format format, std::span<const std::byte> block, std::span<std::byte> output);

  // Compresses `content`, at least one byte, into `room`. Returns how many bytes it wrote; nothing if there is less room than
  // coded_block_bound(), and it does not suffice.
  std::optional<std::size_t> compress(const ChunkCoding& coding, std::span<const std::byte> content,
                                      std::span<std::byte> room);

  // Room for `bytes` bytes, until the next call with the same number: 0 or 1.
  std::span<std::byte> scratch(unsigned number, std::size_t bytes);

 private:
  struct Libraries;
  std::unique_ptr<Libraries> libraries_;
  struct Scratch {
    std::unique_ptr<std::byte[]> room;
    std::size_t bytes = 0;
  } scratches_[2];
};

}  // namespace hemstitch
