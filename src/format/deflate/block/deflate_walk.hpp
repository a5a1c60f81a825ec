// Walking over DEFLATE blocks (RFC 1951) without restoring them: where the last one begins and ends, and how much content they hold.
//
// Where a block ends is known only when all of its codes were read. But whoever wants no more than that needs neither literals nor
// distances: of each symbol the bits that it takes and the bytes that it stands for. So one look into a table of 11 bits
// covers all symbols that fit in there, several literals and the length behind them, and a second one the distance with its extra
// bits. That is several times as fast as restoring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hemstitch {

struct DeflateWalk {
  std::uint64_t last_block_bit = 0;  // of the data: the one that says that a block is the last
  std::uint64_t end_bit = 0;         // behind that block
  std::uint64_t content_bytes = 0;   // of all blocks
};

// From the first byte to the end of the last block. Nothing where the data ends before that, or is none of DEFLATE; distances are not
// held against what stands before them. Reads nothing outside of `data`, whatever it holds. Safe to call from any thread.
std::optional<DeflateWalk> walk_deflate(std::span<const std::byte> data);

}  // namespace hemstitch
