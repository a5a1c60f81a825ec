// Numbers of the restoration of DEFLATE on CUDA devices. None of them changes what is restored.
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// A window is 32 segments of so many words of 32 bits. An odd number: lanes then meet in no bank.
inline constexpr unsigned kDeflateSegmentWords = 7;

// Tokens that are listed at a time; a window of more is worked on in parts.
inline constexpr unsigned kDeflateListedTokens = 768;

// Stripes of 32 bytes whose sources are asked for at once.
inline constexpr unsigned kDeflateTileStripes = 2;

// Streams of a thread block, each a warp's, and how many such blocks a multiprocessor is to hold.
inline constexpr unsigned kDeflateStreamsPerBlock = 4;
inline constexpr unsigned kDeflateResidency = 8;

// Rounds of a window before phases are asked for.
inline constexpr unsigned kDeflatePlainRounds = 4;

// Where streams are few: warps a stream, and where they are fewest. A multiprocessor is to hold 32 warps in all, which leaves 64 registers
// a thread.
inline constexpr unsigned kDeflateFewWarps = 8;
inline constexpr unsigned kDeflateFewestWarps = 32;
inline constexpr unsigned kDeflateResidentWarps = 32;
// Rounds in which a warp's segments have to agree before the others go on.
inline constexpr unsigned kDeflateTurnRounds = 8;
// Tokens that a thread reads at once; bytes that it writes at once, and how many of these it fetches at once.
inline constexpr unsigned kDeflateThreadTokens = 4;
inline constexpr unsigned kDeflateThreadBytes = 8;
inline constexpr unsigned kDeflateFetchedBytes = 4;

// A warp each is the fastest way for batches of so many times as many streams as a device holds warps: the last round, in which warps go idle
// one after the other, is then short beside the others. Of short streams a window of a group would be a large part, so one round is enough. Fewer streams take kDeflateFewWarps each, and fewer than kDeflateFewStreams
// kDeflateFewestWarps; but streams of so few bytes would leave most of a group idle.
inline constexpr std::uint64_t kDeflateManyRounds = 3, kDeflateManyShortRounds = 1;
inline constexpr std::uint64_t kDeflateShortBytes = 16 << 10;  // compressed
inline constexpr std::uint64_t kDeflateFewStreams = 1025;
inline constexpr std::uint64_t kDeflateGroupLeastBytes = 4096;

// A stream of so many bytes is set apart from a batch's others, but no more of them than a device has multiprocessors, about.
inline constexpr std::uint64_t kDeflateLongStreamBytes = 1 << 20;
inline constexpr std::uint32_t kDeflateMostLongStreams = 128;

}  // namespace hemstitch::cuda
