#include <algorithm>

#include "format/deflate/compress/pack/deflate_encode.hpp"

namespace hemstitch {
namespace {

void put_head(DeflateBlockType type, bool last, DeflateBitWriter& writer) {
  writer.put((last ? 1 : 0) | static_cast<std::uint32_t>(type) << 1, kDeflateBlockHeadBits);
}

void put_header(const DeflateHeader& header, DeflateBitWriter& writer) {
  writer.put(header.litlen_count - 257, 5);
  writer.put(header.distance_count - 1, 5);
  writer.put(header.precode_count - 4, 4);
  for (std::uint32_t i = 0; i < header.precode_count; ++i)
    writer.put(header.precode_bits[deflate_precode_symbol(i)], 3);
  std::array<std::uint16_t, kDeflatePrecodeCount> codes;
  deflate_canonical_codes(header.precode_bits, kDeflatePrecodeCount, codes.data());
  for (std::uint32_t i = 0; i < header.item_count; ++i) {
    const DeflateLengthItem& item = header.items[i];
    writer.put(codes[item.symbol], header.precode_bits[item.symbol]);
    writer.put(item.extra, deflate_item_extra_bits(item.symbol));
  }
}

void put_tokens(const DeflateCodeLengths& lengths, std::span<const DeflateToken> tokens,
                DeflateBitWriter& writer) {
  std::array<std::uint16_t, kDeflateFixedLitlenCount> litlen_codes;
  std::array<std::uint16_t, kDeflateFixedDistanceCount> distance_codes;
  deflate_canonical_codes(lengths.litlen.data(), kDeflateFixedLitlenCount, litlen_codes.data());
  deflate_canonical_codes(lengths.distance.data(), kDeflateFixedDistanceCount, distance_codes.data());
  for (const DeflateToken& token : tokens) {
    if (token.match_length == 0) {
      writer.put(litlen_codes[token.value], lengths.litlen[token.value]);
      continue;
    }
    const std::uint32_t length = deflate_length_symbol(token.match_length);
    writer.put(litlen_codes[length], lengths.litlen[length]);
    writer.put(token.match_length - deflate_length_base(length), deflate_length_extra_bits(length));
    const std::uint32_t distance = deflate_distance_symbol(token.value);
    writer.put(distance_codes[distance], lengths.distance[distance]);
    writer.put(token.value - deflate_distance_base(distance), deflate_distance_extra_bits(distance));
  }
  writer.put(litlen_codes[kDeflateEndOfBlock], lengths.litlen[kDeflateEndOfBlock]);
}

}  // namespace

void DeflateBitWriter::put_bytes(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) put(static_cast<std::uint32_t>(byte), 8);
}

void put_deflate_stored(std::span<const std::byte> content, bool last, DeflateBitWriter& writer) {
  do {
    const std::size_t count = std::min<std::size_t>(content.size(), kDeflateMostStoredBytes);
    put_head(DeflateBlockType::kStored, last && count == content.size(), writer);
    writer.pad_to_byte();
    writer.put(static_cast<std::uint32_t>(count), 16);
    writer.put(static_cast<std::uint32_t>(count) ^ 0xFFFF, 16);
    writer.put_bytes(content.first(count));
    content = content.subspan(count);
  } while (!content.empty());
}

void put_deflate_block(const DeflateBlock& block, std::span<const DeflateToken> tokens,
                       std::span<const std::byte> content, bool last, DeflateBitWriter& writer) {
  if (block.type == DeflateBlockType::kStored) return put_deflate_stored(content, last, writer);
  put_head(block.type, last, writer);
  if (block.type == DeflateBlockType::kDynamic) put_header(block.header, writer);
  put_tokens(block.lengths, tokens, writer);
}

}  // namespace hemstitch
