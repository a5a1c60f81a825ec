// Reads gzip (RFC 1952) and BGZF (section 4.1 of the SAM specification), which is gzip in members of at most
// 64 KB that state their size.
//
//   member:   1f 8b | 8, 1 byte | flags, 1 byte | time, 4 bytes | 2 bytes | extra field, with its size in 2 bytes before it
//             | name, to a byte of 0 | comment, to a byte of 0 | CRC-16 of the header | DEFLATE | CRC-32 of the content
//             | its size modulo 2^32, 4 bytes; of the fields from the extra one to the CRC-16 those that flags tell of
//   BGZF:     the extra field, alone, has a subfield "BC" of 2 bytes: the member's size less 1
//
// An ordinary member is a frame, and a stream. Consecutive BGZF members are one frame, each of them a block.
// It ends with the marker, an empty member of 28 bytes that is not a block, or where something else follows.
// Numbers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "format/frame_reader.hpp"

namespace hemstitch {

// Whether a gzip member may begin with these bytes; looks at the first two.
bool is_gzip(std::span<const std::byte> first_bytes);

class GzipReader : public FrameReader {
 public:
  explicit GzipReader(bool verify_header_checksum) : verify_header_checksum_(verify_header_checksum) {}

  Event step(std::span<const std::byte> bytes) override;
  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<GzipReader>(*this); }

 private:
  enum class State {
    kMember,     // its first four bytes, or other data
    kFixedPart,  // the rest of what every header has, with the size of the extra field if there is one
    kExtra,
    kName,
    kComment,
    kHeaderChecksum,
    kNextFrame,   // a header was read that does not belong to the frame before
    kFirstBlock,  // of a BGZF frame whose header was read
    kBlock,
    kMarker,
    kTrailer,
    kZeros,  // after the last member
  };

  Event want(State state, std::size_t bytes, Event event);
  Event read_member(std::span<const std::byte> bytes);
  Event read_between(std::span<const std::byte> bytes);
  Event begin_header(std::span<const std::byte> bytes);
  Event read_header(std::span<const std::byte> bytes);
  Event next_field(State done);
  Event end_header();
  Event begin_frame();
  void pass_header();
  Event announce_block();
  Event read_block(std::span<const std::byte> bytes);
  Event read_marker(std::span<const std::byte> bytes);
  Event read_zeros(std::span<const std::byte> bytes);
  void take_behind_data(std::span<const std::byte> behind) override;
  void leave_block() override { want(State::kMember, kIdentifyBytes, Event::kBlockEnd); }
  void leave_stream() override { want(State::kTrailer, 8, Event::kMore); }

  bool verify_header_checksum_;
  State state_ = State::kMember;
  bool in_bgzf_ = false;  // between members of a BGZF frame

  // The header that is being read; position_ stays at its beginning until it is complete.
  std::array<std::byte, kIdentifyBytes> first_bytes_{};
  std::size_t first_count_ = 0;
  unsigned flags_ = 0;
  std::uint64_t header_bytes_ = 0;
  std::uint32_t header_crc_ = 0;
  std::uint32_t time_ = 0;
  std::string name_;                           // at most kMostNameBytes of it
  std::optional<std::uint32_t> member_bytes_;  // of a BGZF member
};

}  // namespace hemstitch
