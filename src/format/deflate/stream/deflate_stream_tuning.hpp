// Numbers of restoring one stream by several threads. None of them changes what is restored.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch {

// Compressed bytes of a piece. Larger pieces spend a smaller part of their time on symbols, which take twice as long as bytes.
// Smaller pieces take less memory and leave less to wait for at the end.
inline constexpr std::size_t kDeflateStreamPieceBytes = std::size_t{1} << 20,
                             kDeflateStreamLeastPieceBytes = std::size_t{256} << 10;
// Memory for pieces and contents, by default: this much for each thread, and once more. With 8 MB, 16 cores restored 1.5
// GB/s, and 3.6 before (docs/formats/gzip-in-parallel.md).
inline constexpr std::uint64_t kDeflateStreamThreadBytes = std::uint64_t{24} << 20;
// Pieces are small enough that each thread has this much memory for contents, for each byte of a piece: symbols take two bytes for
// one of content.
inline constexpr std::uint64_t kDeflateStreamLeastContentFactor = 5;
// The memory of contents that are mostly symbols, in eighths of their bytes. And how many contents wait or are lent, besides those
// that threads restore.
inline constexpr std::uint64_t kDeflateStreamWrittenEighths = 14;
inline constexpr unsigned kDeflateStreamContentsBeside = 6;
// The bytes of the next piece that a thread also has: blocks that reach further into it are left to the calling thread. Blocks of
// common encoders have 10 to 130 KB.
inline constexpr std::size_t kDeflateStreamOverlapBytes = std::size_t{256} << 10;
// Memory for the content of a piece. It is enough where a byte becomes up to 24 bytes of content if windows are known soon, and up
// to 12 if they never are.
inline constexpr std::size_t kDeflateStreamContentBytes = std::size_t{24} << 20;
// Compressed bytes that are restored before anything is read ahead: shorter streams are done before threads have started.
inline constexpr std::size_t kDeflateStreamBeginBytes = std::size_t{1} << 20;
// With two threads: how far ahead of the calling thread's place, or of the run before, the other thread begins a run of pieces, in
// eighths of a piece; it takes 1.6 times as long for them. And how many pieces are in memory: a run, as much before and behind it,
// and what arrives meanwhile.
inline constexpr std::size_t kDeflateStreamLeadEighths = 16;
inline constexpr std::size_t kDeflateStreamSharedPieces = 9;
// A start is searched in this much of a piece: searching 1 MB in vain takes 10 ms, three times as long as restoring it. If no block
// begins in so many bytes, the blocks are giant.
inline constexpr std::size_t kDeflateStreamSearchBytes = std::size_t{512} << 10;
// The bytes that are searched before a thread checks whether the result is still needed.
inline constexpr std::size_t kDeflateStreamSearchStepBytes = std::size_t{32} << 10;
// After this many pieces in a row that fitted nowhere, as in data without starts to find, only one piece of several is tried, until
// one fits again; after more failures, one of even more. The calling thread may need the core, or its caches.
struct DeflateStreamTries {
  unsigned useless, one_of;
};
inline constexpr DeflateStreamTries kDeflateStreamTries[] = {{32, 32}, {4, 8}};

// Consecutive content that is lent. Less is copied, which is faster than passing it on by itself.
inline constexpr std::size_t kDeflateStreamLentBytes = std::size_t{64} << 10;

// For a device (deflate_device_decoder.hpp): compressed bytes of a piece. With smaller pieces the device is idle between the steps,
// which wait for all of a piece; with several pieces at once, 32 MiB are enough. The first piece may be smaller, so that content
// comes soon, and each of the next is twice as large. GB/s on an H200 from pinned to pinned memory, streams of 2.2 and 1.1 GB of
// content ("1 at once" and so on: kDeflateDeviceRooms):
//   8 to 64 MiB, 1 at once 35.9, 31.0 | 32 to 64 MiB, 1 at once 37.2, 33.7; 2 at once 40.5, 33.4; 3 at once 39.8, 33.2 | 32 MiB, 3 at once 38.2, 35.1
inline constexpr std::size_t kDeflateDevicePieceBytes = std::size_t{32} << 20;
inline constexpr std::size_t kDeflateDeviceFirstPieceBytes = std::size_t{32} << 20;
inline constexpr std::size_t kDeflateDeviceLeastPieceBytes = std::size_t{1} << 20;
// Room for content, for each compressed byte. If there is more content, the piece is restored in several steps.
inline constexpr std::size_t kDeflateDeviceContentFactor = 6;
// A block that the end of a piece cuts moves to the next piece if it has no more bytes than this.
inline constexpr std::size_t kDeflateDeviceLeadBytes = std::size_t{4} << 20;
// A piece that is prepared before its link is known also has this many bytes of the piece before. The link is among them unless a
// block is longer.
inline constexpr std::size_t kDeflateDeviceOverlapBytes = std::size_t{256} << 10;
// Inputs: one is filled, one waits, three are in work. Rooms: one is written while two others are downloaded.
inline constexpr unsigned kDeflateDeviceInputs = 5, kDeflateDeviceRooms = 3, kDeflateDeviceOutputs = 3;
// Bytes that are read and uploaded at once.
inline constexpr std::size_t kDeflateDeviceGatherBytes = std::size_t{16} << 20;
// Bytes that the processor restores before a device that confirmed little is tried again.
inline constexpr std::size_t kDeflateDeviceSerialBytes = std::size_t{4} << 20;
// The processor restores shorter files; if the size is not known, it restores this much first.
inline constexpr std::size_t kDeflateDeviceLeastBytes = std::size_t{8} << 20;

}  // namespace hemstitch
