// Compressed files that a device restores: all blocks at once, so each must be independent. Also restores
// small ones on the processor.
//
// It takes files of whole frames whose blocks do not depend on each other, and short files that are one
// stream (index_separate_blocks()). Other files stay with the reader of streams
// (pipeline/restore_stream.cpp), which reports what is wrong with them: linked blocks, longer streams, legacy
// frames, dictionaries, damage, bytes after the last frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/backend.hpp"
#include "format/frame_index.hpp"

namespace hemstitch {

// Nothing if the file is not taken. Verifies header checksums; the caller compares sizes and other checksums
// with the restored content.
std::optional<FrameIndex> index_text(std::span<const std::byte> file);

// Restores such files on the calling thread, one after the other in the same memory, so a search of many
// small files allocates nothing.
class TextRestorer {
 public:
  explicit TextRestorer(std::size_t most_bytes, std::string_view backend = "cpu");

  // The file's content, valid until the next call. Nothing if the file is not taken, is damaged, or may
  // hold more than `most_bytes`: then use the reader of streams, which restores it or reports what is
  // wrong.
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
