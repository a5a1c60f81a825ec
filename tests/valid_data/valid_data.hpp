// Valid compressed data that no encoder writes: made of a number by random choices among all that a format allows, together
// with its content. Each format has a function of this type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shapes.hpp"

namespace hemstitch::testing {

struct ValidData {
  Bytes data;
  Bytes content;
  Bytes dictionary = {};  // with which `data` must be restored, if not empty
};

// The same on every machine. A seed with another limit makes other data.
using ValidDataGenerator = ValidData(std::uint64_t seed, std::size_t most_content_bytes);

// One frame of Zstandard (RFC 8878).
ValidDataGenerator valid_zstd_frame;

}  // namespace hemstitch::testing
