#include "format/zstd/stream/zstd_walk.hpp"

#include <algorithm>
#include <utility>

#include "format/zstd/restore/zstd_bits.hpp"

namespace hemstitch {
namespace {

// More than any description has: 129 bytes for a Huffman table, and, since a symbol takes 10 bits at most and three
// that do not occur take 2, less than 80 bytes for each of three tables of FSE.
constexpr std::size_t kMostDescriptionBytes = 256;

ZstdDescription description(std::span<const std::byte> from) {
  const auto some = from.first(std::min(from.size(), kMostDescriptionBytes));
  return std::make_shared<const std::vector<std::byte>>(some.begin(), some.end());
}

}  // namespace

ZstdOrigins zstd_origins_of(const ZstdDictionary& dictionary) {
  if (dictionary.literals_description.empty()) return {};
  // Modes as in a section of sequences, which say that all tables are described.
  constexpr auto kOwnTables = static_cast<std::byte>(0b10'10'10'00);
  std::vector<std::byte> codes{kOwnTables};
  for (const auto description : dictionary.code_descriptions)
    codes.insert(codes.end(), description.begin(), description.end());
  ZstdOrigins origins;
  origins.literals = description(dictionary.literals_description);
  origins.codes.fill(std::make_shared<const std::vector<std::byte>>(std::move(codes)));
  return origins;
}

ZstdWalkedBlock ZstdWalk::walk(const ZstdBlockHeader& header, std::span<const std::byte> data) {
  ZstdWalkedBlock block;
  block.header = header;
  block.data = data;
  block.damaged = is_damaged(header);
  if (!block.damaged && header.type == ZstdBlockType::kCompressed) {
    try {
      walk_compressed(block);
    } catch (const ZstdDamage&) {
      block.damaged = true;
    }
  }
  block.origins = origins_;
  return block;
}

void ZstdWalk::walk_compressed(ZstdWalkedBlock& block) {
  block.literals = read_zstd_literals_header(block.data);
  if (block.literals.type == ZstdLiteralsType::kCompressed)
    origins_.literals =
        description(block.data.subspan(block.literals.header_bytes, block.literals.data_bytes));
  const auto section = block.data.subspan(block.literals.section_bytes());
  const ZstdSequencesHeader header = read_zstd_sequences_header(section);
  block.sequences = header.count;
  if (header.count == 0) return;
  block.sequence_section = section.subspan(header.count_bytes);
  ZstdDescription own;
  for (std::size_t kind = 0; kind < origins_.codes.size(); ++kind) {
    if (zstd_table_mode(block.sequence_section, kind) == ZstdTableMode::kRepeat) continue;
    if (!own) own = description(block.sequence_section);
    origins_.codes[kind] = own;
  }
}

ZstdKeptTables read_zstd_origins(const ZstdOrigins& origins) {
  ZstdKeptTables kept;
  std::size_t used_bytes = 0;
  if (origins.literals) kept.literals = read_zstd_huffman(*origins.literals, used_bytes);
  const std::array<std::optional<ZstdTable>*, 3> tables{&kept.literal_codes, &kept.offset_codes,
                                                        &kept.match_codes};
  for (std::size_t kind = 0; kind < tables.size(); ++kind)
    if (origins.codes[kind])
      read_zstd_descriptions(*origins.codes[kind], [&](std::size_t of, ZstdTable& table) {
        if (of == kind) *tables[kind] = std::move(table);
      });
  return kept;
}

}  // namespace hemstitch
