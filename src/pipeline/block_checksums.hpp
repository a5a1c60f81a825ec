// The checksums of many blocks' content, side by side: frames have them of each block, and that of the whole follows from them
// where checksums combine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "format/checksum.hpp"

namespace hemstitch {

// `content(i)` is that of block i. By `threads` threads at most, of the caller's arena.
template <class Content>
std::vector<std::uint32_t> block_checksums(Checksum kind, std::size_t count, std::size_t block_bytes,
                                           unsigned threads, const Content& content) {
  constexpr std::size_t kGrainBytes = std::size_t{1} << 20;  // less is summed up sooner than handed over
  std::vector<std::uint32_t> checksums(count);
  const std::size_t grain = threads == 1 ? count : std::max<std::size_t>(kGrainBytes / block_bytes, 1);
  run_in_parallel(count, grain, [&](std::size_t i) { checksums[i] = checksum_of(kind, content(i)); });
  return checksums;
}

}  // namespace hemstitch
