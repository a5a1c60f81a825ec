#include "format/zstd/restore/zstd_dictionary.hpp"

#include <array>

#include "core/bytes.hpp"
#include "format/zstd/restore/zstd_bits.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kMagic = 0xEC30A437;
constexpr std::size_t kHeadBytes = 8;

}  // namespace

bool has_zstd_tables(std::span<const std::byte> dictionary) {
  return dictionary.size() >= kHeadBytes && load_le32(dictionary.data()) == kMagic;
}

std::uint32_t zstd_dictionary_id(std::span<const std::byte> dictionary) {
  return has_zstd_tables(dictionary) ? load_le32(dictionary.data() + 4) : 0;
}

ZstdDictionary read_zstd_dictionary(std::span<const std::byte> dictionary) {
  ZstdDictionary read;
  read.content = dictionary;
  if (!has_zstd_tables(dictionary)) return read;
  read.id = zstd_dictionary_id(dictionary);
  std::span<const std::byte> rest = dictionary.subspan(kHeadBytes);
  std::size_t used_bytes = 0;
  const auto take_description = [&] {
    const std::span<const std::byte> description = rest.first(used_bytes);
    rest = rest.subspan(used_bytes);
    return description;
  };
  read.tables.literals = read_zstd_huffman(rest, used_bytes);
  read.literals_description = take_description();
  const auto take_table = [&](const ZstdCodeKind& kind, std::span<const std::byte>& description) {
    ZstdTable table = read_zstd_table(rest, kind.most_log, kind.most_symbol, used_bytes);
    description = take_description();
    return table;
  };
  auto& [of_literals, of_offsets, of_matches] = read.code_descriptions;
  read.tables.offset_codes = take_table(kZstdOffsetKind, of_offsets);
  read.tables.match_codes = take_table(kZstdMatchKind, of_matches);
  read.tables.literal_codes = take_table(kZstdLiteralKind, of_literals);
  std::array<std::uint32_t, kZstdRepeatCount> offsets;
  require_zstd(rest.size() >= 4 * offsets.size(), "a dictionary is cut off (5)");
  read.content = rest.subspan(4 * offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = load_le32(rest.data() + 4 * i);
    require_zstd(offsets[i] != 0 && offsets[i] <= read.content.size(),
                 "a dictionary's repeat offset leads out of it (5)");
  }
  read.repeats = ZstdRepeats(offsets);
  return read;
}

}  // namespace hemstitch
