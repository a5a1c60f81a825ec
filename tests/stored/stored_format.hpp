// The smallest format there can be: what docs/how-to-add-a-format.md tells, done once. Only a test program adds it.
//
//   frame:  "STOR" | block size, 4 bytes | content size, 8 bytes, all ones where it is not known
//           | for each block: its size, 4 bytes | the block as it is
//           | 4 bytes of 0 | CRC-32 of the content, 4 bytes
//
// Numbers are little-endian. A block has at least one byte, and at most the block size.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "core/bytes.hpp"
#include "format/codec.hpp"
#include "format/format.hpp"

namespace hemstitch::testing {

inline constexpr Format kStored = static_cast<Format>(100);
inline constexpr std::array<std::string_view, 1> kStoredFirstBytes{"STOR"};
inline constexpr std::uint32_t kStoredMagic = 0x524F5453;
inline constexpr std::uint64_t kUnknownContent = UINT64_MAX;
inline constexpr std::array<std::size_t, 2> kStoredBlockSizes{64 << 10, 256 << 10};

class StoredReader : public FrameReader {
 public:
  Event read(std::span<const std::byte> bytes) override {
    if (state_ == State::kMagic) return read_magic(bytes);
    require_bytes(bytes.size());
    position_ += bytes.size();
    switch (state_) {
      case State::kMagic:
        break;
      case State::kHeader:
        return read_header(bytes);
      case State::kBlockSize:
        return read_block_size(load_le32(bytes.data()));
      case State::kBlock:
        leave_block();
        return Event::kBlockEnd;
      case State::kChecksum:
        content_checksum_ = load_le32(bytes.data());
        return want(State::kMagic, kIdentifyBytes, Event::kFrameEnd);
    }
    fail(Status::kInternal, "the reader is in no state");
  }
  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<StoredReader>(*this); }

 private:
  enum class State { kMagic, kHeader, kBlockSize, kBlock, kChecksum };

  Event want(State state, std::size_t bytes, Event event) {
    state_ = state;
    wanted_bytes_ = bytes;
    in_block_ = state == State::kBlock;
    return event;
  }
  void leave_block() override { want(State::kBlockSize, 4, Event::kBlockEnd); }

  Event read_magic(std::span<const std::byte> bytes) {
    if (bytes.empty()) return Event::kEnd;
    if (bytes.size() < 4 || load_le32(bytes.data()) != kStoredMagic) return report_garbage(bytes);
    enter_frame(position_);
    position_ += bytes.size();
    return want(State::kHeader, 12, Event::kMore);
  }
  Event read_header(std::span<const std::byte> bytes) {
    header_.kind = "stored";
    header_.description = "stored blocks";
    header_.content_checksum = true;
    header_.block_bytes = header_.most_data_bytes = load_le32(bytes.data());
    if (std::ranges::find(kStoredBlockSizes, header_.block_bytes) == kStoredBlockSizes.end())
      fail(Status::kCorruptHeader, "the block size is none of those there are");
    const std::uint64_t content_bytes = load_le64(bytes.data() + 4);
    if (content_bytes != kUnknownContent) header_.content_bytes = content_bytes;
    return want(State::kBlockSize, 4, Event::kFrameBegin);
  }
  Event read_block_size(std::uint32_t bytes) {
    if (bytes == 0) return want(State::kChecksum, 4, Event::kMore);
    if (bytes > header_.block_bytes) fail(Status::kCorruptBlock, "a block is larger than blocks are here");
    block_ = {bytes, true, std::nullopt, block_.number + 1, position_ - 4};
    return want(State::kBlock, bytes, Event::kBlockBegin);
  }

  State state_ = State::kMagic;
};

class StoredWriter : public FrameWriter {
 public:
  explicit StoredWriter(std::size_t block_bytes) : block_bytes_(block_bytes) {}

  FrameRoom room() const override { return {.header_bytes = 16, .before_block_bytes = 4, .end_bytes = 8}; }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, block_bytes_, false};
  }
  bool has_content_checksum() const override { return true; }

  std::size_t write_header(std::optional<std::uint64_t> content_bytes, std::byte* to) const override {
    store_le32(to, kStoredMagic);
    store_le32(to + 4, static_cast<std::uint32_t>(block_bytes_));
    store_le64(to + 8, content_bytes.value_or(kUnknownContent));
    return 16;
  }
  bool states_content_bytes() const override { return true; }
  void write_before(const Block& block, std::byte* to) const override {
    store_le32(to, static_cast<std::uint32_t>(block.content.size()));
  }
  std::size_t write_behind(const Block&, std::byte*) const override { return 0; }
  std::size_t write_last_byte(std::byte, std::byte*) const override { return 0; }
  std::size_t write_end(std::uint64_t, std::optional<std::uint32_t> content_checksum,
                        std::byte* to) const override {
    store_le32(to, 0);
    store_le32(to + 4, content_checksum.value());
    return 8;
  }

 private:
  std::size_t block_bytes_;
};

class StoredFormat : public FrameFormat {
 public:
  Format id() const override { return kStored; }
  std::string_view name() const override { return "stored"; }
  std::string_view title() const override { return "Stored"; }
  std::string_view suffix() const override { return ".stored"; }
  std::span<const std::string_view> first_bytes() const override { return kStoredFirstBytes; }
  std::span<const std::size_t> block_sizes() const override { return kStoredBlockSizes; }
  Checksum checksum() const override { return Checksum::kCrc32; }
  std::uint64_t most_content_of_byte() const override { return 1; }
  std::unique_ptr<FrameReader> make_reader(bool) const override { return std::make_unique<StoredReader>(); }
  std::unique_ptr<FrameWriter> make_writer(const CompressOptions& options) const override {
    return std::make_unique<StoredWriter>(options.block_bytes);
  }
  std::optional<std::uint64_t> restored_bytes(std::span<const std::byte>) const override {
    return std::nullopt;  // all blocks are stored
  }
};

// Finds nothing that shrinks; so it has nothing to restore.
class StoredCodec : public Codec {
 public:
  void compress(std::span<BlockTask> tasks, const EncodeParameters&) const override {
    for (BlockTask& task : tasks) task.status = Status::kOutputTooSmall;
  }
  void restore(std::span<BlockTask> tasks) const override {
    for (BlockTask& task : tasks) task.status = Status::kCorruptBlock;
  }
};

}  // namespace hemstitch::testing
