// The LZ4 frame format, version 1.6.x of its specification, without any input or output: headers to bytes,
// bytes to events. docs/formats/lz4.md lists the sections that this relies on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "format/frame_reader.hpp"
#include "format/skippable_frame.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kLz4FrameMagic = 0x184D2204;
inline constexpr std::uint32_t kLz4LegacyMagic = 0x184C2102;
inline constexpr std::array<std::string_view, 2> kLz4FirstBytes{"\x04\x22\x4D\x18", "\x02\x21\x4C\x18"};
inline constexpr std::size_t kLz4LegacyBlockBytes = 8 << 20;
inline constexpr std::size_t kLz4HistoryBytes = 64 << 10;  // the reach of its offsets
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
  return word == kLz4FrameMagic || word == kLz4LegacyMagic || is_skippable_magic(word);
}

// Magic number, descriptor and header checksum. block_bytes is 64K, 256K, 1M or 4M.
std::vector<std::byte> write_lz4_frame_header(const FrameHeader& header);

// XXH32 with seed 0, the frame format's only checksum; it also identifies dictionaries in the frames that we
// write.
std::uint32_t lz4_checksum(std::span<const std::byte> bytes);

// Reads LZ4 frames and legacy frames, with skippable ones between them.
class Lz4FrameParser : public FrameReader {
 public:
  explicit Lz4FrameParser(bool verify_header_checksum) : verify_header_checksum_(verify_header_checksum) {}

  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<Lz4FrameParser>(*this); }

 private:
  enum class State {
    kMagic,
    kDescriptor,
    kRestOfHeader,
    kBlockSize,
    kBlockData,
    kContentChecksum,
    kLegacyBlockSize,
    kBehindLegacyBlocks,
    kPadding,      // zeros behind a legacy frame, or what ends them
    kRestOfMagic,  // behind zeros
    kNextMagicKnown
  };

  Event read(std::span<const std::byte> bytes) override;
  Event begin_frame(std::uint32_t magic);
  Event read_magic(std::span<const std::byte> bytes);
  Event read_descriptor(std::span<const std::byte> bytes);
  Event read_rest_of_header(std::span<const std::byte> bytes);
  Event read_block_size(std::span<const std::byte> bytes);
  Event read_legacy_block_size(std::span<const std::byte> bytes);
  Event read_behind_legacy_blocks(std::span<const std::byte> bytes);
  Event read_padding(std::span<const std::byte> bytes);
  Event read_behind_padding(std::span<const std::byte> rest_of_magic);
  Event announce_block(std::uint32_t data_bytes, bool stored);
  Event want(State state, std::size_t bytes, Event event);
  void take_behind_data(std::span<const std::byte> behind) override;
  void leave_block() override;

  bool verify_header_checksum_;
  State state_ = State::kMagic;
  std::vector<std::byte> word_;  // behind a legacy frame: the last of the held_bytes(), four at most
  std::vector<std::byte> descriptor_;
};

}  // namespace hemstitch
