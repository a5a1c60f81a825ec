// Numbers of restoring one stream on CUDA devices. None of them shows in what is restored.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Compressed bytes between places where a warp enters a long block: less means more headers read again, more means longer waiting for the
// last warp, which restores some 100 MB/s.
inline constexpr std::uint32_t kDeflateSpacingBytes = 16384;
// Codes of 8 bits that make a block's literals keep their phase. Such a block is entered, if it is longer than this, in each of nine phases.
inline constexpr std::uint32_t kDeflateFlatCodes = 200;
inline constexpr std::uint64_t kDeflateFlatSpanBits = std::uint64_t{8} * 32768;
inline constexpr std::uint32_t kDeflateEntryPhases = 9;
// Where nothing is found for so many spacings around, blocks with the fixed code are guessed at.
inline constexpr std::uint32_t kDeflateFixedReach = 8;
// Stored blocks of less are no place to begin: chance makes many.
inline constexpr std::uint32_t kDeflateLeastStoredEntry = 4096;
// Starts before one that are asked whether it is content of a stored block.
inline constexpr std::uint32_t kDeflateStoredLooks = 64;
// Warps of a multiprocessor that restore entries: what shared memory has room for. Leaves 72 registers a thread.
inline constexpr unsigned kDeflateEntryResidency = 28;
// What one warp restores at most: compressed bytes, blocks; and rounds of entries that are decoded again.
inline constexpr std::uint64_t kDeflateEntryBytes = std::uint64_t{1} << 20;
inline constexpr std::uint32_t kDeflateEntryBlocks = 8192;
inline constexpr std::uint32_t kDeflateRepairs = 12;
// Groups of entries whose windows are composed apart: one for each multiprocessor of an H200.
inline constexpr std::uint32_t kDeflateWindowGroups = 132;

}  // namespace hemstitch::cuda
