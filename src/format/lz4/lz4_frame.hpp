// The LZ4 frame format, version 1.6.x of its specification, without any input or output: headers to bytes,
// bytes to events. docs/formats/lz4.md notes the sections that this relies on.
//
// Reading is a state machine, so that files, pipes and pushed pieces share one parser:
//   for (;;) { gather exactly parser.wanted_bytes() bytes (fewer only at the end of the stream);
//              react to parser.step(those bytes); }
// The parser never sees a block's content other than as those bytes and keeps none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/status.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kLz4FrameMagic = 0x184D2204;
inline constexpr std::uint32_t kLz4LegacyMagic = 0x184C2102;
inline constexpr std::uint32_t kSkippableMagic = 0x184D2A50;  // to ...5F
inline constexpr std::size_t kLz4LegacyBlockBytes = 8 << 20;
// LZ4's bound for incompressible data: a legacy block is never larger.
inline constexpr std::uint32_t kMaxLegacyBlockDataBytes =
    static_cast<std::uint32_t>(kLz4LegacyBlockBytes + kLz4LegacyBlockBytes / 255 + 16);
static_assert(kMaxLegacyBlockDataBytes < kLz4LegacyMagic, "no magic number can be taken for a block's size");
inline constexpr std::size_t kBlockChecksumBytes = 4;
inline constexpr std::size_t kBlockHeaderBytes = 4;
inline constexpr std::uint32_t kStoredBlockBit =
    0x80000000u;  // in a block's size word: the data is not compressed
inline constexpr std::size_t kMaxFrameHeaderBytes = 19;

constexpr bool is_frame_magic(std::uint32_t word) {
  return word == kLz4FrameMagic || word == kLz4LegacyMagic || (word & 0xFFFFFFF0u) == kSkippableMagic;
}

struct Lz4FrameHeader {
  bool legacy = false;
  bool linked_blocks = false;
  bool block_checksums = false;
  bool content_checksum = false;
  std::size_t block_bytes = 0;
  std::optional<std::uint64_t> content_bytes;
  std::optional<std::uint32_t> dictionary_id;
};

// Magic number, descriptor and header checksum. block_bytes is 64K, 256K, 1M or 4M.
std::vector<std::byte> write_lz4_frame_header(const Lz4FrameHeader& header);

// XXH32 with seed 0, the frame format's only checksum; also what names a dictionary in the frames we write.
std::uint32_t lz4_checksum(std::span<const std::byte> bytes);

class Lz4FrameParser {
 public:
  enum class Event {
    kMore,        // go on with wanted_bytes()
    kFrameBegin,  // header() is complete
    kBlockBegin,  // block() is announced; its data (and checksum) are wanted next
    kBlockEnd,    // those bytes were taken; block().checksum is set where the frame has them
    kFrameEnd,    // content_checksum() is set where the frame has one
    kSkip,        // pass over skip_bytes() bytes, then call skipped()
    kGarbage,     // at garbage_at() stands no frame, after at least one that was complete
    kEnd,         // the stream ended between frames
  };

  struct Block {
    std::size_t data_bytes = 0;  // without the checksum
    bool stored = false;
    std::optional<std::uint32_t> checksum;
    std::uint64_t number = 0;  // in its frame, from 1
    std::uint64_t at = 0;      // where its size word stands in the stream
  };

  explicit Lz4FrameParser(bool verify_header_checksum) : verify_header_checksum_(verify_header_checksum) {}

  std::size_t wanted_bytes() const { return wanted_bytes_; }
  // Throws Error of the format and corrupt families, with the place.
  Event step(std::span<const std::byte> bytes);
  // After kSkip: how many bytes were really there.
  void skipped(std::uint64_t count);
  // Instead of the step() after kBlockBegin: wanted_bytes() bytes were passed over, `count` of them were
  // really there.
  void block_skipped(std::uint64_t count);

  const Lz4FrameHeader& header() const { return header_; }
  const Block& block() const { return block_; }
  std::optional<std::uint32_t> content_checksum() const { return content_checksum_; }
  std::uint32_t skip_bytes() const { return skip_bytes_; }
  std::uint64_t garbage_at() const { return position_; }

  std::uint64_t position() const { return position_; }          // bytes taken so far
  std::uint64_t frame_number() const { return frame_number_; }  // from 1; skippable frames count
  std::uint64_t frame_at() const { return frame_at_; }          // where the frame's magic number stands
  Place place() const;                                          // the frame and, inside one, the block

 private:
  enum class State {
    kMagic,
    kDescriptor,
    kRestOfHeader,
    kBlockSize,
    kBlockData,
    kContentChecksum,
    kSkippableSize,
    kLegacyBlockSize,
    kBehindLegacyBlocks,
    kNextMagicKnown
  };

  Event begin_frame(std::uint32_t magic);
  Event read_magic(std::span<const std::byte> bytes);
  Event read_descriptor(std::span<const std::byte> bytes);
  Event read_rest_of_header(std::span<const std::byte> bytes);
  Event read_block_size(std::span<const std::byte> bytes);
  Event read_legacy_block_size(std::span<const std::byte> bytes);
  Event read_behind_legacy_blocks(std::span<const std::byte> bytes);
  Event announce_block(std::uint32_t data_bytes, bool stored);
  Event want(State state, std::size_t bytes, Event event);
  [[noreturn]] void fail(Status status, const std::string& detail) const;
  [[noreturn]] void refuse_data(std::span<const std::byte> first_bytes) const;

  bool verify_header_checksum_;
  State state_ = State::kMagic;
  std::size_t wanted_bytes_ = 4;
  std::uint64_t position_ = 0;
  std::uint64_t frame_at_ = 0;
  std::uint64_t frame_number_ = 0;
  std::uint32_t next_magic_ = 0;  // in states kBehindLegacyBlocks and kNextMagicKnown
  std::uint32_t skip_bytes_ = 0;
  std::vector<std::byte> descriptor_;
  Lz4FrameHeader header_;
  Block block_;
  std::optional<std::uint32_t> content_checksum_;
};

}  // namespace hemstitch
