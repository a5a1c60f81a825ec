// The Huffman code of a block's literals (RFC 8878, section 4.2), from how often each byte occurs.
//
// Lengths follow the rules of deflate_codes.hpp, with a limit of 11 bits. Codes of one length ascend with the byte, and longer codes come first
// (4.2.1.3). A byte's weight is 0 if it does not occur, otherwise the length of the longest code, plus 1, minus that of its own. The last byte that
// occurs needs no weight. Weights are described in 4 bits each if there are at most 128, or by FSE with 32 or 64 cells (zstd_cells.hpp), whichever takes the
// fewest bytes; of equal ones the first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hemstitch {

inline constexpr unsigned kZstdMostLiteralBits = 11;
inline constexpr std::size_t kZstdByteValues = 256;
inline constexpr std::size_t kZstdMostDirectWeights = 128;
inline constexpr std::array<unsigned, 2> kZstdWeightLogs{5, 6};  // of tables for weights

using ZstdByteCounts = std::array<std::uint32_t, kZstdByteValues>;

struct ZstdHuffmanCode {
  std::array<std::uint8_t, kZstdByteValues> lengths{};  // 0: the byte does not occur
  std::array<std::uint16_t, kZstdByteValues> codes{};   // the first bit that is read is the highest
};

// At least two bytes occur, at most 2^22 times together.
ZstdHuffmanCode make_zstd_huffman(const ZstdByteCounts& counts);

// The description. Empty if there is none: of more than 128 weights that are all equal.
std::vector<std::byte> describe_zstd_huffman(const ZstdHuffmanCode& code);

}  // namespace hemstitch
