#include "format/deflate/compress/deflate_compress_reference.hpp"

#include <algorithm>

#include "format/deflate/compress/deflate_chunk.hpp"
#include "format/deflate/compress/pack/deflate_encode.hpp"

namespace hemstitch {
namespace {

void put_chunk(const DeflateChunk& chunk, std::span<const std::byte> content, bool last,
               DeflateBitWriter& writer) {
  for (const DeflateChunkPart& part : chunk.parts) {
    const bool ends_stream = last && part.content_end == content.size();
    put_deflate_block(
        part.block, std::span(chunk.tokens).subspan(part.token_begin, part.token_end - part.token_begin),
        content.subspan(part.content_begin, part.content_end - part.content_begin), ends_stream, writer);
  }
}

// Writes the last block of a stream that has no content left: fixed codes, and only the end symbol.
void put_empty_last_block(DeflateBitWriter& writer) {
  put_deflate_block({DeflateBlockType::kFixed, 0, deflate_fixed_lengths(), {}}, {}, {}, true, writer);
}

}  // namespace

EncodedBlock compress_deflate_block_reference(const FinderInput& input, const DeflateLevel& level,
                                              DeflateEnd end, std::span<std::byte> output) {
  const MatchRecords records = find_hash_chain(input, level.finder);
  const NearOffsets near_offsets = find_near_three(input, level.near);
  const std::span<const std::byte> content = input.data.subspan(input.history_bytes);
  DeflateBitWriter writer(output);
  for (std::size_t begin = 0; begin < content.size(); begin += kDeflateChunkBytes) {
    const std::size_t bytes = std::min(kDeflateChunkBytes, content.size() - begin);
    const DeflateChunk chunk =
        make_deflate_chunk(content.subspan(begin, bytes), std::span(records).subspan(begin, bytes),
                           std::span(near_offsets).subspan(begin, bytes), level);
    const bool last = end == DeflateEnd::kFinal && begin + bytes == content.size();
    put_chunk(chunk, content.subspan(begin, bytes), last, writer);
    if (!writer.fits()) return {Status::kOutputTooSmall, 0};
  }
  if (end == DeflateEnd::kFinal) {
    if (content.empty()) put_empty_last_block(writer);
    writer.pad_to_byte();
  } else {
    put_deflate_stored({}, false, writer);
  }
  if (!writer.fits()) return {Status::kOutputTooSmall, 0};
  return {Status::kOk, writer.bytes()};
}

}  // namespace hemstitch
