#include "format/zstd/frame/zstd_reader.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "format/checksum.hpp"
#include "format/identify.hpp"
#include "format/skippable_frame.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

constexpr std::string_view kNotAsListed =
    "the frame here is not the one that the seek table lists; only restoring all of the file is safe";

}  // namespace

ZstdReader::Event ZstdReader::want(State state, std::size_t bytes, Event event) {
  state_ = state;
  wanted_bytes_ = bytes;
  return event;
}

ZstdReader::Event ZstdReader::read(std::span<const std::byte> bytes) {
  if (state_ == State::kMagic) return read_magic(bytes);
  require_bytes(bytes.size());
  switch (state_) {
    case State::kMagic:
    case State::kStream:
      break;
    case State::kDescriptor:
      header_bytes_.assign(bytes.begin(), bytes.end());
      held_bytes_ = bytes.size();
      return want(State::kRestOfHeader, zstd_header_rest_bytes(bytes[0]) - 1, Event::kMore);
    case State::kRestOfHeader:
      return read_header(bytes);
    case State::kFirstPlace:
      return announce_place();
    case State::kBetweenPlaces:
      return read_between(bytes);
    case State::kSkippableSize:
      skip_bytes_ = load_le32(bytes.data());
      position_ += bytes.size();
      return want(State::kBetweenPlaces, kZstdMagicBytes, Event::kSkip);
    case State::kBlock:
      take_behind_data(bytes.subspan(block_.data_bytes));
      position_ += bytes.size();
      leave_block();
      return Event::kBlockEnd;
    case State::kChecksum:
      content_checksum_ = load_le32(bytes.data());
      position_ += bytes.size();
      return want(State::kMagic, kZstdMagicBytes, Event::kFrameEnd);
    case State::kEnd:
      return want(State::kMagic, kZstdMagicBytes, Event::kFrameEnd);
  }
  fail(Status::kInternal, "the reader is in no state");
}

ZstdReader::Event ZstdReader::read_magic(std::span<const std::byte> bytes) {
  if (begins_skippable_frame(bytes)) return begin_skippable_frame();
  if (bytes.size() < kZstdMagicBytes || load_le32(bytes.data()) != kZstdMagic) {
    if (frame_number_ == 0) refuse_data(bytes);
    if (bytes.empty()) return want(State::kMagic, kZstdMagicBytes, Event::kEnd);
    if (is_cut_skippable_magic(bytes) || is_cut_begin(bytes, kZstdFirstBytes)) require_bytes(bytes.size());
    return want(State::kMagic, kZstdMagicBytes, report_garbage(bytes));
  }
  enter_frame(position_);
  position_ += kZstdMagicBytes;
  return want(State::kDescriptor, 1, Event::kMore);
}

ZstdReader::Event ZstdReader::read_header(std::span<const std::byte> bytes) {
  header_bytes_.insert(header_bytes_.end(), bytes.begin(), bytes.end());
  held_bytes_ = 0;
  const std::optional<ZstdFrameHeader> header = read_zstd_header(header_bytes_);
  if (!header) fail(Status::kCorruptHeader, "the reserved bit of the header is set (3.1.1.1.1.4)");
  position_ += header_bytes_.size();
  has_checksum_ = header->has_checksum;
  if (places_) {
    const ZstdPlace& place = (*places_)[place_];
    if (position_ - header_bytes_.size() - kZstdMagicBytes != place.at ||
        !agrees(place, *header, kZstdMagicBytes + header_bytes_.size()))
      fail(Status::kCorruptHeader, std::string(kNotAsListed));
    return place_ == 0 ? begin_places() : announce_place();
  }
  header_.kind = header_.description = "zstd";
  header_.block_kind = BlockKind::kStream;
  header_.content_checksum = header->has_checksum;
  header_.block_bytes = header_.most_data_bytes = kZstdPieceBytes;
  header_.history_bytes = static_cast<std::size_t>(header->window_bytes);
  header_.content_bytes = header->content_bytes;
  if (header->dictionary_id != 0) header_.dictionary_id = header->dictionary_id;
  in_stream_ = true;
  return want(State::kStream, 0, Event::kFrameBegin);
}

// All frames of the file are blocks of one.
ZstdReader::Event ZstdReader::begin_places() {
  header_.kind = "zstd";
  header_.description = "zstd, separate frames";
  header_.takes_dictionary = false;
  header_.block_content_checksums = header_.announces_sizes = true;
  std::uint64_t content_bytes = 0;
  header_.block_bytes = 1;
  for (const ZstdPlace& place : *places_) {
    content_bytes += place.content_bytes;
    header_.block_bytes = std::max<std::size_t>(header_.block_bytes, place.content_bytes);
    header_.most_data_bytes = std::max<std::size_t>(header_.most_data_bytes, place.bytes);
  }
  header_.content_bytes = content_bytes;
  return want(State::kFirstPlace, 0, Event::kFrameBegin);
}

// After a header: the frame's blocks are the data of one of ours.
ZstdReader::Event ZstdReader::announce_place() {
  const ZstdPlace& place = (*places_)[place_];
  const std::size_t behind_bytes = has_checksum_ ? kChecksumBytes : 0;
  block_ = {static_cast<std::size_t>(place.at + place.bytes - position_ - behind_bytes),
            false,
            std::nullopt,
            block_.number + 1,
            place.at,
            place.checksum,
            place.content_bytes};
  in_block_ = true;
  return want(State::kBlock, block_.data_bytes + behind_bytes, Event::kBlockBegin);
}

// A frame's own checksum is also that of other readers, so the table's does not count then.
void ZstdReader::take_behind_data(std::span<const std::byte> behind) {
  if (has_checksum_) block_.content_checksum = load_le32(behind.data());
}

void ZstdReader::leave_known_blocks(std::size_t blocks) {
  place_ += blocks - 1;
  block_.number += blocks - 1;
}

void ZstdReader::leave_block() {
  in_block_ = false;
  if (++place_ < places_->size()) {
    want(State::kBetweenPlaces, kZstdMagicBytes, Event::kMore);
  } else {
    places_ = nullptr;  // what follows holds no content
    want(State::kEnd, 0, Event::kMore);
  }
}

// Between frames that are blocks: another one, or a skippable frame.
ZstdReader::Event ZstdReader::read_between(std::span<const std::byte> bytes) {
  position_ += bytes.size();
  if (begins_skippable_frame(bytes)) return want(State::kSkippableSize, kSkippableSizeBytes, Event::kMore);
  if (load_le32(bytes.data()) != kZstdMagic) fail(Status::kCorruptHeader, std::string(kNotAsListed));
  return want(State::kDescriptor, 1, Event::kMore);
}

void ZstdReader::leave_stream() {
  if (header_.content_checksum)
    want(State::kChecksum, kChecksumBytes, Event::kMore);
  else
    want(State::kEnd, 0, Event::kMore);
}

}  // namespace hemstitch
