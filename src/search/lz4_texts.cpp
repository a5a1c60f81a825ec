#include "search/lz4_texts.hpp"

#include <algorithm>

#include "core/status.hpp"
#include "format/lz4/lz4_frame.hpp"

namespace hemstitch {
namespace {

// What parser.step() takes: as much of what is wanted as there is.
std::span<const std::byte> wanted(const Lz4FrameParser& parser, std::span<const std::byte> file) {
  const auto at = static_cast<std::size_t>(parser.position());
  return file.subspan(at, std::min(parser.wanted_bytes(), file.size() - at));
}

}  // namespace

std::optional<Lz4Text> read_lz4_text(std::span<const std::byte> file) {
  using Event = Lz4FrameParser::Event;
  Lz4Text text;
  Lz4FrameParser parser(true);
  try {
    for (;;) {
      const std::span<const std::byte> bytes = wanted(parser, file);
      switch (parser.step(bytes)) {
        case Event::kMore:
          break;
        case Event::kFrameBegin:
          if (parser.header().legacy || parser.header().dictionary_id) return std::nullopt;
          text.frames.push_back({text.blocks.size(), 0, parser.header().content_bytes, std::nullopt});
          break;
        case Event::kBlockBegin:
          if (parser.header().linked_blocks && text.frames.back().block_count != 0) return std::nullopt;
          text.blocks.push_back({parser.position(), static_cast<std::uint32_t>(parser.block().data_bytes),
                                 static_cast<std::uint32_t>(parser.header().block_bytes),
                                 parser.block().stored, std::nullopt});
          ++text.frames.back().block_count;
          break;
        case Event::kBlockEnd:
          text.blocks.back().checksum = parser.block().checksum;
          break;
        case Event::kFrameEnd:
          text.frames.back().content_checksum = parser.content_checksum();
          break;
        case Event::kEnd:
          return text;
        case Event::kSkip:
        case Event::kGarbage:
          return std::nullopt;
      }
    }
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace hemstitch
