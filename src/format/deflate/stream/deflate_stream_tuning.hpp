// Numbers of restoring one stream by several threads. None of them shows in what is restored.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch {

// Compressed bytes of a piece. Larger ones spend less of their time on symbols, which takes twice as long as bytes; smaller ones take less
// memory and leave less to wait for at the end.
inline constexpr std::size_t kDeflateStreamPieceBytes = std::size_t{1} << 20,
                             kDeflateStreamLeastPieceBytes = std::size_t{256} << 10;
// Memory for each thread, and once more, where nothing else is asked for: of pieces and of contents. With 8 MB, 16 cores restored 1.5
// GB/s, and 3.6 before (docs/formats/gzip-in-parallel.md).
inline constexpr std::uint64_t kDeflateStreamThreadBytes = std::uint64_t{24} << 20;
// Pieces are so small that there is, for each byte of one, so much memory for contents of each thread: symbols take two bytes for one of content.
inline constexpr std::uint64_t kDeflateStreamLeastContentFactor = 5;
// What contents take, in eighths of their bytes, where most of them is symbols. And how many contents wait or are lent, besides those that threads restore.
inline constexpr std::uint64_t kDeflateStreamWrittenEighths = 14;
inline constexpr unsigned kDeflateStreamContentsBeside = 6;
// Of the next piece, so much is also at hand: blocks that reach further into it are left to the calling thread. Those of common
// encoders have 10 to 130 KB.
inline constexpr std::size_t kDeflateStreamOverlapBytes = std::size_t{256} << 10;
// For the content of a piece: at one byte to 24 of content where windows are known soon, one to 12 where they never are.
inline constexpr std::size_t kDeflateStreamContentBytes = std::size_t{24} << 20;
// So much is restored before anything is read ahead: shorter streams are done sooner than threads start.
inline constexpr std::size_t kDeflateStreamBeginBytes = std::size_t{1} << 20;
// Of two threads: how far behind the place that the calling one has reached, or behind the run before, the other one begins a run of pieces, in eighths of one: it takes
// 1.6 times as long. And how many pieces are in memory: a run, as much before and behind it, and what comes meanwhile.
inline constexpr std::size_t kDeflateStreamLeadEighths = 16;
inline constexpr std::size_t kDeflateStreamSharedPieces = 9;
// A start is looked for in so much of a piece: going over 1 MB in vain takes 10 ms, three times as long as restoring it. Where no block begins in so many bytes, they are giant.
inline constexpr std::size_t kDeflateStreamSearchBytes = std::size_t{512} << 10;
// And so much at once, before a thread asks whether anybody still wants it.
inline constexpr std::size_t kDeflateStreamSearchStepBytes = std::size_t{32} << 10;
// After so many pieces in a row that fitted nowhere, as in data without block starts to find, only one of some is tried, until one fits again, and after more only one of
// more: the calling thread may want the core, or its caches.
struct DeflateStreamTries {
  unsigned useless, one_of;
};
inline constexpr DeflateStreamTries kDeflateStreamTries[] = {{32, 32}, {4, 8}};

// Content in a row that is lent; less is copied sooner than handed on by itself.
inline constexpr std::size_t kDeflateStreamLentBytes = std::size_t{64} << 10;

// Of a device (deflate_device_decoder.hpp). Compressed bytes of a piece: fewer leave it idle between steps that all of a piece waits for; with several
// worked on at once, those of 32 MiB do. The first one may be smaller, so that content comes soon, and each of the next twice as large. GB/s on an
// H200 from pinned to pinned memory, streams of 2.2 and 1.1 GB of content ("1 at once" and so on: kDeflateDeviceRooms):
//   8 to 64 MiB, 1 at once 35.9, 31.0 | 32 to 64 MiB, 1 at once 37.2, 33.7; 2 at once 40.5, 33.4; 3 at once 39.8, 33.2 | 32 MiB, 3 at once 38.2, 35.1
inline constexpr std::size_t kDeflateDevicePieceBytes = std::size_t{32} << 20;
inline constexpr std::size_t kDeflateDeviceFirstPieceBytes = std::size_t{32} << 20;
inline constexpr std::size_t kDeflateDeviceLeastPieceBytes = std::size_t{1} << 20;
// Room for content: for what shrinks more a piece is restored in several steps.
inline constexpr std::size_t kDeflateDeviceContentFactor = 6;
// A block that is cut by the end of a piece moves on to the next one where it has no more bytes.
inline constexpr std::size_t kDeflateDeviceLeadBytes = std::size_t{4} << 20;
// Of a piece that is prepared before its link is known, so many bytes of the one before belong to it: the link is in these where no block is longer.
inline constexpr std::size_t kDeflateDeviceOverlapBytes = std::size_t{256} << 10;
// One is filled, one waits, three are worked on at once; one is restored to while two others come down.
inline constexpr unsigned kDeflateDeviceInputs = 5, kDeflateDeviceRooms = 3, kDeflateDeviceOutputs = 3;
// Read and uploaded at once.
inline constexpr std::size_t kDeflateDeviceGatherBytes = std::size_t{16} << 20;
// What the processor restores before a device that confirmed little is asked again.
inline constexpr std::size_t kDeflateDeviceSerialBytes = std::size_t{4} << 20;
// Shorter files are the processor's; of others whose size is not known the first part is.
inline constexpr std::size_t kDeflateDeviceLeastBytes = std::size_t{8} << 20;

}  // namespace hemstitch
