// Finds where a block of DEFLATE begins, from any place of a stream on (deflate_start.hpp says by what).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "format/deflate/restore/deflate_header.hpp"

namespace hemstitch {

// So many bytes behind the end of `bytes` may be read by what is declared here.
inline constexpr std::size_t kDeflateReadBehindBytes = 32;

// The first bit from `from_bits` on and before `to_bits` at which a block seems to begin that does not end the stream: of a stored one
// its three bits, right before the byte at which its sizes stand. Nothing where there is none, or its header does not end inside `bytes`.
// Never throws; finds nothing that is not there, but may find what is no block, as in a stored block that holds a stream.
std::optional<std::uint64_t> find_deflate_start(std::span<const std::byte> bytes, std::uint64_t from_bits,
                                                std::uint64_t to_bits);

// What makes two positions one: a stored block's header may be said to begin at any of the bits of 0 before its sizes. Bits times two, plus 1
// for a stored block, whose bits are those of its sizes. `at_bits` is a block's header, inside `bytes`.
std::uint64_t deflate_start_key(std::span<const std::byte> bytes, std::uint64_t at_bits);

}  // namespace hemstitch
