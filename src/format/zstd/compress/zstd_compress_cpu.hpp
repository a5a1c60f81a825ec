// Compresses parts of a frame of Zstandard by libzstd.
//
// Each part is compressed as a frame of its own, in which the content before it is a prefix. Of that frame its
// blocks are kept, made to fit behind any others (zstd_join.hpp). So parts are compressed at once, and their
// bytes do not depend on who does it.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "format/block_task.hpp"

namespace hemstitch {

// Thread safety: one call at a time.
class ZstdCompressorCpu {
 public:
  ZstdCompressorCpu();

  // Returns how many bytes it wrote: blocks, none of which is marked as the last one. There is room for
  // zstd_data_room(). With a window_log there is a search for long matches. `within_frame` as in EncodeParameters.
  std::size_t compress(const BlockTask& part, int level, int window_log = 0, bool within_frame = false);

 private:
  void use_dictionary(std::span<const std::byte> dictionary, int level);

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{nullptr, ZSTD_freeCCtx};
  // The dictionary of the last call that had one, prepared.
  std::unique_ptr<ZSTD_CDict, decltype(&ZSTD_freeCDict)> prepared_{nullptr, ZSTD_freeCDict};
  std::vector<std::byte> prepared_from_;
  int prepared_level_ = 0;
};

// For content that no block makes smaller, or that is stored: raw blocks. Returns how many bytes it wrote.
std::size_t write_raw_zstd_blocks(std::span<const std::byte> content, std::span<std::byte> room);

}  // namespace hemstitch
