// The LZ4 block decoder of the processor: what lz4_restore_reference.hpp defines, to the byte and the status.
//
// liblz4 would do but for one thing: its version 1.9.4 takes an offset of 0, which no encoder writes, and restores
// zeros. To find such an offset, a block's tokens would have to be walked one by one, which takes 89% of the time
// that restoring them takes. A decoder of our own sees each offset anyway, and takes 1% longer than liblz4
// (docs/decisions/lz4-decode-cpu.md).
//
// Away from the ends of the block and of the output, sequences are copied in wide strides that may write beyond
// themselves, into room that the next ones fill. What comes near an end, reaches into a history that stands
// elsewhere, or is wrong is left, a sequence at a time, to plain code that alone decides on statuses.
#pragma once

#include "format/lz4/restore/lz4_restore_reference.hpp"

namespace hemstitch {

// As restore_lz4_block_reference(). A history that stands right before `output`, as the blocks of a linked frame have
// it, is reached as fast as the block itself.
DecodedBlock restore_lz4_block(std::span<const std::byte> block, std::span<const std::byte> history,
                               std::span<std::byte> output);

}  // namespace hemstitch
