// Finds the beginning of a DEFLATE block anywhere in a stream (deflate_start.hpp says how it is recognised).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "format/deflate/restore/deflate_header.hpp"

namespace hemstitch {

// How many bytes after the end of `bytes` the functions below may read.
inline constexpr std::size_t kDeflateReadBehindBytes = 32;

// The first bit from `from_bits` on and before `to_bits` at which a block seems to begin that does not end
// the stream. For a stored block that is the first of its three bits, directly before the byte with its
// sizes. Nothing if there is none, or if its header does not end inside `bytes`. Never throws. It may also
// find what is not a block, for example in a stored block that holds a stream.
std::optional<std::uint64_t> find_deflate_start(std::span<const std::byte> bytes, std::uint64_t from_bits,
                                                std::uint64_t to_bits);

// A key that is equal for equal positions, since a stored block's header may begin at any of the 0 bits
// before its sizes. It is the bit times two; for a stored block, the bit of its sizes times two, plus 1.
// `at_bits` is a block's header inside `bytes`.
std::uint64_t deflate_start_key(std::span<const std::byte> bytes, std::uint64_t at_bits);

}  // namespace hemstitch
