// From memory to memory: into room of the caller's, with word of how far a call is, and many short inputs in one call.
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

// Called after each piece of output with the bytes read and written so far; never twice at once, but from any thread. What it
// throws ends the call and is thrown there.
using Progress = std::function<void(std::uint64_t input_bytes, std::uint64_t output_bytes)>;

// The most bytes that compress_into() writes for `input_bytes` bytes, whatever else its options say; UINT64_MAX where that would be more.
HEMSTITCH_API std::uint64_t compress_bound(std::uint64_t input_bytes, Format format = Format::kLz4);

// compress() into room of the caller's, which does not overlap the input. Returns how many bytes of it are the frame; what stands
// in `output` after an error is unspecified. Throws kOutputTooSmall where the room does not suffice.
HEMSTITCH_API std::size_t compress_into(std::span<const std::byte> input, std::span<std::byte> output,
                                        const CompressOptions& options = {}, const Progress& progress = {});

// restore() in the same way.
HEMSTITCH_API std::size_t restore_into(std::span<const std::byte> input, std::span<std::byte> output,
                                       const RestoreOptions& options = {}, const Progress& progress = {});

// restore(), piece by piece: for contents whose size nobody knows before. Calls of `output` do not overlap, but come from any thread.
HEMSTITCH_API void restore_to(std::span<const std::byte> input, const Output& output,
                              const RestoreOptions& options = {}, const Progress& progress = {});

// ---- Many short inputs at once ----

struct OneOfMany {
  Status status = Status::kOk;
  std::string message = {};           // where there is a status: as Error::what()
  Place place = {};                   // of that
  std::vector<std::byte> bytes = {};  // empty where there is a status
};

// Each input becomes a frame of its own, as compress() writes it; but all go to the backend in large batches, and the processor
// takes a batch a thread. (The frame of an empty input does not tell its size.) One result for each. Throws for options, and where a backend fails as a whole.
HEMSTITCH_API std::vector<OneOfMany> compress_many(std::span<const std::span<const std::byte>> inputs,
                                                   const CompressOptions& options = {});

// The way back: what restore() gives for each of them. Damage of one is its own.
HEMSTITCH_API std::vector<OneOfMany> restore_many(std::span<const std::span<const std::byte>> inputs,
                                                  const RestoreOptions& options = {});

// ---- Blocks of LZ4 without a frame ----

// As LZ4's block format defines it (docs/formats/lz4.md), with a room for its result: what HDF5's filters and numcodecs store.
struct Lz4Block {
  std::span<const std::byte> input;   // at most 2,113,929,216 bytes (LZ4_MAX_INPUT_SIZE)
  std::span<std::byte> output;        // lz4_block_bound() bytes suffice to compress
  std::size_t output_bytes = 0;       // set where the status is kOk
  Status status = Status::kInternal;  // set: kOk, kOutputTooSmall (compressing), kCorruptBlock (restoring)
};

// The most bytes that a block of `input_bytes` bytes takes.
constexpr std::size_t lz4_block_bound(std::size_t input_bytes) {
  return input_bytes + input_bytes / 255 + 16;
}

// Compresses each block on the processor, by liblz4 at options.level and options.acceleration, with options.threads threads. Other options say nothing
// here. Throws kInvalidOption where a block is too long.
HEMSTITCH_API void compress_lz4_blocks(std::span<Lz4Block> blocks, const CompressOptions& options = {});

// Restores each block on the backend of the options, on the processor by all threads. A block that would fill more than its room is damaged.
HEMSTITCH_API void restore_lz4_blocks(std::span<Lz4Block> blocks, const RestoreOptions& options = {});

}  // namespace hemstitch
