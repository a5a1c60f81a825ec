// LZ4 blocks for tests: made by liblz4, and written by hand.
#pragma once

#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "shapes.hpp"

namespace hemstitch::testing {

// Level 0 is the fast compressor, others are HC. The block may refer to the history, at other levels than 0.
inline Bytes block_by_liblz4(std::span<const std::byte> raw, int level,
                             std::span<const std::byte> history = {}) {
  if (raw.empty()) return Bytes(1);  // liblz4's best level reads bytes that are not there
  Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  const char* from = reinterpret_cast<const char*>(raw.data());
  char* to = reinterpret_cast<char*>(block.data());
  const int from_bytes = static_cast<int>(raw.size()), to_bytes = static_cast<int>(block.size());
  int written = 0;
  if (level == 0) {
    written = LZ4_compress_default(from, to, from_bytes, to_bytes);
  } else if (history.empty()) {
    written = LZ4_compress_HC(from, to, from_bytes, to_bytes, level);
  } else {
    LZ4_streamHC_t* const state = LZ4_createStreamHC();
    LZ4_resetStreamHC_fast(state, level);
    LZ4_loadDictHC(state, reinterpret_cast<const char*>(history.data()), static_cast<int>(history.size()));
    written = LZ4_compress_HC_continue(state, from, to, from_bytes, to_bytes);
    LZ4_freeStreamHC(state);
  }
  block.resize(static_cast<std::size_t>(written));
  return block;
}

// What liblz4 restores of a block into so much room; nothing where it refuses it.
inline std::optional<Bytes> restored_by_liblz4(std::span<const std::byte> block,
                                               std::span<const std::byte> history, std::size_t room) {
  Bytes content(room);
  const int written = LZ4_decompress_safe_usingDict(
      reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(content.data()),
      static_cast<int>(block.size()), static_cast<int>(room), reinterpret_cast<const char*>(history.data()),
      static_cast<int>(history.size()));
  if (written < 0) return std::nullopt;
  content.resize(static_cast<std::size_t>(written));
  return content;
}

// Writes a block by hand.
class Lz4BlockWriter {
 public:
  // A match length of 0 ends the block.
  Lz4BlockWriter& sequence(const Bytes& literals, std::size_t offset, std::size_t match_length) {
    const std::size_t code = match_length == 0 ? 0 : match_length - 4;
    byte(std::min<std::size_t>(literals.size(), 15) << 4 | std::min<std::size_t>(code, 15));
    extension(literals.size());
    block_.insert(block_.end(), literals.begin(), literals.end());
    if (match_length == 0) return *this;
    byte(offset & 0xFF);
    byte(offset >> 8);
    extension(code);
    return *this;
  }
  Bytes take() const { return block_; }
  std::size_t size() const { return block_.size(); }

 private:
  void byte(std::size_t value) { block_.push_back(static_cast<std::byte>(value)); }
  void extension(std::size_t value) {
    if (value < 15) return;
    for (value -= 15; value >= 255; value -= 255) byte(255);
    byte(value);
  }
  Bytes block_;
};

}  // namespace hemstitch::testing
