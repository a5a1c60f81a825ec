// Makes the blocks of one frame of Zstandard a later part of another.
//
// An encoder that begins a frame takes the last three offsets for 1, 4 and 8 (RFC 8878, section 3.1.1.5). In
// the middle of a frame they are whatever the blocks before left. So a sequence that repeats an offset from
// before its part is written again, with the offset itself. Its block then has the predefined table of offsets,
// and so have those after it that would repeat the block's own table. As a rule, a part begins with three
// offsets of its own, and nothing changes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hemstitch {

// `blocks` is all of a frame but its header, without a checksum, and names no dictionary. The result restores
// to the same content behind any other blocks, given the same history, and its last block is not marked. It is
// in place; or, if blocks were written again, it is returned. Throws ZstdDamage for other data.
std::optional<std::vector<std::byte>> join_zstd_blocks(std::span<std::byte> blocks);

// What the first part of a frame needs: no more than that its last block is not marked.
void unmark_last_zstd_block(std::span<std::byte> blocks);

}  // namespace hemstitch
