// What zlib restores, as the judge of what we write: whole streams of DEFLATE, zlib and gzip.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <optional>
#include <span>

#include "shapes.hpp"

namespace hemstitch::testing {

enum class ZlibKind : int { kDeflate = -MAX_WBITS, kZlib = MAX_WBITS, kGzip = MAX_WBITS + 16 };

// One stream, which must be all of `data`. Nothing where zlib refuses it, or finds bytes behind it. `dictionary` is what zlib's own header
// names, or what raw DEFLATE has before it.
inline std::optional<Bytes> inflated_by_zlib(std::span<const std::byte> data, ZlibKind kind,
                                             std::span<const std::byte> dictionary = {}) {
  z_stream stream{};
  if (inflateInit2(&stream, static_cast<int>(kind)) != Z_OK) return std::nullopt;
  const auto set_dictionary = [&] {
    return inflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(dictionary.data()),
                                static_cast<uInt>(dictionary.size()));
  };
  if (kind == ZlibKind::kDeflate && !dictionary.empty()) set_dictionary();
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  Bytes output;
  int result = Z_OK;
  while (result == Z_OK) {
    Bytes piece(1 << 16);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = inflate(&stream, Z_NO_FLUSH);
    output.insert(output.end(), piece.begin(), piece.end() - static_cast<std::ptrdiff_t>(stream.avail_out));
    if (result == Z_NEED_DICT) result = set_dictionary();
  }
  const bool is_whole = result == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!is_whole) return std::nullopt;
  return output;
}

}  // namespace hemstitch::testing
