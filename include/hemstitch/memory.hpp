// Compression between buffers: into room of the caller's, with reports of progress, and many short inputs in
// one call.
//
//   std::vector<std::byte> room(hemstitch::compress_bound(content.size()));
//   room.resize(hemstitch::compress_into(content, room));
//
//   for (const hemstitch::OneOfMany& frame : hemstitch::compress_many(pages)) keep(frame.bytes);
//
// Errors are thrown as hemstitch::Error. Thread safety: any number of threads may call these at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// Called after each piece of output with the bytes read and written so far. Calls never overlap, but may come
// from any thread. An exception ends the compressing or restoring call, which throws it again.
using Progress = std::function<void(std::uint64_t input_bytes, std::uint64_t output_bytes)>;

// The most bytes that compress_into() writes for `input_bytes` bytes in that format, for any other options;
// UINT64_MAX if that does not fit in 64 bits.
HEMSTITCH_API std::uint64_t compress_bound(std::uint64_t input_bytes, Format format = Format::kLz4);

// compress() into the caller's room. Returns the size of the frame. The contents of `output` are unspecified
// after an error. Throws kOutputTooSmall if the frame does not fit, kInvalidOption if `output` and `input`
// overlap.
HEMSTITCH_API std::size_t compress_into(std::span<const std::byte> input, std::span<std::byte> output,
                                        const CompressOptions& options = {}, const Progress& progress = {});

// restore() in the same way: returns the restored size.
HEMSTITCH_API std::size_t restore_into(std::span<const std::byte> input, std::span<std::byte> output,
                                       const RestoreOptions& options = {}, const Progress& progress = {});

// restore(), passing the content to `output` piece by piece: for contents of unknown size. Calls of `output`
// never overlap, but may come from any thread. All of the content has been passed when kTrailingGarbage is
// thrown.
HEMSTITCH_API void restore_to(std::span<const std::byte> input, const Output& output,
                              const RestoreOptions& options = {}, const Progress& progress = {});

// restored_bytes() with the format and the function between_pieces of the options; the others do not count.
HEMSTITCH_API std::uint64_t restored_bytes(std::span<const std::byte> input, const RestoreOptions& options);

// ---- Many short inputs at once ----

struct OneOfMany {
  Status status = Status::kOk;
  std::string message = {};  // as Error::what(); empty if the status is kOk
  Place place = {};          // of the error
  // The result; empty unless the status is kOk, or kTrailingGarbage: then it is the content before the bytes
  // at `place`.
  std::vector<std::byte> bytes = {};
};

// Each input becomes a separate frame, as compress() writes it, except that the frame of an empty input does
// not store its size. The inputs go to the backend in large batches; the processor works on one batch per
// thread. Returns one result per input. Throws if the options are wrong or a backend fails as a whole.
HEMSTITCH_API std::vector<OneOfMany> compress_many(std::span<const std::span<const std::byte>> inputs,
                                                   const CompressOptions& options = {});

// The reverse: what restore() returns for each input. Damage to one input does not affect the others.
HEMSTITCH_API std::vector<OneOfMany> restore_many(std::span<const std::span<const std::byte>> inputs,
                                                  const RestoreOptions& options = {});

// ---- Blocks of LZ4 without a frame ----

// A block as LZ4's block format defines it (docs/formats/lz4.md), which is what HDF5's filters and numcodecs
// store; and room for its result.
// Outputs overlap neither each other nor an input, else the calls throw kInvalidOption.
struct Lz4Block {
  std::span<const std::byte> input;   // at most 2,113,929,216 bytes (LZ4_MAX_INPUT_SIZE)
  std::span<std::byte> output;        // for compressing, lz4_block_bound() bytes are always enough
  std::size_t output_bytes = 0;       // set if the status is kOk
  Status status = Status::kInternal;  // set: kOk, kOutputTooSmall (compressing), kCorruptBlock (restoring)
};

// The largest compressed size of a block of `input_bytes` bytes.
constexpr std::size_t lz4_block_bound(std::size_t input_bytes) {
  return input_bytes + input_bytes / 255 + 16;
}

// Compresses each block on the processor by liblz4, at options.level and options.acceleration, with
// options.threads threads. Other options are ignored. Throws kInvalidOption if a block is too long.
HEMSTITCH_API void compress_lz4_blocks(std::span<Lz4Block> blocks, const CompressOptions& options = {});

// Restores each block on the backend of the options; the processor uses all threads. A block that restores to
// more than its room counts as damaged.
HEMSTITCH_API void restore_lz4_blocks(std::span<Lz4Block> blocks, const RestoreOptions& options = {});

}  // namespace hemstitch
