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
// The marker is missing if the data ends after a block that has content.
//
// Other writers may have put something else into such a subfield, and every other reader of gzip ignores it.
// So a block that is not what its header says may be an ordinary member (begin_stream_at()), unless the data
// must be BGZF. Numbers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "format/frame_reader.hpp"

namespace hemstitch {

inline constexpr std::array<std::string_view, 1> kGzipFirstBytes{"\x1F\x8B"};
// Whether a gzip member may begin with these bytes.
bool is_gzip(std::span<const std::byte> first_bytes);

class GzipReader : public FrameReader {
 public:
  // `must_be_bgzf`: members that state their size are judged by it.
  explicit GzipReader(bool verify_header_checksum, bool must_be_bgzf = false)
      : verify_header_checksum_(verify_header_checksum), must_be_bgzf_(must_be_bgzf) {}

  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<GzipReader>(*this); }
  bool may_be_stream() const override {
    return in_bgzf_ && header_.may_be_streams && (state_ == State::kBlock || state_ == State::kMarker);
  }
  void begin_stream_at(std::uint64_t frame_number, std::uint64_t at, std::uint64_t data_at) override;
  void read_blocks_as_streams() override { ignores_bgzf_ = true; }

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

  Event read(std::span<const std::byte> bytes) override;
  Event want(State state, std::size_t bytes, Event event);
  Event read_member(std::span<const std::byte> bytes);
  Event read_between(std::span<const std::byte> bytes);
  Event end_without_marker();
  Event begin_header(std::span<const std::byte> bytes);
  Event read_header(std::span<const std::byte> bytes);
  Event next_field(State done);
  Event end_header();
  Event begin_frame();
  Event begin_stream();
  void pass_header();
  Event announce_block();
  Event read_block(std::span<const std::byte> bytes);
  Event read_marker(std::span<const std::byte> bytes);
  Event read_zeros(std::span<const std::byte> bytes);
  void take_behind_data(std::span<const std::byte> behind) override;
  void leave_block() override { want(State::kMember, kIdentifyBytes, Event::kBlockEnd); }
  void leave_stream() override { want(State::kTrailer, 8, Event::kMore); }

  bool verify_header_checksum_;
  bool must_be_bgzf_;
  bool ignores_bgzf_ = false;
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
