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

// Calls body(i) for each of many blocks, to do what takes about as long as summing them up. By `threads` threads at most, of the
// caller's arena.
template <class Body>
void for_each_block(std::size_t count, std::size_t block_bytes, unsigned threads, const Body& body) {
  constexpr std::size_t kGrainBytes = std::size_t{1} << 20;  // less is summed up sooner than handed over
  run_in_parallel(count, threads == 1 ? count : std::max<std::size_t>(kGrainBytes / block_bytes, 1), body);
}

// `content(i)` is that of block i.
template <class Content>
std::vector<std::uint32_t> block_checksums(Checksum kind, std::size_t count, std::size_t block_bytes,
                                           unsigned threads, const Content& content) {
  std::vector<std::uint32_t> checksums(count);
  for_each_block(count, block_bytes, threads,
                 [&](std::size_t i) { checksums[i] = checksum_of(kind, content(i)); });
  return checksums;
}

}  // namespace hemstitch
