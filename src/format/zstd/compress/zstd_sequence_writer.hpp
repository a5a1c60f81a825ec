// Writes the section of sequences of a compressed block of Zstandard (RFC 8878, section 3.1.1.3.2).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "format/zstd/restore/zstd_sections.hpp"

namespace hemstitch {

// The codes of literal count, offset and match length.
std::array<unsigned, 3> zstd_codes_of(const ZstdSequence& sequence);

// `tables` are those that the modes and descriptions stand for, in their order: literal counts, offsets, match
// lengths. Nothing if a table lacks a code. At most 65,535 + 0x7F00 sequences.
std::optional<std::vector<std::byte>> write_zstd_sequences(
    std::span<const ZstdSequence> sequences, const std::array<ZstdTableMode, 3>& modes,
    const std::array<std::span<const std::byte>, 3>& descriptions,
    const std::array<const ZstdTable*, 3>& tables);

}  // namespace hemstitch
