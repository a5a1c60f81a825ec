// Walks over DEFLATE blocks (RFC 1951) without restoring them: finds where the last one begins and ends, and
// how much content they hold.
//
// The end of a block is only known after reading all its codes. But this needs neither literals nor
// distances, only how many bits each symbol takes and how many bytes it stands for. So one look-up in a table
// of 11 bits covers all symbols that fit into it, several literals and the length after them, and a second
// one covers the distance with its extra bits. That is several times as fast as restoring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hemstitch {

struct DeflateWalk {
  std::uint64_t last_block_bit = 0;  // in the data: the bit that marks the last block
  std::uint64_t end_bit = 0;         // after that block
  std::uint64_t content_bytes = 0;   // of all blocks
};

// Walks from the first byte to the end of the last block. Nothing if the data ends before that, or is
// invalid; distances are not checked. Reads nothing outside of `data`, whatever it holds. Thread safety: any
// thread.
std::optional<DeflateWalk> walk_deflate(std::span<const std::byte> data);

}  // namespace hemstitch
