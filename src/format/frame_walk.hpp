// Walks over the frames and blocks of an input: for their index (frame_index.cpp) and the table of their
// places (block_table.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/source.hpp"
#include "format/frame_index.hpp"
#include "format/frame_reader.hpp"

namespace hemstitch {

// What walk() reads from.
class SourceInput {
 public:
  explicit SourceInput(Source& source) : source_(source) {}
  std::span<const std::byte> read(std::size_t count) {
    if (end_ - at_ < count) fill(count);
    const std::span<const std::byte> bytes(buffer_.data() + at_, std::min(count, end_ - at_));
    at_ += bytes.size();
    return bytes;
  }
  std::uint64_t skip(std::uint64_t count) {
    const std::uint64_t kept = std::min<std::uint64_t>(count, end_ - at_);
    at_ += static_cast<std::size_t>(kept);
    return kept == count ? count : kept + source_.skip(count - kept);
  }
  // Gives back the last bytes that were read, to be read again.
  void give_back(std::size_t count) { at_ -= count; }

 private:
  // Reads no byte more than is asked for, so the source's position is where the frames have been read to.
  void fill(std::size_t count) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= std::exchange(at_, 0);
    if (buffer_.size() < count) buffer_.resize(count);
    end_ += source_.read(std::span(buffer_).subspan(end_, count - end_));
  }

  Source& source_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;  // the bytes that were given back
};

// Restores the stream of a frame to find where it ends; returns the size of its content.
template <class Input>
std::uint64_t pass_stream(FrameReader& reader, Input& input, StreamDecoder& decoder) {
  if (reader.header().dictionary_id)
    throw Error(Status::kDictionaryNeeded, "the size of the content is only known with the dictionary",
                reader.place());
  constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
  std::vector<std::byte> content(kPieceBytes);
  std::uint64_t content_bytes = 0;
  while (reader.in_stream()) {
    const std::span<const std::byte> piece = input.read(kPieceBytes);
    const StreamStep step = decoder.restore(piece, content);
    reader.stream_passed(step, step.input_bytes, piece.empty());
    input.give_back(piece.size() - step.input_bytes);
    content_bytes += step.output_bytes;
  }
  return content_bytes;
}

// What a visitor wants of an announced block.
enum class BlockPart {
  kNone,    // nothing is read
  kBehind,  // what follows its data: checksums, or its size
  kAll,     // its data as well
};

// Passes all events to the visitor. wanted_part() decides what is read of an announced block; block(block,
// data) is called for each block, without data unless it was read. block(), frame_ends() and
// skippable_frame() return whether the walk goes on. Where a visitor has passes_known(), it is asked first how many of
// the reader's known_blocks() are passed over, unread.
template <class Input, class Visitor>
void walk(FrameStream& stream, Input&& input, Visitor& visitor) {
  using Event = FrameReader::Event;
  for (;;) {
    const Event event = stream.step(input.read(stream.wanted_bytes()));
    FrameReader& reader = stream.reader();
    switch (event) {
      case Event::kMore:
        break;
      case Event::kFrameBegin:
        visitor.frame_begins(reader);
        if (reader.in_stream()) visitor.stream_passed(pass_stream(reader, input, visitor.decoder(reader)));
        break;
      case Event::kBlockBegin: {
        if constexpr (requires { visitor.passes_known(reader); }) {
          if (const std::size_t blocks = visitor.passes_known(reader); blocks != 0) {
            const FrameReader::KnownBlock& last = reader.known_blocks()[blocks - 1];
            reader.blocks_skipped(blocks, input.skip(last.at + last.bytes - reader.position()));
            break;
          }
        }
        IndexedBlock block{.at = reader.position(),
                           .data_bytes = static_cast<std::uint32_t>(reader.block().data_bytes),
                           .stored = reader.block().stored};
        const BlockPart part = visitor.wanted_part(reader);
        std::span<const std::byte> data;
        if (part == BlockPart::kNone) {
          reader.block_skipped(input.skip(reader.wanted_bytes()));
        } else if (part == BlockPart::kBehind) {
          const std::uint64_t passed = input.skip(block.data_bytes);
          const std::span<const std::byte> behind = input.read(reader.wanted_bytes() - block.data_bytes);
          if (passed + behind.size() < reader.wanted_bytes()) reader.block_skipped(passed + behind.size());
          reader.data_skipped(behind);
        } else {
          const std::span<const std::byte> bytes = input.read(reader.wanted_bytes());
          stream.step(bytes);
          data = bytes.first(block.data_bytes);
        }
        block.checksum = reader.block().checksum;
        block.content_checksum = reader.block().content_checksum;
        block.content_bytes = reader.block().content_bytes;
        if (!visitor.block(reader, block, data)) return;
        break;
      }
      case Event::kBlockEnd:
        break;  // kBlockBegin has taken it
      case Event::kFrameEnd:
        if (!visitor.frame_ends(reader)) return;
        break;
      case Event::kSkip:
        reader.skipped(input.skip(reader.skip_bytes()));
        if (!visitor.skippable_frame(reader)) return;
        break;
      case Event::kGarbage:
        visitor.garbage(reader.garbage_at());
        return;
      case Event::kEnd:
        return;
    }
  }
}

}  // namespace hemstitch
