// liblz4's own frame functions, as the oracle for ours.
#pragma once

#define LZ4F_STATIC_LINKING_ONLY
#include <lz4frame.h>

#include <optional>
#include <stdexcept>

#include "shapes.hpp"

namespace hemstitch::testing {

inline Bytes lz4f_compress(const Bytes& content, LZ4F_preferences_t preferences = {}) {
  if (preferences.frameInfo.contentSize != 0) preferences.frameInfo.contentSize = content.size();
  Bytes frame(LZ4F_compressFrameBound(content.size(), &preferences));
  const std::size_t bytes =
      LZ4F_compressFrame(frame.data(), frame.size(), content.data(), content.size(), &preferences);
  if (LZ4F_isError(bytes)) throw std::runtime_error(LZ4F_getErrorName(bytes));
  frame.resize(bytes);
  return frame;
}

// Frames one after the other; nothing if liblz4 refuses them or they end too early.
inline std::optional<Bytes> lz4f_restore(std::span<const std::byte> frames, const Bytes& dictionary = {}) {
  LZ4F_dctx* context = nullptr;
  LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
  Bytes content, piece(1 << 16);
  std::size_t hint = 0;
  while (!frames.empty()) {
    std::size_t written = piece.size(), taken = frames.size();
    hint = LZ4F_decompress_usingDict(context, piece.data(), &written, frames.data(), &taken,
                                     dictionary.data(), dictionary.size(), nullptr);
    if (LZ4F_isError(hint)) break;
    content.insert(content.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(written));
    frames = frames.subspan(taken);
  }
  LZ4F_freeDecompressionContext(context);
  if (hint != 0) return std::nullopt;
  return content;
}

// The same as the `lz4` tool reads it: liblz4 is given what it asks for, 64 KB at most and no byte more, and what is left of that
// at a frame's end is lost.
inline std::optional<Bytes> lz4f_restore_as_asked(std::span<const std::byte> frames,
                                                  const Bytes& dictionary = {}) {
  constexpr std::size_t kBufferBytes = 64 << 10, kMagicBytes = 4;
  LZ4F_dctx* context = nullptr;
  LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
  Bytes content, piece(kBufferBytes);
  std::size_t hint = 0;
  while (!frames.empty() && !LZ4F_isError(hint)) {
    std::span<const std::byte> given = frames.first(std::min(frames.size(), hint == 0 ? kMagicBytes : hint));
    frames = frames.subspan(given.size());
    std::size_t written = 0;
    do {
      std::size_t taken = given.size();
      written = piece.size();
      hint = LZ4F_decompress_usingDict(context, piece.data(), &written, given.data(), &taken,
                                       dictionary.data(), dictionary.size(), nullptr);
      if (LZ4F_isError(hint)) break;
      content.insert(content.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(written));
      given = given.subspan(taken);
    } while (hint != 0 && (!given.empty() || written == piece.size()));
    if (!LZ4F_isError(hint)) hint = std::min(hint, kBufferBytes);
  }
  LZ4F_freeDecompressionContext(context);
  if (hint != 0) return std::nullopt;
  return content;
}

// As lz4f_compress(), but with a block's end after every piece, so that blocks shorter than the block size
// stand inside the frame.
inline Bytes lz4f_compress_flushed(const Bytes& content, std::size_t piece_bytes,
                                   LZ4F_preferences_t preferences) {
  preferences.autoFlush = 1;
  if (preferences.frameInfo.contentSize != 0) preferences.frameInfo.contentSize = content.size();
  LZ4F_cctx* context = nullptr;
  LZ4F_createCompressionContext(&context, LZ4F_VERSION);
  Bytes frame(LZ4F_HEADER_SIZE_MAX + LZ4F_compressBound(content.size(), &preferences) +
              64 * (content.size() / piece_bytes + 2));
  std::size_t at = LZ4F_compressBegin(context, frame.data(), frame.size(), &preferences);
  for (std::size_t from = 0; from < content.size(); from += piece_bytes)
    at += LZ4F_compressUpdate(context, frame.data() + at, frame.size() - at, content.data() + from,
                              std::min(piece_bytes, content.size() - from), nullptr);
  at += LZ4F_compressEnd(context, frame.data() + at, frame.size() - at, nullptr);
  LZ4F_freeCompressionContext(context);
  frame.resize(at);
  return frame;
}

}  // namespace hemstitch::testing
