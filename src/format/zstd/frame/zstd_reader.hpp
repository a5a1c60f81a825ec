// Reads frames of Zstandard (RFC 8878, section 3.1), and skippable ones. Each frame is a stream of blocks:
//
//   magic number, 4 bytes | header, 2 to 14 bytes | blocks, the last one marked | XXH64 of the content, where the
//   header says so: its lower 4 bytes
//
// What blocks hold, whoever restores them reads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "format/frame_reader.hpp"

namespace hemstitch {

class ZstdReader : public FrameReader {
 public:
  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<ZstdReader>(*this); }

 private:
  enum class State { kMagic, kDescriptor, kRestOfHeader, kStream, kChecksum, kEnd };

  Event read(std::span<const std::byte> bytes) override;
  Event want(State state, std::size_t bytes, Event event);
  Event read_magic(std::span<const std::byte> bytes);
  Event read_header(std::span<const std::byte> bytes);
  void leave_block() override {}
  void leave_stream() override;

  State state_ = State::kMagic;
  std::vector<std::byte> header_bytes_;
};

}  // namespace hemstitch
