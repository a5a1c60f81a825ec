#include "format/zstd/frame/zstd_reader.hpp"

#include "core/bytes.hpp"
#include "format/identify.hpp"
#include "format/skippable_frame.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kMagicBytes = 4, kContentChecksumBytes = 4;

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
      return want(State::kRestOfHeader, zstd_header_rest_bytes(bytes[0]) - 1, Event::kMore);
    case State::kRestOfHeader:
      return read_header(bytes);
    case State::kChecksum:
      content_checksum_ = load_le32(bytes.data());
      position_ += bytes.size();
      return want(State::kMagic, kMagicBytes, Event::kFrameEnd);
    case State::kEnd:
      return want(State::kMagic, kMagicBytes, Event::kFrameEnd);
  }
  fail(Status::kInternal, "the reader is in no state");
}

ZstdReader::Event ZstdReader::read_magic(std::span<const std::byte> bytes) {
  if (begins_skippable_frame(bytes)) return begin_skippable_frame();
  if (bytes.size() < kMagicBytes || load_le32(bytes.data()) != kZstdMagic) {
    if (frame_number_ == 0) refuse_data(bytes);
    if (bytes.empty()) return want(State::kMagic, kMagicBytes, Event::kEnd);
    if (is_cut_skippable_magic(bytes) || is_cut_begin(bytes, kZstdFirstBytes)) require_bytes(bytes.size());
    return want(State::kMagic, kMagicBytes, report_garbage(bytes));
  }
  enter_frame(position_);
  position_ += kMagicBytes;
  return want(State::kDescriptor, 1, Event::kMore);
}

ZstdReader::Event ZstdReader::read_header(std::span<const std::byte> bytes) {
  header_bytes_.insert(header_bytes_.end(), bytes.begin(), bytes.end());
  const std::optional<ZstdFrameHeader> header = read_zstd_header(header_bytes_);
  if (!header) fail(Status::kCorruptHeader, "the reserved bit of the header is set (3.1.1.1.1.4)");
  position_ += header_bytes_.size();
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

void ZstdReader::leave_stream() {
  if (header_.content_checksum)
    want(State::kChecksum, kContentChecksumBytes, Event::kMore);
  else
    want(State::kEnd, 0, Event::kMore);
}

}  // namespace hemstitch
