// Numbers of the restoration of DEFLATE on CUDA devices. None of them changes what is restored.
#pragma once

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

}  // namespace hemstitch::cuda
