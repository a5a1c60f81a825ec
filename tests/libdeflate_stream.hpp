// A raw DEFLATE stream by libdeflate.
#pragma once

#include <libdeflate.h>

#include <span>

#include "shapes.hpp"

namespace hemstitch::testing {

inline Bytes libdeflate_stream(std::span<const std::byte> content, int level) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(level);
  Bytes data(libdeflate_deflate_compress_bound(compressor, content.size()));
  data.resize(
      libdeflate_deflate_compress(compressor, content.data(), content.size(), data.data(), data.size()));
  libdeflate_free_compressor(compressor);
  return data;
}

}  // namespace hemstitch::testing
