// Writes the section of literals of a compressed block of Zstandard (RFC 8878, section 3.1.1.3.1).
//
// The smallest form in bytes: as they are, as one byte to be repeated if all are the same, or by a Huffman code of their own; of equal
// ones the first. Coded, they are four streams from 256 literals on, otherwise one. Each section has the shortest header that its count allows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hemstitch {

inline constexpr std::size_t kZstdLeastFourStreams = 256;

// At most 128 KB of literals.
std::vector<std::byte> write_zstd_literals(std::span<const std::byte> literals);

}  // namespace hemstitch
