#include "format/lz4/frame/lz4_frame.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "format/identify.hpp"

namespace hemstitch {
namespace {

// The FLG byte: version in bits 7-6, then flags.
constexpr unsigned kVersionShift = 6;
constexpr unsigned kVersion = 1;
constexpr unsigned kIndependentBit = 1 << 5;
constexpr unsigned kBlockChecksumBit = 1 << 4;
constexpr unsigned kContentSizeBit = 1 << 3;
constexpr unsigned kContentChecksumBit = 1 << 2;
constexpr unsigned kReservedFlagBits = 1 << 1;
constexpr unsigned kDictionaryIdBit = 1 << 0;

// The BD byte: the block size in bits 6-4. 4 is 64 KB, 7 is 4 MB; each size is four times the one before.
constexpr unsigned kBlockSizeShift = 4;
constexpr unsigned kReservedBdBits = 0x8F;
constexpr unsigned kSmallestBlockSizeId = 4;
constexpr std::size_t block_bytes_of(unsigned id) { return std::size_t{1} << (8 + 2 * id); }
static_assert(block_bytes_of(4) == 64 << 10 && block_bytes_of(7) == 4 << 20);

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kDescriptorBytes = 2;  // FLG and BD, which determine the length of the rest

// Whether these bytes, after which the data ends, are less than a magic number, and would begin one.
bool is_cut_magic(std::span<const std::byte> bytes) {
  return is_cut_skippable_magic(bytes) ||
         std::any_of(kLz4FirstBytes.begin(), kLz4FirstBytes.end(),
                     [&](std::string_view magic) { return is_cut_begin(bytes, magic); });
}

std::size_t leading_zeros(std::span<const std::byte> bytes) {
  return static_cast<std::size_t>(
      std::find_if(bytes.begin(), bytes.end(), [](std::byte byte) { return byte != std::byte{0}; }) -
      bytes.begin());
}

unsigned header_checksum(std::span<const std::byte> descriptor) {
  return (lz4_checksum(descriptor) >> 8) & 0xFF;
}

}  // namespace

std::uint32_t lz4_checksum(std::span<const std::byte> bytes) { return XXH32(bytes.data(), bytes.size(), 0); }

std::vector<std::byte> write_lz4_frame_header(const FrameHeader& header) {
  unsigned block_size_id = kSmallestBlockSizeId;
  while (block_bytes_of(block_size_id) < header.block_bytes) block_size_id++;

  std::vector<std::byte> bytes(kMagicBytes + kDescriptorBytes);
  store_le32(bytes.data(), kLz4FrameMagic);
  bytes[4] = static_cast<std::byte>(
      kVersion << kVersionShift | (header.block_kind == BlockKind::kLinked ? 0 : kIndependentBit) |
      (header.block_checksums ? kBlockChecksumBit : 0) | (header.content_bytes ? kContentSizeBit : 0) |
      (header.content_checksum ? kContentChecksumBit : 0) | (header.dictionary_id ? kDictionaryIdBit : 0));
  bytes[5] = static_cast<std::byte>(block_size_id << kBlockSizeShift);
  if (header.content_bytes) {
    bytes.resize(bytes.size() + 8);
    store_le64(bytes.data() + bytes.size() - 8, *header.content_bytes);
  }
  if (header.dictionary_id) {
    bytes.resize(bytes.size() + 4);
    store_le32(bytes.data() + bytes.size() - 4, *header.dictionary_id);
  }
  bytes.push_back(static_cast<std::byte>(header_checksum(std::span(bytes).subspan(kMagicBytes))));
  return bytes;
}

Lz4FrameParser::Event Lz4FrameParser::want(State state, std::size_t bytes, Event event) {
  state_ = state;
  in_block_ = state == State::kBlockData;
  wanted_bytes_ = bytes;
  return event;
}

void Lz4FrameParser::take_behind_data(std::span<const std::byte> behind) {
  if (header_.block_checksums) block_.checksum = load_le32(behind.data());
}

void Lz4FrameParser::leave_block() {
  want(header_.legacy ? State::kLegacyBlockSize : State::kBlockSize, kBlockHeaderBytes, Event::kBlockEnd);
}

Lz4FrameParser::Event Lz4FrameParser::read(std::span<const std::byte> bytes) {
  if (state_ == State::kMagic) return read_magic(bytes);
  if (state_ == State::kLegacyBlockSize) return read_legacy_block_size(bytes);
  if (state_ == State::kBehindLegacyBlocks) return read_behind_legacy_blocks(bytes);
  if (state_ == State::kPadding) return read_padding(bytes);
  if (state_ == State::kRestOfMagic) return read_behind_padding(bytes);
  require_bytes(bytes.size());
  switch (state_) {
    case State::kMagic:
    case State::kLegacyBlockSize:
    case State::kBehindLegacyBlocks:
    case State::kPadding:
    case State::kRestOfMagic:
      break;
    case State::kNextMagicKnown:
      return read_magic(word_);
    case State::kDescriptor:
      return read_descriptor(bytes);
    case State::kRestOfHeader:
      return read_rest_of_header(bytes);
    case State::kBlockSize:
      return read_block_size(bytes);
    case State::kBlockData:
      take_behind_data(bytes.subspan(block_.data_bytes));
      position_ += bytes.size();
      leave_block();
      return Event::kBlockEnd;
    case State::kContentChecksum:
      content_checksum_ = load_le32(bytes.data());
      position_ += bytes.size();
      return want(State::kMagic, kMagicBytes, Event::kFrameEnd);
  }
  fail(Status::kInternal, "the frame parser is in no state");
}

Lz4FrameParser::Event Lz4FrameParser::read_magic(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    if (frame_number_ == 0) refuse_data(bytes);
    return want(State::kMagic, kMagicBytes, Event::kEnd);
  }
  if (bytes.size() < kMagicBytes || !is_frame_magic(load_le32(bytes.data()))) {
    if (frame_number_ == 0) refuse_data(bytes);
    wanted_bytes_ = kMagicBytes;
    if (is_cut_magic(bytes)) require_bytes(bytes.size());
    return want(State::kMagic, kMagicBytes, report_garbage(bytes));
  }
  const std::uint32_t magic = load_le32(bytes.data());
  if (is_skippable_magic(magic)) {
    state_ = State::kMagic;
    return begin_skippable_frame();
  }
  position_ += kMagicBytes;
  held_bytes_ = 0;
  return begin_frame(magic);
}

Lz4FrameParser::Event Lz4FrameParser::begin_frame(std::uint32_t magic) {
  enter_frame(position_ - kMagicBytes);
  if (magic == kLz4FrameMagic) return want(State::kDescriptor, kDescriptorBytes, Event::kMore);
  header_.kind = "lz4-legacy";
  header_.description = "legacy lz4, blocks";
  header_.legacy = true;
  header_.takes_dictionary = false;
  header_.block_bytes = kLz4LegacyBlockBytes;
  header_.most_data_bytes = kMaxLegacyBlockDataBytes;
  return want(State::kLegacyBlockSize, kBlockHeaderBytes, Event::kFrameBegin);
}

Lz4FrameParser::Event Lz4FrameParser::read_descriptor(std::span<const std::byte> bytes) {
  const auto flags = static_cast<unsigned>(bytes[0]);
  if (flags >> kVersionShift != kVersion)
    fail(Status::kUnsupportedVersion,
         fmt::format("the header says version {} of the LZ4 frame format", flags >> kVersionShift));
  descriptor_.assign(bytes.begin(), bytes.end());
  position_ += bytes.size();
  const std::size_t rest = (flags & kContentSizeBit ? 8 : 0) + (flags & kDictionaryIdBit ? 4 : 0) + 1;
  return want(State::kRestOfHeader, rest, Event::kMore);
}

Lz4FrameParser::Event Lz4FrameParser::read_rest_of_header(std::span<const std::byte> bytes) {
  descriptor_.insert(descriptor_.end(), bytes.begin(), bytes.end() - 1);
  const unsigned expected = header_checksum(descriptor_), found = static_cast<unsigned>(bytes.back());
  if (verify_header_checksum_ && expected != found)
    fail(Status::kHeaderChecksumMismatch,
         fmt::format("the header's checksum is {:#04x}, it should be {:#04x}", found, expected));

  const auto flags = static_cast<unsigned>(descriptor_[0]), bd = static_cast<unsigned>(descriptor_[1]);
  if (flags & kReservedFlagBits || bd & kReservedBdBits)
    fail(Status::kUnsupportedFeature, "a reserved bit of the header is set");
  const unsigned block_size_id = bd >> kBlockSizeShift;
  if (block_size_id < kSmallestBlockSizeId)
    fail(Status::kCorruptHeader,
         fmt::format("the block size's number is {}, it can be 4 to 7", block_size_id));

  const bool linked = (flags & kIndependentBit) == 0;
  header_.kind = "lz4";
  header_.description = linked ? "lz4, linked blocks" : "lz4, independent blocks";
  header_.block_kind = linked ? BlockKind::kLinked : BlockKind::kIndependent;
  if (linked) header_.history_bytes = kLz4HistoryBytes;
  header_.block_checksums = flags & kBlockChecksumBit;
  header_.content_checksum = flags & kContentChecksumBit;
  header_.block_bytes = header_.most_data_bytes = block_bytes_of(block_size_id);
  const std::byte* field = descriptor_.data() + kDescriptorBytes;
  if (flags & kContentSizeBit) {
    header_.content_bytes = load_le64(field);
    field += 8;
  }
  if (flags & kDictionaryIdBit) header_.dictionary_id = load_le32(field);
  position_ += bytes.size();
  return want(State::kBlockSize, kBlockHeaderBytes, Event::kFrameBegin);
}

Lz4FrameParser::Event Lz4FrameParser::announce_block(std::uint32_t data_bytes, bool stored) {
  block_ = {data_bytes, stored, std::nullopt, block_.number + 1, position_};
  position_ += kBlockHeaderBytes;
  return want(State::kBlockData, data_bytes + (header_.block_checksums ? kBlockChecksumBytes : 0),
              Event::kBlockBegin);
}

Lz4FrameParser::Event Lz4FrameParser::read_block_size(std::span<const std::byte> bytes) {
  const std::uint32_t word = load_le32(bytes.data());
  if (word == 0) {  // end mark
    position_ += kBlockHeaderBytes;
    if (header_.content_checksum) return want(State::kContentChecksum, 4, Event::kMore);
    return want(State::kMagic, kMagicBytes, Event::kFrameEnd);
  }
  const std::uint32_t data_bytes = word & ~kStoredBlockBit;
  if (data_bytes > header_.block_bytes)
    fail(Status::kCorruptBlock, fmt::format("block {} has {} bytes, a block of this frame has at most {}",
                                            block_.number + 1, data_bytes, header_.block_bytes));
  return announce_block(data_bytes, word & kStoredBlockBit);
}

// A legacy frame has no end mark. It ends with the data, at the magic number of the next frame, which cannot be the
// size of a block, or at zeros, since no block is empty. Any other word that cannot be a size is damage, unless it
// ends the data: images of Linux end with the size of their content.
Lz4FrameParser::Event Lz4FrameParser::read_legacy_block_size(std::span<const std::byte> bytes) {
  if (leading_zeros(bytes) == bytes.size()) {
    held_bytes_ = bytes.size();
    return want(State::kPadding, kMagicBytes, Event::kFrameEnd);
  }
  require_bytes(bytes.size());
  const std::uint32_t word = load_le32(bytes.data());
  if (word <= kMaxLegacyBlockDataBytes) return announce_block(word, false);
  word_.assign(bytes.begin(), bytes.end());
  held_bytes_ = word_.size();
  if (is_frame_magic(word)) return want(State::kNextMagicKnown, 0, Event::kFrameEnd);
  return want(State::kBehindLegacyBlocks, 1, Event::kMore);
}

Lz4FrameParser::Event Lz4FrameParser::read_behind_legacy_blocks(std::span<const std::byte> bytes) {
  if (bytes.empty()) return want(State::kNextMagicKnown, 0, Event::kFrameEnd);
  fail(Status::kCorruptBlock,
       fmt::format("block {} has {} bytes, a block of this frame has at most {}", block_.number + 1,
                   load_le32(word_.data()), kMaxLegacyBlockDataBytes));
}

// Linux skips any number of zeros between the archives of an initial RAM disk. They are read a word at a time, so
// that nothing of the next frame is taken.
Lz4FrameParser::Event Lz4FrameParser::read_padding(std::span<const std::byte> bytes) {
  held_bytes_ += bytes.size();
  const std::size_t zeros = leading_zeros(bytes);
  if (zeros == bytes.size()) return bytes.empty() ? Event::kEnd : Event::kMore;
  word_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(zeros), bytes.end());
  if (zeros == 0 || bytes.size() < kMagicBytes) return read_behind_padding({});
  return want(State::kRestOfMagic, zeros, Event::kMore);
}

// Zeros may also be what an accident left of the blocks, so behind them only a frame will do.
Lz4FrameParser::Event Lz4FrameParser::read_behind_padding(std::span<const std::byte> rest_of_magic) {
  held_bytes_ += rest_of_magic.size();
  word_.insert(word_.end(), rest_of_magic.begin(), rest_of_magic.end());
  position_ += held_bytes_ - word_.size();
  held_bytes_ = word_.size();
  wanted_bytes_ = kMagicBytes;
  if (is_cut_magic(word_)) require_bytes(word_.size());
  if (word_.size() < kMagicBytes || !is_frame_magic(load_le32(word_.data())))
    fail(Status::kCorruptBlock,
         fmt::format("zeros follow block {}, and then something that is not a frame", block_.number));
  return read_magic(word_);
}

}  // namespace hemstitch
