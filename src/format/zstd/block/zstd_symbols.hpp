// The codes of Zstandard's sequences (RFC 8878, sections 3.1.1.3.2.1.1 and 3.1.1.3.2.2).
//
// A sequence is a count of literals, the length of a match and an offset. Each is a code and extra bits: the
// value is the code's base, plus these bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hemstitch {

inline constexpr std::size_t kZstdMostBlockBytes = 128 << 10;  // 3.1.1.2.4
inline constexpr std::size_t kZstdBlockHeaderBytes = 3;

enum class ZstdBlockType : unsigned { kRaw, kRle, kCompressed, kReserved };  // 3.1.1.2.2
enum class ZstdTableMode : unsigned { kPredefined, kRle, kOwn, kRepeat };    // 3.1.1.3.2.1

struct ZstdCode {
  std::uint32_t base;
  std::uint8_t bits;
};

inline constexpr std::array<ZstdCode, 36> kZstdLiteralCodes{
    {{0, 0},     {1, 0},      {2, 0},      {3, 0},     {4, 0},   {5, 0},     {6, 0},     {7, 0},
     {8, 0},     {9, 0},      {10, 0},     {11, 0},    {12, 0},  {13, 0},    {14, 0},    {15, 0},
     {16, 1},    {18, 1},     {20, 1},     {22, 1},    {24, 2},  {28, 2},    {32, 3},    {40, 3},
     {48, 4},    {64, 6},     {128, 7},    {256, 8},   {512, 9}, {1024, 10}, {2048, 11}, {4096, 12},
     {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}}};
inline constexpr std::array<ZstdCode, 53> kZstdMatchCodes{
    {{3, 0},   {4, 0},     {5, 0},     {6, 0},     {7, 0},     {8, 0},      {9, 0},      {10, 0},    {11, 0},
     {12, 0},  {13, 0},    {14, 0},    {15, 0},    {16, 0},    {17, 0},     {18, 0},     {19, 0},    {20, 0},
     {21, 0},  {22, 0},    {23, 0},    {24, 0},    {25, 0},    {26, 0},     {27, 0},     {28, 0},    {29, 0},
     {30, 0},  {31, 0},    {32, 0},    {33, 0},    {34, 0},    {35, 1},     {37, 1},     {39, 1},    {41, 1},
     {43, 2},  {47, 2},    {51, 3},    {59, 3},    {67, 4},    {83, 4},     {99, 5},     {131, 7},   {259, 8},
     {515, 9}, {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}}};
// A code of an offset has as many extra bits as it says, and 2 to this power as its base.
inline constexpr unsigned kZstdMostOffsetCode = 31;

// What a sequence's offset value is: 1 to 3 repeat an offset, larger ones are an offset and this number.
inline constexpr unsigned kZstdRepeatCount = 3;

// A kind of code: how its tables are limited, and the one that is known without a description (3.1.1.3.2.2).
struct ZstdCodeKind {
  unsigned most_symbol;
  unsigned most_log;
  unsigned predefined_log;
  std::span<const std::int8_t> predefined;
};

namespace zstd_symbols {
inline constexpr std::array<std::int8_t, 36> kLiterals{4, 3, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2,
                                                       2, 1, 1, 1, 2, 2, 2, 2, 2,  2,  2,  2,
                                                       2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
inline constexpr std::array<std::int8_t, 53> kMatches{
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
inline constexpr std::array<std::int8_t, 29> kOffsets{1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                                      1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};
}  // namespace zstd_symbols

inline constexpr ZstdCodeKind kZstdLiteralKind{35, 9, 6, zstd_symbols::kLiterals};
inline constexpr ZstdCodeKind kZstdOffsetKind{kZstdMostOffsetCode, 8, 5, zstd_symbols::kOffsets};
inline constexpr ZstdCodeKind kZstdMatchKind{52, 9, 6, zstd_symbols::kMatches};

}  // namespace hemstitch
