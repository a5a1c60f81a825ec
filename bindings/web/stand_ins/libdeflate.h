// What checksum.cpp takes of libdeflate: the CRC-32 of RFC 1952, section 8, four bytes at a time. Nothing in a browser asks for the other
// checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// tables[k][b]: what becomes of a byte that k more bytes follow. They are made at the first use: in the module they would be larger than
// what makes them.
inline std::uint32_t libdeflate_crc32(std::uint32_t crc, const void* data, std::size_t count) {
  static std::uint32_t tables[4][256];
  if (tables[0][1] == 0) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t value = byte;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0);
      tables[0][byte] = value;
    }
    for (std::size_t k = 1; k < 4; ++k)
      for (std::size_t byte = 0; byte < 256; ++byte)
        tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xFF];
  }
  const auto* bytes = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (; count >= 4; bytes += 4, count -= 4) {
    std::uint32_t word;
    std::memcpy(&word, bytes, 4);
    crc ^= word;
    crc = tables[3][crc & 0xFF] ^ tables[2][(crc >> 8) & 0xFF] ^ tables[1][(crc >> 16) & 0xFF] ^
          tables[0][crc >> 24];
  }
  for (; count > 0; ++bytes, --count) crc = (crc >> 8) ^ tables[0][(crc ^ *bytes) & 0xFF];
  return ~crc;
}
inline std::uint32_t libdeflate_adler32(std::uint32_t, const void*, std::size_t) { __builtin_trap(); }
