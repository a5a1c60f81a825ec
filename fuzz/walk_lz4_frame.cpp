// Any bytes as a frame: the walk from block to block that devices use must find the same blocks as the
// parser, and stop for the same reason.
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_walk.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

namespace {

struct Parsed {
  std::vector<WalkedBlock> blocks;
  Status status = Status::kOk;
};

// Parses from the end of the header to the end mark.
Parsed parse_blocks(Lz4FrameParser& parser, std::span<const std::byte> frame) {
  Parsed parsed;
  std::size_t at = static_cast<std::size_t>(parser.position());
  try {
    for (;;) {
      const auto bytes = frame.subspan(at, std::min(parser.wanted_bytes(), frame.size() - at));
      const auto event = parser.step(bytes);
      if (event == Lz4FrameParser::Event::kBlockEnd)
        parsed.blocks.push_back({at, static_cast<std::uint32_t>(parser.block().data_bytes),
                                 parser.block().stored, parser.block().checksum.value_or(0)});
      at += bytes.size();
      // Stops at the end mark, or before the checksum that follows it.
      if (event == Lz4FrameParser::Event::kFrameEnd || event == Lz4FrameParser::Event::kMore) return parsed;
    }
  } catch (const Error& error) {
    parsed.status = error.status();
    return parsed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const std::uint32_t most_blocks = input.ConsumeIntegralInRange<std::uint32_t>(0, 20);
  testing::GuardedBuffer frame(rest_of(input));

  Lz4FrameParser parser(false);
  try {
    for (auto event = Lz4FrameParser::Event::kMore; event != Lz4FrameParser::Event::kFrameBegin;) {
      const auto at = static_cast<std::size_t>(parser.position());
      event =
          parser.step(frame.bytes().subspan(at, std::min(parser.wanted_bytes(), frame.bytes().size() - at)));
      if (event == Lz4FrameParser::Event::kSkip) return 0;
    }
  } catch (const Error&) {
    return 0;
  }
  if (parser.header().legacy) return 0;
  const std::uint64_t header_bytes = parser.position();
  const FrameHeader header = parser.header();
  const Parsed parsed = parse_blocks(parser, frame.bytes());

  std::vector<WalkedBlock> blocks;
  const WalkedFrame walked =
      walk_lz4_frame(frame.bytes().data(), frame.bytes().size(), header_bytes,
                     static_cast<std::uint32_t>(header.block_bytes), header.block_checksums, most_blocks,
                     [&](std::uint32_t number, const WalkedBlock& block) {
                       require(number == blocks.size());
                       blocks.push_back(block);
                     });
  require(walked.block_count == blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    require(i < parsed.blocks.size());
    require(blocks[i].at == parsed.blocks[i].at && blocks[i].bytes == parsed.blocks[i].bytes &&
            blocks[i].stored == parsed.blocks[i].stored && blocks[i].checksum == parsed.blocks[i].checksum);
  }
  if (walked.status == Status::kMemoryLimit) {
    require(blocks.size() == most_blocks);
  } else {
    require(walked.status == parsed.status && blocks.size() == parsed.blocks.size());
  }
  return 0;
}
