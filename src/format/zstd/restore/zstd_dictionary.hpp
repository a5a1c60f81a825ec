// Dictionaries of Zstandard (RFC 8878, section 5): content alone, or, as trainers write them, tables and repeat
// offsets before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/zstd/restore/zstd_sections.hpp"

namespace hemstitch {

struct ZstdDictionary {
  std::uint32_t id = 0;  // 0: it has none, and is content alone
  ZstdKeptTables tables;
  ZstdRepeats repeats;
  std::span<const std::byte> content;  // part of what was read
};

// The id alone; 0 for content alone, and for a dictionary that is cut off.
std::uint32_t zstd_dictionary_id(std::span<const std::byte> dictionary);
// Throws ZstdDamage for one that begins as trainers write them, and is damaged.
ZstdDictionary read_zstd_dictionary(std::span<const std::byte> dictionary);

}  // namespace hemstitch
