// Compresses all of a frame's content in its order, where matches reach farther back than a block's history, or where
// the content says where blocks end. A codec makes one for each frame (format/codec.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hemstitch {

// Thread safety: one call at a time, from any thread.
class StreamEncoder {
 public:
  virtual ~StreamEncoder() = default;

  // How much of the content it keeps.
  virtual std::uint64_t window_bytes() const = 0;

  // Takes content. Appends to `output` what is ready of the frame's blocks, which may be nothing. Throws kOutOfMemory.
  virtual void compress(std::span<const std::byte> content, std::vector<std::byte>& output) = 0;
  // Appends what is still to come. None of the blocks is marked as the last one, and more content may follow.
  virtual void flush(std::vector<std::byte>& output) = 0;
};

// What the encoder of a frame gets.
struct StreamEncoding {
  int level = 1;                               // one of the format's
  int window_log = 0;                          // as in CompressOptions
  bool rsyncable = false;                      // the same
  std::span<const std::byte> dictionary = {};  // must outlive the encoder
  unsigned threads = 1;                        // which work for it besides the calling one
};

}  // namespace hemstitch
