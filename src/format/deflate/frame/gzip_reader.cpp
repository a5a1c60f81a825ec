#include "format/deflate/frame/gzip_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bytes.hpp"
#include "format/checksum.hpp"
#include "format/deflate/frame/deflate_frame.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/identify.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kFixedPartBytes = kGzipFixedBytes - kIdentifyBytes;
constexpr std::size_t kExtraSizeBytes = 2;

constexpr std::size_t kMostMemberBytes = 65536;

constexpr std::size_t kZerosBytes = 4096;

// Longer names, which no file system has, are skipped.
constexpr std::size_t kMostNameBytes = 4096;

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

bool is_gzip(std::span<const std::byte> first_bytes) { return starts_with(first_bytes, kGzipFirstBytes[0]); }

GzipReader::Event GzipReader::want(State state, std::size_t bytes, Event event) {
  state_ = state;
  in_block_ = state == State::kBlock;
  wanted_bytes_ = bytes;
  return event;
}

GzipReader::Event GzipReader::read(std::span<const std::byte> bytes) {
  if (state_ == State::kMember) return in_bgzf_ ? read_between(bytes) : read_member(bytes);
  if (state_ == State::kZeros) return read_zeros(bytes);
  require_bytes(bytes.size());
  switch (state_) {
    case State::kMember:
    case State::kZeros:
      break;
    case State::kFixedPart:
    case State::kExtra:
    case State::kName:
    case State::kComment:
    case State::kHeaderChecksum:
      return read_header(bytes);
    case State::kNextFrame:
      return header_bytes_ == 0 ? read_member(std::span(first_bytes_).first(first_count_)) : begin_frame();
    case State::kFirstBlock:
      return announce_block();
    case State::kBlock:
      return read_block(bytes);
    case State::kMarker:
      return read_marker(bytes);
    case State::kTrailer:
      content_checksum_ = load_le32(bytes.data());
      content_bytes_low_ = load_le32(bytes.data() + 4);
      position_ += bytes.size();
      return want(State::kMember, kIdentifyBytes, Event::kFrameEnd);
  }
  fail(Status::kInternal, "the reader is in no state");
}

// Reads what follows a frame, or the beginning of the data. A last byte of 1f is a member that was cut off, as in
// gzip.
GzipReader::Event GzipReader::read_member(std::span<const std::byte> bytes) {
  if (is_gzip(bytes)) return begin_header(bytes);
  if (frame_number_ == 0) {
    if (bytes.empty()) refuse_data(bytes);
    fail(Status::kUnknownFormat, "the data does not begin with a gzip member");
  }
  if (bytes.empty()) return want(State::kMember, kIdentifyBytes, Event::kEnd);
  if (is_cut_begin(bytes, kGzipFirstBytes[0])) return begin_header(bytes);
  // Some files are padded with zeros, on tapes and in pages; gzip ignores them.
  held_bytes_ = bytes.size();
  if (all_zero(bytes)) return want(State::kZeros, kZerosBytes, Event::kMore);
  return want(State::kMember, kIdentifyBytes, report_garbage(bytes));
}

GzipReader::Event GzipReader::read_zeros(std::span<const std::byte> bytes) {
  held_bytes_ += bytes.size();
  if (!all_zero(bytes)) return want(State::kMember, kIdentifyBytes, report_garbage(bytes));
  return bytes.size() == kZerosBytes ? Event::kMore : want(State::kMember, kIdentifyBytes, Event::kEnd);
}

// After a member of BGZF: reads another member, or ends a frame that has no end marker.
GzipReader::Event GzipReader::read_between(std::span<const std::byte> bytes) {
  if (is_gzip(bytes) && bytes.size() == kIdentifyBytes && static_cast<unsigned>(bytes[2]) == kDeflateMethod &&
      static_cast<unsigned>(bytes[3]) == kGzipExtraFlag)
    return begin_header(bytes);
  held_bytes_ = first_count_ = bytes.size();
  std::copy(bytes.begin(), bytes.end(), first_bytes_.begin());
  header_bytes_ = 0;
  return end_without_marker();
}

// The frame's last member is a block. An empty one may be there instead of the marker.
GzipReader::Event GzipReader::end_without_marker() {
  in_bgzf_ = false;
  end_missing_ = block_.content_bytes != 0u;
  return want(State::kNextFrame, 0, Event::kFrameEnd);
}

GzipReader::Event GzipReader::begin_header(std::span<const std::byte> bytes) {
  wanted_bytes_ = kIdentifyBytes;
  require_bytes(bytes.size());
  const auto method = static_cast<unsigned>(bytes[2]);
  flags_ = static_cast<unsigned>(bytes[3]);
  if (method != kDeflateMethod)
    fail(Status::kUnsupportedFeature, fmt::format("compression method {}; that of gzip is 8", method));
  if ((flags_ & kGzipReservedFlags) != 0)
    fail(Status::kUnsupportedFeature, "a reserved flag of the header is set");
  header_crc_ = checksum_of(Checksum::kCrc32, bytes);
  held_bytes_ = header_bytes_ = bytes.size();
  member_bytes_.reset();
  name_.clear();
  return want(State::kFixedPart, kFixedPartBytes + ((flags_ & kGzipExtraFlag) != 0 ? kExtraSizeBytes : 0),
              Event::kMore);
}

// Reads a part of the header, after its first bytes.
GzipReader::Event GzipReader::read_header(std::span<const std::byte> bytes) {
  held_bytes_ = header_bytes_ += bytes.size();
  if (state_ == State::kHeaderChecksum) {
    const unsigned found = header_crc_ & 0xFFFF, expected = load_le16(bytes.data());
    if (verify_header_checksum_ && found != expected)
      fail(Status::kHeaderChecksumMismatch,
           fmt::format("the header's checksum is {:#06x}, it should be {:#06x}", found, expected));
    return end_header();
  }
  header_crc_ = checksum_behind(Checksum::kCrc32, header_crc_, bytes);
  switch (state_) {
    case State::kFixedPart:
      time_ = load_le32(bytes.data());
      if ((flags_ & kGzipExtraFlag) == 0) return next_field(State::kExtra);
      if (const unsigned extra_bytes = load_le16(bytes.data() + kFixedPartBytes); extra_bytes != 0)
        return want(State::kExtra, extra_bytes, Event::kMore);
      return next_field(State::kExtra);
    case State::kExtra:
      if (flags_ == kGzipExtraFlag)
        if (const std::uint32_t told = bgzf_member_bytes(bytes.data(), bytes.size()); told != 0)
          member_bytes_ = told;
      return next_field(State::kExtra);
    default:  // a byte of the name or the comment
      if (bytes[0] == std::byte{0}) return next_field(state_);
      if (state_ == State::kName && name_.size() < kMostNameBytes)
        name_.push_back(static_cast<char>(bytes[0]));
      return Event::kMore;
  }
}

GzipReader::Event GzipReader::next_field(State done) {
  if (done == State::kExtra && (flags_ & kGzipNameFlag) != 0) return want(State::kName, 1, Event::kMore);
  if (done != State::kComment && (flags_ & kGzipCommentFlag) != 0)
    return want(State::kComment, 1, Event::kMore);
  if ((flags_ & kGzipHeaderChecksumFlag) != 0) return want(State::kHeaderChecksum, 2, Event::kMore);
  return end_header();
}

GzipReader::Event GzipReader::end_header() {
  // A size that leaves no room for data and trailer is ignored; the member is then an ordinary one, unless BGZF was asked for.
  const bool has_room =
      member_bytes_ && *member_bytes_ >= header_bytes_ + kBgzfLeastDataBytes + kGzipTrailerBytes;
  if (member_bytes_ && !has_room && must_be_bgzf_)
    fail(Status::kCorruptBlock,
         fmt::format("the member states a size of {} bytes, in which it has no room", *member_bytes_));
  if (ignores_bgzf_ || !has_room) member_bytes_.reset();
  if (!in_bgzf_) return begin_frame();
  return member_bytes_ ? announce_block() : end_without_marker();
}

GzipReader::Event GzipReader::begin_frame() {
  enter_frame(position_);
  content_bytes_low_.reset();
  end_missing_ = false;
  if (member_bytes_) {
    header_.kind = "bgzf";
    header_.format = Format::kBgzf;
    header_.description = "bgzf, blocks";
    header_.block_content_checksums = true;
    header_.takes_dictionary = false;
    header_.may_be_streams = !must_be_bgzf_;
    header_.block_bytes = kBgzfMostContentBytes;
    header_.most_data_bytes = kMostMemberBytes;
    in_bgzf_ = true;
    return want(State::kFirstBlock, 0, Event::kFrameBegin);
  }
  header_.file_name = name_;
  header_.file_seconds = time_;
  pass_header();
  return begin_stream();
}

GzipReader::Event GzipReader::begin_stream() {
  header_.kind = header_.description = "gzip";
  header_.block_kind = BlockKind::kStream;
  header_.takes_dictionary = false;
  header_.content_checksum = true;
  header_.block_bytes = header_.most_data_bytes = kDeflatePieceBytes;
  in_stream_ = true;
  return want(State::kTrailer, kGzipTrailerBytes, Event::kFrameBegin);
}

void GzipReader::begin_stream_at(std::uint64_t frame_number, std::uint64_t at, std::uint64_t data_at) {
  ignores_bgzf_ = true;
  in_bgzf_ = end_missing_ = false;
  frame_number_ = frame_number;
  frame_at_ = at;
  position_ = data_at;
  held_bytes_ = 0;
  header_ = {};
  block_ = {};
  content_checksum_.reset();
  content_bytes_low_.reset();
  begin_stream();
}

void GzipReader::pass_header() {
  position_ += header_bytes_;
  held_bytes_ = 0;
}

GzipReader::Event GzipReader::announce_block() {
  const std::uint64_t at = position_;
  pass_header();
  const auto data_bytes = static_cast<std::size_t>(*member_bytes_ - header_bytes_ - kGzipTrailerBytes);
  if (*member_bytes_ == kBgzfMarkerBytes && data_bytes == kBgzfLeastDataBytes)
    return want(State::kMarker, kBgzfLeastDataBytes + kGzipTrailerBytes, Event::kMore);
  block_ = {data_bytes, false, std::nullopt, block_.number + 1, at};
  return want(State::kBlock, data_bytes + kGzipTrailerBytes, Event::kBlockBegin);
}

void GzipReader::take_behind_data(std::span<const std::byte> behind) {
  block_.content_checksum = load_le32(behind.data());
  block_.content_bytes = load_le32(behind.data() + 4);
  if (*block_.content_bytes > kBgzfMostContentBytes)
    fail(Status::kCorruptBlock,
         fmt::format("the member's trailer says {} bytes, a BGZF member holds at most {}",
                     *block_.content_bytes, kBgzfMostContentBytes));
}

GzipReader::Event GzipReader::read_block(std::span<const std::byte> bytes) {
  take_behind_data(bytes.subspan(block_.data_bytes));
  position_ += bytes.size();
  leave_block();
  return Event::kBlockEnd;
}

// Two bytes are an empty fixed block, followed by six bits without meaning; otherwise they are not valid.
GzipReader::Event GzipReader::read_marker(std::span<const std::byte> bytes) {
  if (bytes[0] != std::byte{3} || (bytes[1] & std::byte{3}) != std::byte{0})
    fail(Status::kCorruptBlock, "the end marker is not an empty member");
  if (const std::uint32_t size = load_le32(bytes.data() + kBgzfLeastDataBytes + 4); size != 0)
    fail(Status::kContentSizeMismatch,
         fmt::format("the end marker's trailer says {} bytes, it has none", size));
  if (const std::uint32_t found = load_le32(bytes.data() + kBgzfLeastDataBytes); found != 0)
    fail(Status::kBlockChecksumMismatch,
         fmt::format("the checksum of the end marker's content is 0, it should be {:#010x}", found));
  position_ += bytes.size();
  in_bgzf_ = false;
  return want(State::kMember, kIdentifyBytes, Event::kFrameEnd);
}

}  // namespace hemstitch
