#include "format/deflate/compress/parse/deflate_judge.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "format/deflate/compress/deflate_chunk.hpp"
#include "format/deflate/deflate_levels.hpp"

namespace hemstitch {
namespace {

constexpr int kJudgedLevel = 9;

}  // namespace

JudgedMatches judge_deflate_matches(std::span<const std::byte> content, std::span<const MatchRecord> records,
                                    std::size_t chunk_bytes, bool has_history) {
  JudgedMatches judged;
  const DeflateLevel level = deflate_level(kJudgedLevel);
  const std::vector<std::uint16_t> no_near_offsets(std::min(chunk_bytes, content.size()));
  for (std::size_t begin = 0; begin < content.size(); begin += chunk_bytes) {
    const std::size_t bytes = std::min(chunk_bytes, content.size() - begin);
    std::vector<MatchRecord> usable(records.begin() + static_cast<std::ptrdiff_t>(begin),
                                    records.begin() + static_cast<std::ptrdiff_t>(begin + bytes));
    if (!has_history)
      for (std::size_t i = 0; i < bytes; ++i)
        if (record_offset(usable[i]) > i) usable[i] = 0;
    const DeflateChunk chunk = make_deflate_chunk(content.subspan(begin, bytes), usable,
                                                  std::span(no_near_offsets).first(bytes), level);
    for (const DeflateChunkPart& part : chunk.parts) judged.bits += part.block.bits;
    std::size_t position = begin;
    for (const DeflateToken& token : chunk.tokens) {
      if (token.match_length != 0) judged.matches.push_back({position, token.value, token.match_length});
      position += token.content_bytes();
    }
  }
  return judged;
}

}  // namespace hemstitch
