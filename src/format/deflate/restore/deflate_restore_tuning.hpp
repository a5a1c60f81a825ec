// Numbers of the restoration of DEFLATE on CUDA devices. None of them changes what is restored.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// A window is 32 segments of this many words of 32 bits. The number is odd, so that lanes use different banks.
inline constexpr unsigned kDeflateSegmentWords = 7;

// Tokens that are listed at a time; a window with more is processed in parts.
inline constexpr unsigned kDeflateListedTokens = 768;

// Stripes of 32 bytes whose sources are loaded at once.
inline constexpr unsigned kDeflateTileStripes = 2;

// Streams of a thread block, a warp each, and how many such blocks a multiprocessor should hold.
inline constexpr unsigned kDeflateStreamsPerBlock = 4;
inline constexpr unsigned kDeflateResidency = 8;

// Rounds of a window before phases are used.
inline constexpr unsigned kDeflatePlainRounds = 4;

// Warps of a stream where a batch has few streams, and where it has fewest. A multiprocessor should hold 32 warps in all, which
// leaves 64 registers a thread.
inline constexpr unsigned kDeflateFewWarps = 8;
inline constexpr unsigned kDeflateFewestWarps = 32;
inline constexpr unsigned kDeflateResidentWarps = 32;
// Rounds in which a warp's segments have to agree before the others go on.
inline constexpr unsigned kDeflateTurnRounds = 8;
// Tokens that a thread reads at once; bytes that it writes at once, and how many of these it fetches at once.
inline constexpr unsigned kDeflateThreadTokens = 4;
inline constexpr unsigned kDeflateThreadBytes = 8;
inline constexpr unsigned kDeflateFetchedBytes = 4;

// A warp for each stream is fastest for batches with at least this many times as many streams as a device holds warps: the last
// round, in which warps go idle one after the other, is then short beside the others. For short streams one round is enough, since
// a group's window would be a large part of such a stream. Fewer streams get kDeflateFewWarps each, and fewer than
// kDeflateFewStreams get kDeflateFewestWarps, unless they have so few bytes that most of the group would be idle.
inline constexpr std::uint64_t kDeflateManyRounds = 3, kDeflateManyShortRounds = 1;
inline constexpr std::uint64_t kDeflateShortBytes = 16 << 10;  // compressed
inline constexpr std::uint64_t kDeflateFewStreams = 1025;
inline constexpr std::uint64_t kDeflateGroupLeastBytes = 4096;

// A stream of at least this many bytes is set apart from the others of its batch; about as many of them as a device has
// multiprocessors at most.
inline constexpr std::uint64_t kDeflateLongStreamBytes = 1 << 20;
inline constexpr std::uint32_t kDeflateMostLongStreams = 128;

}  // namespace hemstitch::cuda
