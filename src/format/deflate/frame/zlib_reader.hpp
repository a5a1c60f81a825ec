// Reads zlib's format (RFC 1950) and raw DEFLATE (RFC 1951). Each is one frame, a stream; bytes after it are
// not a frame.
//
//   zlib:   8 and the window's size, 1 byte | flags, 1 byte; both, as a number with the first one high, divisible by 31
//           | Adler-32 of the dictionary, 4 bytes, where the flags tell of one | DEFLATE | Adler-32 of the content, 4 bytes
//
// Numbers are big-endian.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "format/frame_reader.hpp"

namespace hemstitch {

// Raw DEFLATE has no header, and its last block marks its end.
class DeflateReader : public FrameReader {
 public:
  DeflateReader() { wanted_bytes_ = 0; }
  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<DeflateReader>(*this); }

 protected:
  enum class State { kHeader, kDictionary, kStream, kTrailer, kBehind };

  Event want(State state, std::size_t bytes, Event event);
  // Set `header_` first.
  Event begin_stream();
  Event end_frame(Event event) { return want(State::kBehind, 1, event); }

  State state_ = State::kHeader;

 private:
  Event read(std::span<const std::byte> bytes) override;
  void leave_block() override {}
  void leave_stream() override { want(State::kTrailer, trailer_bytes(), Event::kMore); }
  virtual std::size_t trailer_bytes() const { return 0; }
  virtual Event read_header(std::span<const std::byte> bytes);
  virtual Event read_dictionary(std::span<const std::byte> bytes);
  virtual Event read_trailer(std::span<const std::byte>) { return end_frame(Event::kFrameEnd); }
};

class ZlibReader : public DeflateReader {
 public:
  ZlibReader() { wanted_bytes_ = 2; }
  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<ZlibReader>(*this); }

 private:
  std::size_t trailer_bytes() const override { return 4; }
  Event read_header(std::span<const std::byte> bytes) override;
  Event read_dictionary(std::span<const std::byte> bytes) override;
  Event read_trailer(std::span<const std::byte> bytes) override;
};

}  // namespace hemstitch
