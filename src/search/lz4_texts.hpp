// The blocks of files that are LZ4 frames, as a device restores them: all at once, so each by itself. And small files of them on
// the processor.
//
// Taken are files of whole frames whose blocks do not depend on each other: independent ones, or one a frame and stored ones behind it. Others
// (linked blocks, legacy frames, dictionaries, damage, something behind the last frame) are not, and stay with the reader
// of streams (pipeline/restore_stream.cpp), which knows what to say of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace hemstitch {

struct Lz4TextBlock {
  std::uint64_t at = 0;  // of its data in the file
  std::uint32_t bytes = 0;
  std::uint32_t most_restored_bytes = 0;  // its frame's block size
  bool stored = false;
  std::optional<std::uint32_t> checksum;
};

struct Lz4TextFrame {
  std::size_t first_block = 0, block_count = 0;
  std::optional<std::uint64_t> content_bytes;
  std::optional<std::uint32_t> content_checksum;
};

struct Lz4Text {
  std::vector<Lz4TextFrame> frames;
  std::vector<Lz4TextBlock> blocks;
};

// Header checksums are verified here; sizes and other checksums are the caller's to hold against what is restored.
std::optional<Lz4Text> read_lz4_text(std::span<const std::byte> file);

// Restores such files on the calling thread, one after another in the same memory: a search among many small ones asks the
// system for none.
class Lz4TextRestorer {
 public:
  explicit Lz4TextRestorer(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // What the file holds, good until the next call. Nothing where the file is not taken, is damaged, or may hold more than that
  // many bytes: the reader of streams restores it, or says what is wrong.
  std::optional<std::span<const std::byte>> restore(std::span<const std::byte> file);

 private:
  std::span<std::byte> room(std::size_t bytes);

  std::size_t most_bytes_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace hemstitch
