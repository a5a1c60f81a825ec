// Compressed files as a device restores them: all their blocks at once, so each by itself. And small ones on the processor.
//
// Taken are files of whole frames whose blocks do not depend on each other, and short files that are one stream
// (index_separate_blocks()). Others (linked blocks, longer streams, legacy frames, dictionaries, damage, something behind the
// last frame) are not, and stay with the reader of streams (pipeline/restore_stream.cpp), which knows what to say of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/backend.hpp"
#include "format/frame_index.hpp"

namespace hemstitch {

// Nothing where the file is not taken. Header checksums are verified here; sizes and other checksums are the caller's to hold
// against what is restored.
std::optional<FrameIndex> index_text(std::span<const std::byte> file);

// Restores such files on the calling thread, one after another in the same memory: a search among many small ones asks the
// system for none.
class TextRestorer {
 public:
  explicit TextRestorer(std::size_t most_bytes, std::string_view backend = "cpu");

  // What the file holds, good until the next call. Nothing where the file is not taken, is damaged, or may hold more than that
  // many bytes: the reader of streams restores it, or says what is wrong.
  std::optional<std::span<const std::byte>> restore(std::span<const std::byte> file);

 private:
  std::span<std::byte> room(std::size_t bytes);
  std::optional<std::size_t> restore_block(const FrameIndex& index, const IndexedFrame& frame,
                                           const IndexedBlock& block, std::span<const std::byte> file,
                                           std::span<std::byte> room);

  std::size_t most_bytes_;
  const Backend& backend_;
  std::unique_ptr<BlockEngine> engine_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace hemstitch
