// Hemstitch's C++ interface: one-shot calls on buffers, and push-style streams with bounded memory.
//
// Errors are thrown as hemstitch::Error, which carries a Status and, where one is known, the place in the
// data; where memory runs out, it may be std::bad_alloc instead. Thread safety: free functions may be called from
// any number of threads at once; one Compressor or Decompressor belongs to one thread at a time.
#pragma once

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

// One sentence on what the status means and what to do.
HEMSTITCH_API const char* status_text(Status status);

// Where in the compressed data an error was met. Frames and blocks are counted from 1, bytes from 0.
struct Place {
  std::optional<std::uint64_t> frame;
  std::optional<std::uint64_t> block;
  std::optional<std::uint64_t> byte_offset;

  // "frame 1, block 3, byte 4711"; empty when nothing is known.
  HEMSTITCH_API std::string text() const;
};

class HEMSTITCH_API Error : public std::runtime_error {
 public:
  // `detail` says what happened in this case; the message is "place: detail (what to do)".
  Error(Status status, const std::string& detail, Place place = {});

  Status status() const noexcept { return status_; }
  const Place& place() const noexcept { return place_; }

 private:
  Status status_;
  Place place_;
};

enum class Format : int {
  kLz4 = HEMSTITCH_FORMAT_LZ4,
  kGzip = HEMSTITCH_FORMAT_GZIP,
  kBgzf = HEMSTITCH_FORMAT_BGZF,
  kZlib = HEMSTITCH_FORMAT_ZLIB,
  kDeflate = HEMSTITCH_FORMAT_DEFLATE,
};

inline constexpr int kMinLevel = 1;
inline constexpr int kMaxLevel = 12;

struct CompressOptions {
  Format format = Format::kLz4;
  int level = 0;                // kMinLevel..kMaxLevel; 0: the format's default
  std::size_t block_bytes = 0;  // LZ4: 64K, 256K, 1M or 4M; 0: the format's default
  // LZ4 alone has a choice of these; other formats have the checksums that they have.
  int acceleration = 0;           // 0: off; N of --fast=N: faster and larger than level 1
  bool linked_blocks = false;     // each block may refer to the 64 KB before it
  bool block_checksums = true;    // XXH32 of each block as written
  bool content_checksum = false;  // XXH32 of the whole content: serial, about 5 GB/s
  // Restores each block where it was made and compares it before it is written; one that fails is made elsewhere.
  bool verify = false;
  std::optional<std::uint64_t>
      content_bytes;  // LZ4 stores it in the header when known; another size is an error
  // LZ4: its last 64 KB serve every block as history. zlib: at most 64 KB, history of the first block. Others have none.
  std::span<const std::byte> dictionary;
  // gzip: the name of the file whose content it is, without a byte of 0, and when it was last changed, in seconds since 1970. Other
  // formats store neither, nor does gzip unless asked.
  std::string stored_name = {};
  std::uint32_t stored_time = 0;
  // "auto", "reproducible", or a name: see hemstitch/choice.hpp. A device that one of the first two starts beside a call, and that is not needed any more, is
  // waited for at the call's end.
  std::string backend = "auto";
  unsigned threads = 0;                  // 0: one a core
  std::uint64_t memory_limit_bytes = 0;  // 0: none; bounds the buffers, not the program
  // Which device of the backends cuda and webgpu: its number in `hemstitch backends -vv`, a part of its name, or a list of both
  // with commas, of which the first that can be used is taken. Empty: what HEMSTITCH_DEVICE says, else the best one.
  std::string device = {};
  // Of that device: bounds what is planned there. 0: half of what is free, where the device tells.
  std::uint64_t gpu_memory_limit_bytes = 0;
};

struct RestoreOptions {
  std::optional<Format> format =
      {};  // empty: the one that the data begins with; zlib and raw DEFLATE have to be named
  bool verify_checksums = true;
  std::span<const std::byte> dictionary;  // the one that the frame was written with
  bool accept_any_dictionary_id = false;  // use `dictionary` although the frame names another
  std::string backend = "auto";
  unsigned threads = 0;
  std::uint64_t memory_limit_bytes = 0;
  std::string device = {};                   // as CompressOptions::device
  std::uint64_t gpu_memory_limit_bytes = 0;  // as CompressOptions::gpu_memory_limit_bytes
  // Of restore_ranges(): what make_index() gave for this gzip file, or the .gzidx of indexed_gzip or rapidgzip.
  std::span<const std::byte> index = {};
};

// Compresses `input` into one frame. Throws Error.
HEMSTITCH_API std::vector<std::byte> compress(std::span<const std::byte> input,
                                              const CompressOptions& options = {});

// Restores every frame in `input`, one after the other. Throws Error.
HEMSTITCH_API std::vector<std::byte> restore(std::span<const std::byte> input,
                                             const RestoreOptions& options = {});

// Bytes of the content, counted over all frames. An end past the content means its end.
struct ContentBytes {
  std::uint64_t begin = 0, end = UINT64_MAX;
};

struct RestoredRange {
  Status status = Status::
      kOk;  // kRangeOutsideContent: it begins past the content. Else what is wrong with its first bad block
  Place place = {};                   // of that
  std::vector<std::byte> bytes = {};  // empty where there is a status
};

// Many ranges of `input`, which holds all of its frames (a mapped file does): a block that several ranges touch is restored once, all of
// them in batches, on the backend of the options, and on the processor by all threads. Ranges may overlap and come in any order; each has its own
// status, and damage elsewhere is nobody's. Headers are all read. For independent blocks: LZ4 and BGZF (RFC 1952, SAM specification 4.1); others, and frames that need a
// dictionary, throw kUnsupportedFeature. Throws kInvalidOption where a range ends before it begins or the options have a dictionary, and as restore() does for
// headers. Checksums of blocks are verified, those of whole contents are not.
// One gzip stream, or many (RFC 1952): by options.index, from the last of its points before each range, a point every 4 MB or so. Every part between two points is
// restored once, by all threads of the processor. Nothing is verified but that it can be restored and that the index is of a file of that size: an index of
// another file of the same size gives other bytes. What is no index of such a file throws kInvalidOption.
HEMSTITCH_API std::vector<RestoredRange> restore_ranges(std::span<const std::byte> input,
                                                        std::span<const ContentBytes> ranges,
                                                        const RestoreOptions& options = {});

// Places in a gzip file from which restore_ranges() begins, with the 32 KB of content before each: a .gzidx file, which indexed_gzip, rapidgzip
// and the tool's --range read. At most 4096 points and 134 MB, every 4 MB of content, or farther apart where there is more. All of `input` is restored and verified.
// Throws Error as restore() does; what is no gzip, and BGZF, whose blocks need no index, is kUnsupportedFeature.
HEMSTITCH_API std::vector<std::byte> make_index(std::span<const std::byte> input,
                                                const RestoreOptions& options = {});

// The size of what restore() would give, found without writing it. Throws Error on damaged data.
HEMSTITCH_API std::uint64_t restored_bytes(std::span<const std::byte> input);

// What a stream did, so far.
struct Report {
  std::uint64_t input_bytes = 0, output_bytes = 0;  // taken and given out: the stream's position
  std::uint64_t frame_count = 0;                    // without skippable ones
  std::uint64_t block_count = 0;
  std::uint64_t planned_bytes = 0;         // of memory, for buffers
  std::uint64_t planned_device_bytes = 0;  // of a device's memory; 0 where there is none
  unsigned threads = 0;                    // that worked at most
  std::string backend = {};                // that worked; empty before the first block
  // Blocks that it failed on, who did them, and the first failure's message. After a second failure it is dropped, and another one does the rest.
  std::uint64_t fallback_blocks = 0;
  std::string fallback_backend = {}, fallback_reason = {};
  bool backend_dropped = false;
};

// Takes a stream's output, piece by piece and in order. What it throws, the stream's call throws.
using Output = std::function<void(std::span<const std::byte>)>;

// Compresses a stream into one frame. Keeps at most a batch of blocks in memory.
//   Compressor compressor(options, output);
//   compressor.write(piece); ...; compressor.finish();
// Without finish() the frame is incomplete. After an Error, or moved away, the object takes no more calls: they throw
// Status::kWrongState.
class HEMSTITCH_API Compressor {
 public:
  Compressor(const CompressOptions& options, Output output);
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  void write(std::span<const std::byte> piece);
  void finish();

  // At any time, also after an Error.
  Report report() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Restores a stream of one frame or more. Keeps at most a batch of blocks in memory.
// finish() throws Status::kTruncated if the stream ends inside a frame. Otherwise as Compressor.
class HEMSTITCH_API Decompressor {
 public:
  Decompressor(const RestoreOptions& options, Output output);
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // Before anything is written: index() will give what make_index() would. write() and finish() throw where that does.
  void make_index();

  void write(std::span<const std::byte> piece);
  void finish();

  // After make_index() and finish().
  std::vector<std::byte> index() const;

  Report report() const;  // at any time, also after an Error

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hemstitch
