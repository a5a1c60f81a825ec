#include "format/zstd/stream/zstd_block_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "format/zstd/restore/zstd_bits.hpp"

namespace hemstitch {

ZstdDecodedBlock ZstdBlockDecoder::decode(const ZstdWalkedBlock& block, std::size_t most_block_bytes,
                                          std::byte* literals, ZstdShortSequence* sequences) {
  ZstdDecodedBlock decoded;
  decoded.damaged = block.damaged;
  if (decoded.damaged) return decoded;
  if (block.header.type != ZstdBlockType::kCompressed) {
    decoded.content_bytes = block.header.size;
    decoded.literals = block.data;
    return decoded;
  }
  decoded.damaged = true;
  if (block.literals.count > most_block_bytes || block.sequences > kZstdMostSequences) return decoded;
  try {
    if (!decode_literals(block, literals, decoded.literals)) return decoded;
    ZstdSequencesRead read{.right = true};
    if (block.sequences != 0)
      read = read_zstd_sequences(set_sequence_tables(block), block.sequences, codes_, decoded.offsets,
                                 sequences);
    decoded.sequences = {sequences, read.count};
    decoded.content_bytes = block.literals.count + read.matches;
    decoded.damaged =
        !read.right || read.literals > block.literals.count || decoded.content_bytes > most_block_bytes;
  } catch (const ZstdDamage&) {
    origins_ = {};  // a table may be half made
  }
  return decoded;
}

bool ZstdBlockDecoder::decode_literals(const ZstdWalkedBlock& block, std::byte* to,
                                       std::span<const std::byte>& literals) {
  const ZstdLiteralsHeader& header = block.literals;
  std::span<const std::byte> data = block.data.subspan(header.header_bytes, header.data_bytes);
  if (header.type == ZstdLiteralsType::kRaw) {
    literals = data;
    return true;
  }
  literals = {to, header.count};
  if (header.type == ZstdLiteralsType::kRle) {
    std::memset(to, static_cast<int>(data[0]), header.count);
    return true;
  }
  if (!block.origins.literals) return false;
  const bool own = header.type == ZstdLiteralsType::kCompressed;
  if (own || origins_.literals != block.origins.literals) {
    std::size_t used_bytes = 0;
    literals_.make(read_zstd_huffman(own ? data : *block.origins.literals, used_bytes));
    origins_.literals = block.origins.literals;
    if (own) data = data.subspan(used_bytes);
  }
  return literals_.restore(data, header.four_streams, {to, header.count});
}

// Returns the stream of the sequences.
std::span<const std::byte> ZstdBlockDecoder::set_sequence_tables(const ZstdWalkedBlock& block) {
  const auto make = [&](std::size_t kind, const ZstdTable& table) {
    make_zstd_sequence_table(table, static_cast<ZstdSequencePart>(kind), codes_[kind]);
    origins_.codes[kind] = block.origins.codes[kind];
  };
  for (std::size_t kind = 0; kind < codes_.size(); ++kind) {
    if (zstd_table_mode(block.sequence_section, kind) != ZstdTableMode::kRepeat) continue;
    const ZstdDescription& origin = block.origins.codes[kind];
    require_zstd(origin != nullptr, "a table is to be repeated, and there was none (3.1.1.3.2.1)");
    if (origins_.codes[kind] == origin) continue;
    read_zstd_descriptions(*origin, [&](std::size_t of, const ZstdTable& table) {
      if (of == kind) make(of, table);
    });
  }
  return read_zstd_descriptions(block.sequence_section, make);
}

}  // namespace hemstitch
