// The LZ4 block decoder of the processor: exactly the bytes and statuses of lz4_restore_reference.hpp.
//
// liblz4 would do, except that its version 1.9.4 accepts an offset of 0, which no encoder writes, and
// restores zeros. To find such an offset, we would have to walk a block's tokens one by one, which takes 89%
// of the time for restoring them. Our own decoder sees each offset anyway, and takes as long as liblz4
// (docs/decisions/lz4-decode-cpu.md).
//
// Away from the ends of the block and of the output, sequences are copied in wide strides, which may write
// beyond their end, into room that the next ones fill. Everything near an end, with a history that is
// elsewhere, or wrong is left, one sequence at a time, to plain code that alone decides on statuses.
#pragma once

#include "format/lz4/restore/lz4_restore_reference.hpp"

namespace hemstitch {

// Like restore_lz4_block_reference(). A history directly before `output`, as in a linked frame, is reached as
// fast as the block itself.
DecodedBlock restore_lz4_block(std::span<const std::byte> block, std::span<const std::byte> history,
                               std::span<std::byte> output);

}  // namespace hemstitch
