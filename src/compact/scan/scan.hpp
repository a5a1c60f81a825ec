// scan: from the sizes of pieces to where each of them begins.
//
//   offsets[i] = sizes[0] + ... + sizes[i-1],   offsets[count] = the total
//
// Encoders produce pieces (blocks, chunks, token runs) whose sizes are known only afterwards; this gives every
// piece its place in one dense output. Sizes have 32 bits, since no block is larger; offsets have 64, since a
// batch is. Integer addition is associative, so however the work is divided the result is the same.
//
// On the CPU oneTBB's parallel scan, on CUDA CUB's (scan_cuda.hpp): one pass, each item read once and written
// once. (Founding document 002 asks for a scan in log2(count) launches; its kernel is right for powers of two
// alone, and 32-bit totals end at 4 GiB.)
#pragma once

#include <cstdint>
#include <span>

namespace hemstitch {

// `offsets` has one element more than `sizes`; throws kInvalidOption otherwise. Returns the total.
// Thread safety: any number of calls at once.
std::uint64_t scan_sizes(std::span<const std::uint32_t> sizes, std::span<std::uint64_t> offsets);

}  // namespace hemstitch
