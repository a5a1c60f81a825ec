// Pages of all kinds, for tests of pages in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shapes.hpp"

namespace hemstitch::testing {

// At least so many, one behind the other.
inline Bytes mixed_pages(std::uint32_t page_bytes, std::size_t at_least) {
  Bytes bytes;
  while (bytes.size() < at_least * page_bytes) {
    for (const Shape& shape : shapes_of(page_bytes))
      bytes.insert(bytes.end(), shape.bytes.begin(), shape.bytes.end());
    bytes.resize(bytes.size() + page_bytes);           // zeros
    const Bytes word = periodic_bytes(page_bytes, 8);  // a word of 8 bytes
    bytes.insert(bytes.end(), word.begin(), word.end());
    Bytes almost = word;  // but for its last byte
    almost.back() ^= std::byte{1};
    bytes.insert(bytes.end(), almost.begin(), almost.end());
  }
  return bytes;
}

}  // namespace hemstitch::testing
