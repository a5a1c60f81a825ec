// Reads frames of Zstandard (RFC 8878, section 3.1), and skippable ones. Each frame is a stream of blocks:
//
//   magic number, 4 bytes | header, 2 to 14 bytes | blocks, the last one marked | XXH64 of the content, where the
//   header says so: its lower 4 bytes
//
// What blocks hold, whoever restores them reads.
//
// If the places of all frames are known before they are read (zstd_places.hpp), the frames are blocks of one frame,
// each of which is restored by itself.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "format/frame_reader.hpp"
#include "format/zstd/frame/zstd_places.hpp"

namespace hemstitch {

class ZstdReader : public FrameReader {
 public:
  ZstdReader() = default;
  // Of a file whose frames are at these places.
  explicit ZstdReader(ZstdPlaces places) : places_(std::make_shared<const ZstdPlaces>(std::move(places))) {}

  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<ZstdReader>(*this); }
  std::span<const KnownBlock> known_blocks() const override {
    return places_ ? std::span(*places_).subspan(place_) : std::span<const KnownBlock>();
  }

 private:
  enum class State {
    kMagic,
    kDescriptor,
    kRestOfHeader,
    kStream,
    kFirstPlace,  // the frame was announced whose first block follows
    kBetweenPlaces,
    kSkippableSize,
    kBlock,
    kChecksum,
    kEnd
  };

  Event read(std::span<const std::byte> bytes) override;
  Event want(State state, std::size_t bytes, Event event);
  Event read_magic(std::span<const std::byte> bytes);
  Event read_header(std::span<const std::byte> bytes);
  Event read_between(std::span<const std::byte> bytes);
  Event begin_places();
  Event announce_place();
  void take_behind_data(std::span<const std::byte> behind) override;
  void leave_known_blocks(std::size_t blocks) override;
  void leave_block() override;
  void leave_stream() override;

  State state_ = State::kMagic;
  std::vector<std::byte> header_bytes_;
  bool has_checksum_ = false;
  std::shared_ptr<const ZstdPlaces> places_;  // null: frames are streams
  std::size_t place_ = 0;                     // of the frame that comes next, or is read
};

}  // namespace hemstitch
