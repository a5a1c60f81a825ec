#include "format/deflate/frame/zlib_reader.hpp"

#include <fmt/format.h>

#include "format/deflate/frame/deflate_frame.hpp"
#include "format/deflate/frame/deflate_head.hpp"

namespace hemstitch {

DeflateReader::Event DeflateReader::want(State state, std::size_t bytes, Event event) {
  state_ = state;
  wanted_bytes_ = bytes;
  return event;
}

DeflateReader::Event DeflateReader::read(std::span<const std::byte> bytes) {
  if (state_ == State::kBehind) return end_frame(bytes.empty() ? Event::kEnd : report_garbage(bytes));
  require_bytes(bytes.size());
  switch (state_) {
    case State::kHeader:
      return read_header(bytes);
    case State::kDictionary:
      return read_dictionary(bytes);
    case State::kTrailer:
      position_ += bytes.size();
      return read_trailer(bytes);
    case State::kStream:
    case State::kBehind:
      break;
  }
  fail(Status::kInternal, "the reader is in no state");
}

DeflateReader::Event DeflateReader::begin_stream() {
  header_.block_kind = BlockKind::kStream;
  header_.block_bytes = header_.most_data_bytes = kDeflatePieceBytes;
  in_stream_ = true;
  return want(State::kStream, 0, Event::kFrameBegin);
}

DeflateReader::Event DeflateReader::read_header(std::span<const std::byte>) {
  frame_number_ = 1;
  header_.kind = "deflate";
  header_.description = "raw deflate";
  return begin_stream();
}

DeflateReader::Event DeflateReader::read_dictionary(std::span<const std::byte>) {
  fail(Status::kInternal, "raw DEFLATE has no header to name a dictionary");
}

ZlibReader::Event ZlibReader::read_header(std::span<const std::byte> bytes) {
  const auto method_byte = static_cast<unsigned>(bytes[0]), flags = static_cast<unsigned>(bytes[1]);
  const auto not_zlib = [&](const std::string& why) {
    fail(Status::kUnknownFormat, fmt::format("this is not a zlib stream: {}", why));
  };
  if ((method_byte << 8 | flags) % 31 != 0) not_zlib("its first two bytes are not divisible by 31");
  if ((method_byte & 15) != kDeflateMethod)
    not_zlib(fmt::format("compression method {} instead of 8", method_byte & 15));
  if (const Status status = zlib_header_status(method_byte, flags); status != Status::kOk)
    fail(status, "a window of more than 32 KB");
  frame_number_ = 1;
  position_ += bytes.size();
  header_.kind = header_.description = "zlib";
  header_.content_checksum = true;
  header_.takes_dictionary = (flags & kZlibDictionaryFlag) != 0;
  if ((flags & kZlibDictionaryFlag) != 0) return want(State::kDictionary, 4, Event::kMore);
  return begin_stream();
}

ZlibReader::Event ZlibReader::read_dictionary(std::span<const std::byte> bytes) {
  position_ += bytes.size();
  header_.dictionary_id = load_be32(bytes.data());
  return begin_stream();
}

ZlibReader::Event ZlibReader::read_trailer(std::span<const std::byte> bytes) {
  content_checksum_ = load_be32(bytes.data());
  return end_frame(Event::kFrameEnd);
}

}  // namespace hemstitch
