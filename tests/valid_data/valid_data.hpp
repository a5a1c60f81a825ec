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

// One stream of DEFLATE (RFC 1951). Its dictionary is the history before it.
ValidDataGenerator valid_deflate_stream;
// One stream of zlib (RFC 1950).
ValidDataGenerator valid_zlib_stream;
// Members of gzip (RFC 1952).
ValidDataGenerator valid_gzip_file;
// Members of BGZF, and the one that ends a file.
ValidDataGenerator valid_bgzf_file;

// One block of LZ4 that keeps the conditions of its end. Its dictionary is the history before it.
ValidDataGenerator valid_lz4_block;
// Frames of LZ4, and skippable frames among them. Those with a dictionary may name it by any number.
ValidDataGenerator valid_lz4_frames;

}  // namespace hemstitch::testing
