// Restores the blocks of a frame of Zstandard (RFC 8878) in a way that is easy to read. It defines what is
// valid, what it restores to, and where it ends. It is slow; backend `reference` uses it, and it is compared
// with libzstd.
//
// A frame is a header, blocks, and a checksum; here come the blocks. Each begins with three bytes: whether it
// is the last one, its type, its size. It is bytes as they are (raw), one byte repeated (RLE), or compressed:
// literals, then sequences, each of which takes some literals and repeats bytes from before. What blocks use
// of earlier ones is the content up to the window's size, tables, and three offsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/stream_decoder.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"

namespace hemstitch {

// Between two blocks of a frame.
struct ZstdFrameState {
  ZstdKeptTables tables;
  ZstdRepeats repeats;
  std::vector<std::byte> content;         // the last of it, as far back as the window
  std::uint64_t frame_bytes = 0;          // of all content
  std::uint64_t block_number = 1;         // of the next block
  std::span<const std::byte> dictionary;  // its content
};

// The blocks of one frame, piece by piece. What comes of a block is kept until it is complete. Memory grows
// with the content up to twice the window, not with what a header claims.
class ZstdReferenceDecoder : public StreamDecoder {
 public:
  // `before`: what the frame has before its first block.
  ZstdReferenceDecoder(std::uint64_t window_bytes, ZstdDictionary before);
  // Begins in the middle of a frame.
  ZstdReferenceDecoder(std::uint64_t window_bytes, ZstdFrameState state);

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;
  std::uint64_t ahead_bytes() const override { return pending_.size(); }

 private:
  bool take(std::span<const std::byte>& input, std::size_t bytes);
  std::size_t most_block_bytes() const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes_, kZstdMostBlockBytes));
  }
  void check(const ZstdBlockHeader& header) const;
  void restore_block(const ZstdBlockHeader& header);
  void restore_compressed(std::span<const std::byte> block);
  void copy_match(std::uint32_t offset, std::uint32_t count);
  void drop_old_content();

  std::uint64_t window_bytes_;
  ZstdKeptTables tables_;
  ZstdRepeats repeats_;
  std::size_t dictionary_bytes_;    // of its content
  std::vector<std::byte> content_;  // the dictionary's, then the frame's, as far back as it may be needed
  std::uint64_t frame_bytes_ = 0;   // of the frame's content so far
  std::size_t given_;               // of content_: what was passed on, and what came before the frame
  std::vector<std::byte> pending_;  // a block that is not complete
  std::uint64_t block_number_ = 1;
  bool ended_ = false;
  std::string detail_;
};

}  // namespace hemstitch
