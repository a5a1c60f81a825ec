// Hemstitch's C++ interface: one-call compression between buffers, and streams that you write piece by piece
// with bounded memory.
//
// Errors are thrown as hemstitch::Error. It carries a Status and, if known, the place in the data. If memory
// runs out, it may be std::bad_alloc instead.
//
// Thread safety: any number of threads may call free functions at once. Only one thread at a time may use a
// Compressor or Decompressor.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error \
    "Hemstitch's C++ headers need C++20: compile with -std=c++20 (CMake: target_compile_features(... cxx_std_20))"
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hemstitch/hemstitch.h"

namespace hemstitch {

// The numbers of hemstitch.h under C++ names.
enum class Status : int {
  kOk = HEMSTITCH_OK,
  kInvalidOption = HEMSTITCH_INVALID_OPTION,
  kUnknownBackend = HEMSTITCH_UNKNOWN_BACKEND,
  kDictionaryNeeded = HEMSTITCH_DICTIONARY_NEEDED,
  kDictionaryMismatch = HEMSTITCH_DICTIONARY_MISMATCH,
  kRangeOutsideContent = HEMSTITCH_RANGE_OUTSIDE_CONTENT,
  kWrongState = HEMSTITCH_WRONG_STATE,
  kUnknownFormat = HEMSTITCH_UNKNOWN_FORMAT,
  kForeignFormat = HEMSTITCH_FOREIGN_FORMAT,
  kUnsupportedVersion = HEMSTITCH_UNSUPPORTED_VERSION,
  kUnsupportedFeature = HEMSTITCH_UNSUPPORTED_FEATURE,
  kTruncated = HEMSTITCH_TRUNCATED,
  kCorruptHeader = HEMSTITCH_CORRUPT_HEADER,
  kCorruptBlock = HEMSTITCH_CORRUPT_BLOCK,
  kHeaderChecksumMismatch = HEMSTITCH_HEADER_CHECKSUM_MISMATCH,
  kBlockChecksumMismatch = HEMSTITCH_BLOCK_CHECKSUM_MISMATCH,
  kContentChecksumMismatch = HEMSTITCH_CONTENT_CHECKSUM_MISMATCH,
  kContentSizeMismatch = HEMSTITCH_CONTENT_SIZE_MISMATCH,
  kTrailingGarbage = HEMSTITCH_TRAILING_GARBAGE,
  kOutputTooSmall = HEMSTITCH_OUTPUT_TOO_SMALL,
  kOutOfMemory = HEMSTITCH_OUT_OF_MEMORY,
  kMemoryLimit = HEMSTITCH_MEMORY_LIMIT,
  kDeviceUnavailable = HEMSTITCH_DEVICE_UNAVAILABLE,
  kDeviceLost = HEMSTITCH_DEVICE_LOST,
  kDeviceOutOfMemory = HEMSTITCH_DEVICE_OUT_OF_MEMORY,
  kDeviceFault = HEMSTITCH_DEVICE_FAULT,
  kInternal = HEMSTITCH_INTERNAL,
  kReadFailed = HEMSTITCH_READ_FAILED,
  kWriteFailed = HEMSTITCH_WRITE_FAILED,
  kInputChanged = HEMSTITCH_INPUT_CHANGED,
  kCancelled = HEMSTITCH_CANCELLED,
};

// One sentence: what the status means and what to do.
HEMSTITCH_API const char* status_text(Status status);

// Where in the compressed data an error is. Frames and blocks are counted from 1, bytes from 0.
struct Place {
  std::optional<std::uint64_t> frame;
  std::optional<std::uint64_t> block;
  std::optional<std::uint64_t> byte_offset;

  // "frame 1, block 3, byte 4711"; empty if nothing is known.
  HEMSTITCH_API std::string text() const;
};

class HEMSTITCH_API Error : public std::runtime_error {
 public:
  // `detail` says what happened in this case. The message is "place: detail (what to do)".
  Error(Status status, const std::string& detail, Place place = {});

  Status status() const noexcept { return status_; }
  const Place& place() const noexcept { return place_; }

 private:
  Status status_;
  Place place_;
};

// Called between pieces of a call's work by every thread that works, also by several at once; a piece is a
// block or a few. An exception ends the call, which throws it again: a way to cancel.
using BetweenPieces = std::function<void()>;

enum class Format : int {
  kLz4 = HEMSTITCH_FORMAT_LZ4,
  kGzip = HEMSTITCH_FORMAT_GZIP,
  kBgzf = HEMSTITCH_FORMAT_BGZF,
  kZlib = HEMSTITCH_FORMAT_ZLIB,
  kDeflate = HEMSTITCH_FORMAT_DEFLATE,
  kZstd = HEMSTITCH_FORMAT_ZSTD,
};

// A format by the words that people use for it.
struct FormatName {
  Format format;
  std::string_view name;    // as the tool's --format takes it: "gzip"
  std::string_view suffix;  // of files: ".gz"; empty if they have none
};
// Those of all formats; of two with one suffix the usual one is first. Thread safety: any thread may call it.
HEMSTITCH_API std::vector<FormatName> format_names();

// Of all formats but Zstandard, which has levels -7 to 22.
inline constexpr int kMinLevel = 1;
inline constexpr int kMaxLevel = 12;

struct CompressOptions {
  Format format = Format::kLz4;
  int level = 0;                // one of the format's; 0: its default
  std::size_t block_bytes = 0;  // LZ4: 64K, 256K, 1M or 4M; Zstandard: 1M or 4M; 0: the format's default
  // Zstandard: how much content each frame of a seekable file has, 64 KB to 64 MB; 0: the file is one frame. A seekable
  // file ends with the public seek table, with which ranges are restored, and frames at once, here and elsewhere.
  std::size_t seekable_bytes = 0;
  // The next four are for LZ4 only. Other formats always have the checksums that they define.
  int acceleration = 0;           // 0: off; N of --fast=N: faster than level 1, and larger
  bool linked_blocks = false;     // each block may refer to the 64 KB before it
  bool block_checksums = true;    // XXH32 of each block as written
  bool content_checksum = false;  // XXH32 of the whole content; it is serial, about 5 GB/s
  // Restores each block on the backend that compressed it, and compares it before it is written. If it
  // differs, another backend compresses the block again.
  bool verify = false;
  // LZ4 and Zstandard store it in the header if it is set, and any other size is an error.
  std::optional<std::uint64_t> content_bytes = {};
  // LZ4: the last 64 KB of it are history for every block. zlib: at most 64 KB, history for the first block.
  // Zstandard: at most 2 GB, bytes of any kind or what a trainer made, for the first block;
  // with window_log for all content as far as the window reaches it.
  // Other formats have no dictionaries.
  std::span<const std::byte> dictionary = {};
  // gzip: the name of the original file, without a zero byte, and the time of its last change in seconds
  // since 1970. gzip stores them only if they are set; other formats store neither.
  std::string stored_name = {};
  std::uint32_t stored_time = 0;
  // "auto", "reproducible", or a name; see hemstitch/choice.hpp. The first two may start a device in the
  // background of a call. If the call turns out not to need that device, it waits at its end until the start
  // is over.
  std::string backend = "auto";
  unsigned threads = 0;                  // 0: one per core
  std::uint64_t memory_limit_bytes = 0;  // 0: none; limits the buffers, not the whole program
  // For the backends cuda and webgpu: a number from `hemstitch backends -vv`, part of a name, a
  // comma-separated list of these, or "all". Given several devices, compress() and restore() on cuda use all
  // of them, and everything else uses the first usable one. Empty: the value of HEMSTITCH_DEVICE, else the
  // best device.
  std::string device = {};
  // Zstandard: a window of 2^window_log bytes, 10 to 31, and a search for long matches in all of it; 0: the usual window.
  // With seekable_bytes each frame is searched by itself. A frame takes memory for its window, and the `zstd` tool restores
  // one of more than 2^27 bytes only with its own --long.
  int window_log = 0;
  // Limits the memory planned on the device. 0: half of the memory that is free there, if the device reports
  // it.
  std::uint64_t gpu_memory_limit_bytes = 0;
  BetweenPieces between_pieces = {};
  // The next three are work of the backend cpu, which "auto" means for them; naming another one is an error.
  //
  // Stores the content as it is, in a frame of the format: `gzip -0`. There are no levels then.
  bool stored = false;
  // gzip, zlib, raw DEFLATE and Zstandard: cuts the content where its own bytes say so, into parts of some 80 KB
  // (Zstandard: 640 KB) that do not refer to each other. Then most of the bytes written stay the same where content is
  // inserted or removed, which rsync and stores of equal pieces make use of. Takes some percent more room.
  bool rsyncable = false;
  // LZ4: writes the legacy frame (magic number 0x184C2102), with blocks of 8 MB, no checksum and no size, as boot
  // loaders and the Linux kernel read it, and `lz4 -l` writes it. The options of checksums are without effect.
  bool legacy = false;
};

struct RestoreOptions {
  // empty: recognized by the first bytes of the input; zlib and raw DEFLATE must be named
  std::optional<Format> format = {};
  bool verify_checksums = true;
  std::span<const std::byte> dictionary = {};  // the dictionary that the frame was written with
  bool accept_any_dictionary_id = false;       // use `dictionary` even if the frame names another one
  std::string backend = "auto";
  unsigned threads = 0;
  // Zstandard: a window larger than 128 MB is refused unless this or window_log allows it.
  std::uint64_t memory_limit_bytes = 0;
  std::string device = {};  // as CompressOptions::device
  int window_log = 0;       // Zstandard: allows windows of 2^window_log bytes, 10 to 31; 0: 128 MB
  std::uint64_t gpu_memory_limit_bytes = 0;  // as CompressOptions::gpu_memory_limit_bytes
  // For restore_ranges() on gzip: the output of make_index() for this file, or a .gzidx file of indexed_gzip
  // or rapidgzip.
  std::span<const std::byte> index = {};
  // For restore(), restore_into(), restore_to(), make_index(), and ranges without an index; other calls refuse
  // it. If it is set, bytes after the last frame that begin no frame are no error, and the call (of a reader for
  // ranges: its constructor) sets it to where the last frame ends. After an error it is unchanged.
  std::uint64_t* used_bytes = nullptr;
  BetweenPieces between_pieces = {};
};

// Compresses `input` into one frame. Throws Error.
HEMSTITCH_API std::vector<std::byte> compress(std::span<const std::byte> input,
                                              const CompressOptions& options = {});

// Restores every frame in `input`, in order. Throws Error: kTrailingGarbage, with the place, if other bytes
// follow the last frame, unless options.used_bytes is set.
HEMSTITCH_API std::vector<std::byte> restore(std::span<const std::byte> input,
                                             const RestoreOptions& options = {});

// Bytes [begin, end) of the content of all frames together. An end past the content means the end of the
// content.
struct ContentBytes {
  std::uint64_t begin = 0, end = UINT64_MAX;
};

struct RestoredRange {
  // kRangeOutsideContent: the range begins past the content. Otherwise the error of its first bad block.
  Status status = Status::kOk;
  Place place = {};                   // of that block
  std::vector<std::byte> bytes = {};  // empty unless the status is kOk
};

// Restores many ranges of `input`, which holds all of its frames; it may be a mapped file. Ranges may overlap
// and come in any order.
//
// LZ4 and BGZF (RFC 1952, SAM specification 4.1) with independent blocks: each block that the ranges touch is
// restored once, in batches, on the backend of the options; the processor uses all threads. All headers are
// read. Checksums of blocks are verified, those of whole contents are not. Each range has its own status, and
// damage elsewhere does not affect it.
//
// Zstandard of several frames: the same, with frames in the place of blocks, if the file ends with a seek table
// (CompressOptions::seekable_bytes), or if every frame states the size of its content. A frame has at most 64 MB.
//
// gzip, one member or many (RFC 1952), with options.index: restoring begins at the last point of the index
// before each range. There is a point about every 4 MB. Each part between two points is restored once, by all
// threads of the processor. No checksum is verified: the call only checks that the data can be restored, and
// that the index is for a file of this size. An index of another file of the same size gives wrong bytes.
//
// Zstandard, any file, with options.index: the same. Points are so far apart that the index takes at most 3 % of the
// file, and an index of another file is refused.
//
// Throws kUnsupportedFeature for other input and for frames that need a dictionary; kInvalidOption if a range
// ends before it begins, if the options have a dictionary, or if the index is not an index of such a file;
// and the errors of restore() for headers.
HEMSTITCH_API std::vector<RestoredRange> restore_ranges(std::span<const std::byte> input,
                                                        std::span<const ContentBytes> ranges,
                                                        const RestoreOptions& options = {});

// Makes an index of a gzip or Zstandard file. Of Zstandard it is what the tool keeps in FILE.zstidx
// (docs/formats/zstd.md), and of a seekable file there is none. Of gzip: points from which restore_ranges() can begin, each with the 32 KB of content
// before it. The index is a .gzidx file, which indexed_gzip, rapidgzip and the tool's --range read. Points
// are 4 MB of content apart, or farther in large files: an index has at most 4096 points and 134 MB. All of
// `input` is restored and verified. Throws Error as restore() does, and kUnsupportedFeature for other formats
// and for BGZF, whose blocks need no index.
HEMSTITCH_API std::vector<std::byte> make_index(std::span<const std::byte> input,
                                                const RestoreOptions& options = {});

// Finds the size of what restore() would return, without restoring it. Throws Error for damaged data.
HEMSTITCH_API std::uint64_t restored_bytes(std::span<const std::byte> input);

// What a stream has done so far.
struct Report {
  std::uint64_t input_bytes = 0, output_bytes = 0;  // bytes read and written: the stream's position
  std::uint64_t frame_count = 0;                    // skippable frames not counted
  std::uint64_t block_count = 0;
  std::uint64_t planned_bytes = 0;         // host memory planned for buffers
  std::uint64_t planned_device_bytes = 0;  // device memory planned for buffers; 0 without a device
  unsigned threads = 0;                    // the most threads that worked at once
  std::string backend = {};                // the backend that worked; empty before the first block
  // Blocks on which that backend failed, the backend that did them, and the message of the first failure.
  // After a second failure the backend is dropped, and another one does the rest.
  std::uint64_t fallback_blocks = 0;
  std::string fallback_backend = {}, fallback_reason = {};
  bool backend_dropped = false;
};

// Receives a stream's output in order, piece by piece. If it throws, the stream's call throws the same
// exception.
using Output = std::function<void(std::span<const std::byte>)>;

// Compresses a stream into one frame. Holds at most one batch of blocks in memory.
//   Compressor compressor(options, output);
//   compressor.write(piece); ...; compressor.finish();
// Without finish() the frame is incomplete. After an exception, or after a move from it, calls on the object
// throw Status::kWrongState.
class HEMSTITCH_API Compressor {
 public:
  Compressor(const CompressOptions& options, Output output);
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  void write(std::span<const std::byte> piece);
  // Passes on all that was written so far, so that a reader of the output can restore it now. A block ends
  // here, in BGZF a member; so frequent calls make the output larger. Calls with nothing new to pass on change
  // nothing. The frame goes on.
  void flush();
  void finish();

  // At any time, also after an Error.
  Report report() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Restores a stream of one or more frames. Holds at most one batch of blocks in memory. finish() throws
// Status::kTruncated if the stream ends inside a frame, and Status::kTrailingGarbage if bytes that begin no
// frame follow the last one: all content has gone to the output then, and report().input_bytes is where they
// begin. Otherwise as Compressor.
class HEMSTITCH_API Decompressor {
 public:
  Decompressor(const RestoreOptions& options, Output output);
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // Prepares an index, which index() returns, as make_index() of a buffer would make it. Call this before the
  // first write(). write() and finish() then throw where that function throws.
  void make_index();

  // Passes on all content that the pieces so far give. Small pieces of a gzip stream are restored by one thread.
  void write(std::span<const std::byte> piece);
  void finish();

  // write() and finish() for a caller that takes the content in pieces: each returns as soon as it has passed
  // content on, at most one batch of blocks, and is called again for more.
  //
  // Returns how many bytes of `piece` it took. If it passed nothing on, these are all, and no more can be
  // restored without further input.
  std::size_t write_some(std::span<const std::byte> piece);
  // Returns whether the stream is finished.
  bool finish_some();

  // For a stream whose end its reader has to find. Call it when write_some() or write() has passed on all that it was given;
  // at any time, before finish(). Returns nothing while a frame is under way or none has begun. Otherwise what was
  // written so far is whole, and these are the bytes that follow it and begin no frame; mostly none. Of those of
  // later writes it does not know.
  std::optional<std::vector<std::byte>> trailing() const;

  // Returns the index; call it after make_index() and finish(), also after one that threw kTrailingGarbage.
  std::vector<std::byte> index() const;

  Report report() const;  // at any time, also after an Error

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hemstitch
