// The LZ4 block decoder that is written to be read. It defines the results of all other decoders, including
// statuses.
//
// A block is a sequence of sequences: each has some literals, then a match, which repeats bytes that are
// already restored.
//
//   +-------+-----------------+----------+--------+--------------+
//   | token | literal count   | literals | offset | match length |
//   | 1     | 0 or more bytes |          | 2      | 0 or more    |
//   +-------+-----------------+----------+--------+--------------+
//
//   token         high nibble: literal count; low nibble: match length less 4
//   extension     where a nibble is 15, bytes follow that are added to it: each 255 says that another follows
//   offset        little-endian, counted back from where the match is written. 1..65535; 0 is corrupt
//   match         may reach into the history before the block, and may overlap what it writes: offset 1 repeats
//                 a byte
//   end           the block ends where the input ends, and only directly after a sequence's literals
//
// An encoder follows further rules at the end of a block (the last 5 bytes are literals, no match starts in
// the last 12). They let fast decoders copy in wide strides. A decoder that does not need them does not
// enforce them, and neither does this one. So it accepts every block that liblz4 accepts (except for offset
// 0, which liblz4 1.9.4 accepts), with the same bytes, and some that liblz4 does not.
//
// Statuses, in the order of checking within a sequence:
//   kCorruptBlock    the input ends inside a sequence (or is empty), an offset is 0, or it reaches before the history
//   kOutputTooSmall  the next literals or the next match do not fit the room that is left
// Nothing is ever read outside `block` and `history` or written outside `output`.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.hpp"

namespace hemstitch {

struct DecodedBlock {
  Status status = Status::kInternal;  // kOk, kCorruptBlock or kOutputTooSmall
  std::size_t bytes = 0;              // restored, when status is kOk
};

// Restores `block` into `output`; it may use every byte of it and no more. `history` is the content before
// the block, of which at most the last 65535 bytes can be reached. On failure, `output` is unspecified.
DecodedBlock restore_lz4_block_reference(std::span<const std::byte> block, std::span<const std::byte> history,
                                         std::span<std::byte> output);

}  // namespace hemstitch
