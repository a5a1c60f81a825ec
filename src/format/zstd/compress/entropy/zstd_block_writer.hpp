// Writes a block of Zstandard (RFC 8878, section 3.1.1.2) from what a parse chose. The block says all that it needs, except for the content
// before it: it has tables of its own, and repeats only offsets that it has used itself. So all blocks of a frame can be written at once, in any
// order, and each fits behind any other. (On the nine Silesia files this costs less than 0.01 %.)
//
// Offsets. First, matches that touch and have one offset become one. Then the value of a match is 1, 2 or 3 if its offset is one of the
// last three different offsets of the matches before it in the block (one less where no literals precede: the most recent offset is then
// impossible), and otherwise the offset plus 3. "Repeat 1 minus 1" is never written. Under these rules the format's history is just these last
// three different offsets, so the value of a match follows from a look back, and no match waits for another one's value.
//
// A block that does not become smaller than its content is written raw; RLE blocks are never written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sequence.hpp"
#include "format/zstd/compress/entropy/zstd_table_choice.hpp"
#include "format/zstd/restore/zstd_sections.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {

// The literals of a block, and the tables for its sequences, in the order of kZstdCodeKinds. Of no sequences they are the predefined ones.
std::vector<std::byte> zstd_literals_of(std::span<const std::byte> content, std::span<const Sequence> parsed);
std::array<ZstdTableChoice, kZstdCodeKinds.size()> choose_zstd_tables(
    std::span<const ZstdSequence> sequences);

// The sequences of a block as the format counts them. `parsed` is a parse's result, whose last sequence has no match.
std::vector<ZstdSequence> zstd_sequences_of(std::span<const Sequence> parsed);

// Appends the block with its header, not marked as the last one. `parsed` covers `content`, which has 1 to kZstdOwnBlockBytes bytes.
void put_zstd_block(std::span<const std::byte> content, std::span<const Sequence> parsed,
                    std::vector<std::byte>& to);

}  // namespace hemstitch
