// The last stage of restoring Zstandard: literals and matches become content, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/large_buffer.hpp"
#include "format/zstd/stream/zstd_block_decoder.hpp"

namespace hemstitch {

// The content of a frame as far back as its window, and somewhat farther, in memory that is used in turns: where there
// is no room for a block behind the content, it goes to the beginning. What matches repeat from the turn before is there
// until the window has left it.
class ZstdContent {
 public:
  // So many of the last bytes stay where they are, even if the window is smaller. `before` is what the frame has before its
  // first block; its content must outlive this object.
  ZstdContent(std::uint64_t window_bytes, std::size_t kept_bytes, const ZstdDictionary& before = {});
  // Continues a frame that has so many bytes already; `window` are the last of them, as far back as matches may reach.
  ZstdContent(std::uint64_t window_bytes, std::size_t kept_bytes, std::uint64_t frame_bytes,
              std::span<const std::byte> window, const ZstdOffsets& offsets);

  // Adds the block's content, and returns it; nothing, if the block is damaged. `type` is that of its header.
  std::optional<std::span<const std::byte>> add(const ZstdDecodedBlock& block, ZstdBlockType type);

  std::uint64_t bytes() const { return bytes_; }
  const ZstdOffsets& offsets() const { return offsets_; }
  // Where content was added last.
  const std::shared_ptr<LargeBuffer>& memory() const { return memory_; }
  // Continues in other memory. Throws std::bad_alloc.
  void leave_memory();
  // The last bytes, the window at most, in one piece. Gives up the memory; nothing can be added then.
  std::vector<std::byte> take_window();
  static std::uint64_t memory_bytes(std::uint64_t window_bytes, std::size_t kept_bytes);

 private:
  std::vector<std::byte> window() const;
  bool copy_sequences(const ZstdDecodedBlock& block, std::byte* to);
  std::uint64_t bytes_until(const std::byte* to) const {
    return bytes_ + static_cast<std::uint64_t>(to - at_);
  }
  void copy_far_match(std::byte* to, std::size_t offset, std::size_t count);

  std::uint64_t window_bytes_;
  std::span<const std::byte> dictionary_;
  std::size_t room_bytes_;
  std::shared_ptr<LargeBuffer> memory_;
  std::byte* at_;               // the next block's content
  std::size_t before_end_ = 0;  // where the turn before ended
  std::uint64_t bytes_ = 0;     // of the frame
  ZstdOffsets offsets_;
};

}  // namespace hemstitch
