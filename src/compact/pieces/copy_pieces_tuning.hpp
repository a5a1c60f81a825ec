// Numbers of the copy that gather and scatter share on CUDA. They decide speed alone.
#pragma once

#include <cstdint>

namespace hemstitch {

// Threads of a block: eight warps that know nothing of each other.
inline constexpr unsigned kCopyPiecesThreads = 256;

// Blocks that a multiprocessor holds at once: what 42 registers a thread allow. With 32 registers seven are slower, since some
// values go to memory then; with 48 five are as well (docs/decisions/gather.md has the figures of all these numbers).
inline constexpr unsigned kCopyPiecesResidentBlocks = 6;

// Blocks of a launch, whatever there is to copy: those that an H200's 132 multiprocessors hold. The host does not know how
// many bytes there are; those without a share end at once.
inline constexpr unsigned kCopyPiecesBlocks = 132 * kCopyPiecesResidentBlocks;

// Of each piece, what is sent for before its words are made, in bytes: all of a small one.
inline constexpr std::uint32_t kPrefetchedBytes = 384;

// What a piece costs besides its bytes, in bytes: its description (20) and its two cut words.
inline constexpr std::uint32_t kPieceCostBytes = 32;

// A warp's share, in bytes: what it finds its first piece for. Not below what a search costs, about four loads one
// after the other; not above what leaves the last warps alone at the end.
inline constexpr std::uint32_t kLeastShareBytes = 2048;
inline constexpr std::uint32_t kMostShareBytes = 32 * 1024;

}  // namespace hemstitch
