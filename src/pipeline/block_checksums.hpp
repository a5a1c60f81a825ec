// Computes the checksums of many blocks' content in parallel. Frames may have one for each block, and the
// checksum of the whole content follows from these where checksums combine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "format/checksum.hpp"

namespace hemstitch {

// Calls body(i) for each of `count` blocks, for work that takes about as long as a checksum. Uses at most
// `threads` threads of the caller's arena.
template <class Body>
void for_each_block(std::size_t count, std::size_t block_bytes, unsigned threads, const Body& body) {
  constexpr std::size_t kGrainBytes = std::size_t{1} << 20;  // less takes longer to hand over than to do
  run_in_parallel(count, threads == 1 ? count : std::max<std::size_t>(kGrainBytes / block_bytes, 1), body);
}

// `content(i)` is the content of block i.
template <class Content>
std::vector<std::uint32_t> block_checksums(Checksum kind, std::size_t count, std::size_t block_bytes,
                                           unsigned threads, const Content& content) {
  std::vector<std::uint32_t> checksums(count);
  for_each_block(count, block_bytes, threads,
                 [&](std::size_t i) { checksums[i] = checksum_of(kind, content(i)); });
  return checksums;
}

}  // namespace hemstitch
