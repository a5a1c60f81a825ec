#include "format/zstd/restore/zstd_sections.hpp"

#include <algorithm>

#include "format/zstd/restore/zstd_bits.hpp"

namespace hemstitch {
namespace {

// 4.2.2: a stream gives exactly so many literals, and then it is used up.
void read_huffman_stream(std::span<const std::byte> stream, const ZstdHuffman& table,
                         std::span<std::byte> to) {
  ZstdBackwardBits bits(stream);
  for (std::byte& literal : to) {
    const ZstdHuffman::Entry entry = table.entries[bits.peek(table.most_bits)];
    literal = static_cast<std::byte>(entry.symbol);
    bits.skip(entry.bits);
  }
  require_zstd(bits.left() == 0, "a stream of literals does not end where it should (4.2.2)");
}

// 3.1.1.3.1.6: three sizes, and four streams, of which the last one gives the rest.
void read_four_streams(std::span<const std::byte> data, const ZstdHuffman& table, std::span<std::byte> to) {
  constexpr std::size_t kStreams = 4, kSizesBytes = 6;
  constexpr std::string_view kOutside = "the sizes of four streams of literals are wrong (3.1.1.3.1.6)";
  const std::size_t each = (to.size() + kStreams - 1) / kStreams;
  require_zstd(data.size() >= kSizesBytes && to.size() >= kSizesBytes && (kStreams - 1) * each <= to.size(),
               kOutside);
  std::span<const std::byte> rest = data.subspan(kSizesBytes);
  for (std::size_t i = 0; i < kStreams; ++i) {
    const bool last = i + 1 == kStreams;
    const std::size_t bytes = last ? rest.size() : zstd_number(data.subspan(2 * i, 2));
    const std::size_t count = last ? to.size() : each;
    require_zstd(bytes <= rest.size(), kOutside);
    read_huffman_stream(rest.first(bytes), table, to.first(count));
    rest = rest.subspan(bytes);
    to = to.subspan(count);
  }
}

}  // namespace

// 3.1.1.3.1
ZstdLiteralsHeader read_zstd_literals_header(std::span<const std::byte> block) {
  constexpr std::string_view kCutOff = "the literals are cut off (3.1.1.3.1)";
  require_zstd(!block.empty(), kCutOff);
  const auto head = static_cast<unsigned>(block[0]);
  const unsigned size_format = head >> 2 & 3;
  ZstdLiteralsHeader header;
  header.type = static_cast<ZstdLiteralsType>(head & 3);
  const bool coded =
      header.type == ZstdLiteralsType::kCompressed || header.type == ZstdLiteralsType::kTreeless;
  if (coded)
    header.header_bytes = size_format < 2 ? 3 : size_format + 2;
  else
    header.header_bytes = size_format == 1 ? 2 : size_format == 3 ? 3 : 1;
  require_zstd(header.header_bytes <= block.size(), kCutOff);
  const std::uint64_t sizes =
      zstd_number(block.first(header.header_bytes)) >> (header.header_bytes == 1 ? 3 : 4);
  if (coded) {
    const unsigned width = size_format < 2 ? 10 : size_format == 2 ? 14 : 18;
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    header.count = static_cast<std::size_t>(sizes & mask);
    header.data_bytes = static_cast<std::size_t>(sizes >> width & mask);
    header.four_streams = size_format != 0;
  } else {
    header.count = static_cast<std::size_t>(sizes);
    header.data_bytes = header.type == ZstdLiteralsType::kRaw ? header.count : 1;
  }
  require_zstd(header.data_bytes <= block.size() - header.header_bytes, kCutOff);
  return header;
}

std::vector<std::byte> read_zstd_literals(std::span<const std::byte> block, const ZstdLiteralsHeader& header,
                                          ZstdKeptTables& kept) {
  std::span<const std::byte> data = block.subspan(header.header_bytes, header.data_bytes);
  if (header.type == ZstdLiteralsType::kRaw) return {data.begin(), data.end()};
  if (header.type == ZstdLiteralsType::kRle) return std::vector<std::byte>(header.count, data[0]);
  if (header.type == ZstdLiteralsType::kCompressed) {
    std::size_t used_bytes = 0;
    kept.literals = read_zstd_huffman(data, used_bytes);
    data = data.subspan(used_bytes);
  }
  require_zstd(kept.literals.has_value(),
               "literals without a Huffman table, and there was none (3.1.1.3.1.1)");
  std::vector<std::byte> literals(header.count);
  if (header.four_streams)
    read_four_streams(data, *kept.literals, literals);
  else
    read_huffman_stream(data, *kept.literals, literals);
  return literals;
}

// 3.1.1.3.2.1
ZstdSequencesHeader read_zstd_sequences_header(std::span<const std::byte> section) {
  constexpr std::string_view kCutOff = "the header of the sequences is cut off (3.1.1.3.2.1)";
  constexpr unsigned kTwoBytes = 128, kThreeBytes = 255, kThreeBytesBase = 0x7F00;
  require_zstd(!section.empty(), kCutOff);
  const auto head = static_cast<unsigned>(section[0]);
  ZstdSequencesHeader header;
  header.count_bytes = head == kThreeBytes ? 3 : head >= kTwoBytes ? 2 : 1;
  require_zstd(section.size() >= header.count_bytes, kCutOff);
  const std::uint64_t number = zstd_number(section.subspan(1, header.count_bytes - 1));
  header.count = head == kThreeBytes ? number + kThreeBytesBase
                 : head >= kTwoBytes ? ((head - kTwoBytes) << 8) + number
                                     : head;
  section = section.subspan(header.count_bytes);
  if (header.count == 0) {
    require_zstd(section.empty(), "bytes follow the sequences, of which there are none (3.1.1.3.2.1)");
    return header;
  }
  require_zstd(!section.empty(), kCutOff);
  require_zstd((static_cast<unsigned>(section[0]) & 3) == 0,
               "the reserved bits of the tables' modes are not 0 (3.1.1.3.2.1)");
  return header;
}

// 3.1.1.3.2.1
void take_zstd_table(ZstdTableMode mode, const ZstdCodeKind& kind, std::span<const std::byte>& section,
                     std::optional<ZstdTable>& kept) {
  switch (mode) {
    case ZstdTableMode::kPredefined:
      kept = make_zstd_table(kind.predefined, kind.predefined_log);
      return;
    case ZstdTableMode::kRle: {
      require_zstd(!section.empty(), "the symbol of an RLE table is missing (3.1.1.3.2.1)");
      const auto symbol = static_cast<std::uint8_t>(section[0]);
      require_zstd(symbol <= kind.most_symbol, "an RLE table has no such symbol (3.1.1.3.2.1)");
      kept = make_zstd_rle_table(symbol);
      section = section.subspan(1);
      return;
    }
    case ZstdTableMode::kOwn: {
      std::size_t used_bytes = 0;
      kept = read_zstd_table(section, kind.most_log, kind.most_symbol, used_bytes);
      section = section.subspan(used_bytes);
      return;
    }
    case ZstdTableMode::kRepeat:
      require_zstd(kept.has_value(), "a table is to be repeated, and there was none (3.1.1.3.2.1)");
  }
}

// 3.1.1.3.2.1
ZstdSequenceReader::ZstdSequenceReader(std::span<const std::byte> section, ZstdKeptTables& kept)
    : tables_(kept) {
  const ZstdSequencesHeader header = read_zstd_sequences_header(section);
  left_ = header.count;
  if (left_ == 0) return;
  const auto byte = static_cast<unsigned>(section[header.count_bytes]);
  section = section.subspan(header.count_bytes + 1);
  const std::array<std::optional<ZstdTable>*, 3> tables{&kept.literal_codes, &kept.offset_codes,
                                                        &kept.match_codes};
  for (unsigned i = 0; i < tables.size(); ++i) {
    modes[i] = static_cast<ZstdTableMode>(byte >> (6 - 2 * i) & 3);
    const std::span<const std::byte> from = section;
    take_zstd_table(modes[i], *kZstdCodeKinds[i], section, *tables[i]);
    descriptions[i] = from.first(from.size() - section.size());
  }
  bits_.emplace(section);
  literal_state_ = bits_->take(tables_.literal_codes->log);
  offset_state_ = bits_->take(tables_.offset_codes->log);
  match_state_ = bits_->take(tables_.match_codes->log);
}

// 3.1.1.3.2.1.2. The last sequence changes no state, and uses the stream up.
ZstdSequence ZstdSequenceReader::take() {
  const ZstdCell literal = tables_.literal_codes->cells[literal_state_],
                 offset = tables_.offset_codes->cells[offset_state_],
                 match = tables_.match_codes->cells[match_state_];
  const ZstdCode literal_code = kZstdLiteralCodes[literal.symbol], match_code = kZstdMatchCodes[match.symbol];
  ZstdSequence sequence;
  sequence.offset_value = (1U << offset.symbol) + bits_->take(offset.symbol);
  sequence.match = match_code.base + bits_->take(match_code.bits);
  sequence.literals = literal_code.base + bits_->take(literal_code.bits);
  if (--left_ > 0) {
    literal_state_ = literal.base + bits_->take(literal.bits);
    match_state_ = match.base + bits_->take(match.bits);
    offset_state_ = offset.base + bits_->take(offset.bits);
  }
  require_zstd(bits_->left() >= 0, "the sequences are cut off (3.1.1.3.2.1.2)");
  require_zstd(left_ > 0 || bits_->left() == 0, "bits are left after the last sequence (3.1.1.3.2.1.2)");
  return sequence;
}

}  // namespace hemstitch
