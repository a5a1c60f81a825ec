#include "pipeline/frame_parts.hpp"

#include "core/bytes.hpp"

namespace hemstitch {

std::vector<std::byte> frame_header(const CompressOptions& options) {
  Lz4FrameHeader header;
  header.linked_blocks = options.linked_blocks;
  header.block_checksums = options.block_checksums;
  header.content_checksum = options.content_checksum;
  header.block_bytes = options.block_bytes;
  header.content_bytes = options.content_bytes;
  if (!options.dictionary.empty()) header.dictionary_id = lz4_checksum(options.dictionary);
  return write_lz4_frame_header(header);
}

BlockData block_data(const BlockTask& task) {
  const bool stored = task.status == Status::kOutputTooSmall;
  const std::span<const std::byte> bytes =
      stored ? task.input : std::span<const std::byte>(task.output).first(task.output_bytes);
  return {bytes, static_cast<std::uint32_t>(bytes.size()) | (stored ? kStoredBlockBit : 0)};
}

LastByteBlock last_byte_block(std::byte last) {
  LastByteBlock block;
  store_le32(block.data(), 1 | kStoredBlockBit);
  block[kBlockHeaderBytes] = last;
  store_le32(block.data() + kBlockHeaderBytes + 1, lz4_checksum({&last, 1}));
  return block;
}

FrameEnd frame_end(std::optional<std::uint32_t> content_checksum) {
  FrameEnd end;
  end.bytes = 4;  // the end mark: a block of 0 bytes
  if (content_checksum) {
    store_le32(end.room.data() + 4, *content_checksum);
    end.bytes = 8;
  }
  return end;
}

}  // namespace hemstitch
