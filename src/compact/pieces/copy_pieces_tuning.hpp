// Numbers of the copy that gather and scatter share on CUDA. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch {

// Threads of a block: eight independent warps.
inline constexpr unsigned kCopyPiecesThreads = 256;

// Blocks that a multiprocessor holds at once: what 42 registers a thread allow. Seven blocks with 32 registers are slower, since
// some values then go to memory; five blocks with 48 are slower too (docs/decisions/gather.md has the figures of all these
// numbers).
inline constexpr unsigned kCopyPiecesResidentBlocks = 6;

// Blocks of a launch, whatever there is to copy: those that an H200's 132 multiprocessors hold. The host does not know how
// many bytes there are; those without a share end at once.
inline constexpr unsigned kCopyPiecesBlocks = 132 * kCopyPiecesResidentBlocks;

// Bytes of each piece that are prefetched before its words are made: all of a small piece.
inline constexpr std::uint32_t kPrefetchedBytes = 384;

// What a piece costs besides its bytes, in bytes: its description (20) and its two cut words.
inline constexpr std::uint32_t kPieceCostBytes = 32;

// A warp's least share, in bytes. The warp searches for the first piece of each share: a smaller share would cost less than the
// search, which takes about four loads one after the other. With larger shares the last warps would work alone at the end.
inline constexpr std::uint32_t kLeastShareBytes = 2048;
inline constexpr std::uint32_t kMostShareBytes = 32 * 1024;

}  // namespace hemstitch
