// Dictionaries of Zstandard (RFC 8878, section 5): content alone, or, as trainers write them, tables and repeat
// offsets before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/zstd/restore/zstd_sections.hpp"

namespace hemstitch {

struct ZstdDictionary {
  std::uint32_t id = 0;  // 0: it has none, and is content alone
  ZstdKeptTables tables;
  ZstdRepeats repeats;
  // Parts of what was read:
  std::span<const std::byte> content;
  // What describes the tables: of literals, and those of kZstdCodeKinds. Empty if there are none.
  std::span<const std::byte> literals_description;
  std::array<std::span<const std::byte>, 3> code_descriptions;
};

// Whether it begins as trainers write them.
bool has_zstd_tables(std::span<const std::byte> dictionary);

// The id alone; 0 for content alone, and for a dictionary that is cut off.
std::uint32_t zstd_dictionary_id(std::span<const std::byte> dictionary);
// Throws ZstdDamage for one that begins as trainers write them, and is damaged.
ZstdDictionary read_zstd_dictionary(std::span<const std::byte> dictionary);

}  // namespace hemstitch
