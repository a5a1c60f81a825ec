#include "search/lz4_texts.hpp"

#include <algorithm>

#include "core/status.hpp"
#include "format/lz4/lz4_decode.hpp"
#include "format/lz4/lz4_frame.hpp"

namespace hemstitch {
namespace {

// How much a frame may hold: what it says, or what its blocks have room for.
std::uint64_t most_restored_bytes(const Lz4Text& text, const Lz4TextFrame& frame) {
  if (frame.content_bytes) return *frame.content_bytes;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < frame.block_count; ++i) {
    const Lz4TextBlock& block = text.blocks[frame.first_block + i];
    bytes += block.stored ? block.bytes : block.most_restored_bytes;
  }
  return bytes;
}

// How many bytes the block restores to; nothing where it does not, or not in the room.
std::optional<std::size_t> restore_block(std::span<const std::byte> file, const Lz4TextBlock& block,
                                         std::span<std::byte> room) {
  const auto data = file.subspan(block.at, block.bytes);
  if (block.checksum && lz4_checksum(data) != *block.checksum) return std::nullopt;
  if (block.stored) {
    if (data.size() > room.size()) return std::nullopt;
    std::copy(data.begin(), data.end(), room.begin());
    return data.size();
  }
  const std::size_t capacity = std::min<std::size_t>(room.size(), block.most_restored_bytes);
  const DecodedBlock decoded = decode_lz4_block(data, {}, room.first(capacity));
  if (decoded.status != Status::kOk) return std::nullopt;
  return decoded.bytes;
}

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
          if (parser.header().linked_blocks && text.frames.back().block_count != 0 && !parser.block().stored)
            return std::nullopt;
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

std::optional<std::span<const std::byte>> Lz4TextRestorer::restore(std::span<const std::byte> file) {
  const std::optional<Lz4Text> text = read_lz4_text(file);
  if (!text) return std::nullopt;
  std::uint64_t most_bytes = 0;
  for (const Lz4TextFrame& frame : text->frames) {
    most_bytes += most_restored_bytes(*text, frame);
    if (most_bytes > most_bytes_) return std::nullopt;  // before a sum of such sizes could overflow
  }
  const std::span<std::byte> all = room(most_bytes);
  std::size_t end = 0;
  for (const Lz4TextFrame& frame : text->frames) {
    const std::size_t begin = end;
    for (std::size_t i = 0; i < frame.block_count; ++i) {
      const auto bytes = restore_block(file, text->blocks[frame.first_block + i], all.subspan(end));
      if (!bytes) return std::nullopt;
      end += *bytes;
    }
    const std::span<const std::byte> content = all.subspan(begin, end - begin);
    if (frame.content_bytes && *frame.content_bytes != content.size()) return std::nullopt;
    if (frame.content_checksum && *frame.content_checksum != lz4_checksum(content)) return std::nullopt;
  }
  return all.first(end);
}

std::span<std::byte> Lz4TextRestorer::room(std::size_t bytes) {
  if (bytes > memory_bytes_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    memory_bytes_ = bytes;
  }
  return {memory_.get(), bytes};
}

}  // namespace hemstitch
