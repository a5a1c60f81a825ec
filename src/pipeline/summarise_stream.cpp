#include <fmt/format.h>

#include <array>

#include "format/lz4/lz4_block_size.hpp"
#include "format/lz4/lz4_frame.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {
namespace {

FrameSummary begin_summary(const Lz4FrameHeader& header) {
  FrameSummary summary;
  summary.kind = header.legacy ? FrameSummary::Kind::kLz4Legacy : FrameSummary::Kind::kLz4;
  summary.block_bytes = header.block_bytes;
  summary.linked_blocks = header.linked_blocks;
  summary.block_checksums = header.block_checksums;
  summary.content_checksum = header.content_checksum;
  summary.content_size_in_header = header.content_bytes.has_value();
  summary.content_bytes = header.content_bytes.value_or(0);
  summary.dictionary_id = header.dictionary_id;
  return summary;
}

// A block's content bytes, when they are needed; the block is read or passed over either way.
std::uint64_t pass_block(Lz4FrameParser& parser, Source& source, bool count_content,
                         std::vector<std::byte>& data) {
  const Lz4FrameParser::Block block = parser.block();
  if (!count_content) {
    parser.block_skipped(source.skip(parser.wanted_bytes()));
    return 0;
  }
  data.resize(parser.wanted_bytes());
  const std::size_t bytes = source.read(data);
  parser.step(std::span(data).first(bytes));
  if (block.stored) return block.data_bytes;
  const auto restored = lz4_block_restored_bytes(std::span(data).first(block.data_bytes));
  if (!restored)
    throw Error(Status::kCorruptBlock, "the block's tokens do not add up",
                {parser.frame_number(), block.number, block.at});
  return *restored;
}

}  // namespace

StreamSummary summarise_stream(Source& source) {
  using Event = Lz4FrameParser::Event;
  StreamSummary summary;
  FrameSummary frame;
  Lz4FrameParser parser(true);
  std::array<std::byte, kMaxFrameHeaderBytes> header_bytes;
  std::vector<std::byte> data;
  for (;;) {
    const auto room = std::span(header_bytes).first(parser.wanted_bytes());
    const std::size_t bytes = source.read(room);
    switch (parser.step(room.first(bytes))) {
      case Event::kMore:
        break;
      case Event::kFrameBegin:
        frame = begin_summary(parser.header());
        break;
      case Event::kBlockBegin:
        frame.block_count++;
        if (parser.block().stored) frame.stored_block_count++;
        frame.content_bytes += pass_block(parser, source, !frame.content_size_in_header, data);
        break;
      case Event::kBlockEnd:
        break;  // pass_block() took it
      case Event::kFrameEnd:
        frame.compressed_bytes = parser.position() - parser.frame_at();
        summary.frames.push_back(frame);
        break;
      case Event::kSkip:
        parser.skipped(source.skip(parser.skip_bytes()));
        frame = {};
        frame.kind = FrameSummary::Kind::kSkippable;
        frame.compressed_bytes = parser.position() - parser.frame_at();
        summary.frames.push_back(frame);
        break;
      case Event::kGarbage:
        summary.trailing_garbage_at = parser.garbage_at();
        return summary;
      case Event::kEnd:
        return summary;
    }
  }
}

}  // namespace hemstitch
