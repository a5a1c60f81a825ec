// Chunks of arrays as Blosc and HDF5's filters store them, which is what Zarr, HDF5 and NetCDF files hold: a
// header, and blocks of a compressed format, whose content was often rearranged before (shuffled).
//
//   std::vector<hemstitch::ArrayChunk> chunks = ...;            // input: a chunk; output: room for its content
//   hemstitch::restore_chunks(chunks, {.container = hemstitch::ChunkContainer::kBlosc});
//
// The processor does the work, with all threads: blocks of one chunk are restored at once, as are chunks. For a
// device, chunk_layout() tells where the blocks are, which batch.h takes. docs/arrays.md names what is read
// and what is not.
//
// Errors that concern all chunks are thrown as hemstitch::Error; damage is a status of its chunk. Thread
// safety: any number of threads may call these at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

enum class ChunkContainer {
  // Blosc 1: c-blosc's README_CHUNK_FORMAT.rst. Its header states format, filter and sizes. Restored are Blosc 2's chunks and contiguous frames
  // too: of one with the metalayer "b2nd" the array in C order.
  kBlosc = 1,
  // HDF5's filter 32004: blocks of LZ4, or as they are.
  kHdf5Lz4 = 2,
  // HDF5's filter 32008: blocks of LZ4 or Zstandard whose content is bit-shuffled. The file says of which format, and how
  // large elements are.
  kHdf5Bitshuffle = 3,
  // None, for restoring alone: the chunk is a block of LZ4, a stream of zlib or a frame of Zstandard, as Zarr's and HDF5's codecs of these
  // names have them. Nothing in it need say how large its content is: that is the size of its output.
  kBare = 4,
};

// What content was rearranged by before it was compressed (compact.hpp), block by block.
enum class ChunkFilter { kNone = 0, kShuffle = 1, kBitshuffle = 2 };

struct ChunkCoding {
  ChunkContainer container = ChunkContainer::kBlosc;
  // Of the blocks: kLz4, kZlib (Blosc), kZstd (Blosc and bitshuffle). To restore Blosc, its header counts.
  Format format = Format::kLz4;
  // To compress to Blosc. Of the other containers one has none, and one is always bit-shuffled.
  ChunkFilter filter = ChunkFilter::kNone;
  std::uint32_t element_bytes = 1;  // Blosc: 1 to 255. Bitshuffle: 1 to 256, for restoring too
  std::uint32_t block_bytes = 0;    // to compress: 0: the container's default
  int level = 0;                    // to compress: of the format; 0: its default
  int acceleration = 0;             // LZ4, as CompressOptions::acceleration
};

// A block of a chunk: bytes [begin, begin + bytes) of the chunk, which hold content [content_begin,
// content_begin + content_bytes); `stored`: as it is, otherwise in the chunk's format.
struct ChunkBlock {
  std::uint64_t begin, bytes, content_begin, content_bytes;
  bool stored;
};

struct ChunkLayout {
  Format format = Format::kLz4;
  std::uint64_t content_bytes = 0;
  // Of the content in [filtered_begin, filtered_end), each filter_block_bytes, counted from the beginning of the content, and what is
  // left at the end, were rearranged by themselves; the rest was not.
  ChunkFilter filter = ChunkFilter::kNone;
  std::uint32_t element_bytes = 1;
  std::uint64_t filter_block_bytes = 0, filtered_begin = 0, filtered_end = 0;
  // In the order of their content, which they fill without gaps, none across a boundary of filter_block_bytes.
  std::vector<ChunkBlock> blocks;
};

// Not for kBare, and not for Blosc 2 (kUnsupportedFeature). Throws Error if the chunk's header and sizes are damaged (kTruncated, kCorruptHeader, kCorruptBlock) or not
// supported (kUnsupportedFeature, which names the codec). What blocks hold is not looked at.
HEMSTITCH_API ChunkLayout chunk_layout(std::span<const std::byte> chunk, const ChunkCoding& coding);

// How much content a chunk says that it holds. Not for kBare. Throws what chunk_layout() throws, and takes Blosc 2's too; of these it
// looks at the header alone.
HEMSTITCH_API std::uint64_t chunk_content_bytes(std::span<const std::byte> chunk, const ChunkCoding& coding);

struct ArrayChunk {
  std::span<const std::byte> input;
  std::span<std::byte> output;        // restoring: exactly as large as the content
  std::size_t output_bytes = 0;       // set if the status is kOk
  Status status = Status::kInternal;  // set
  std::string message = {};           // set: what is wrong, and where; empty if the status is kOk
};

// Restores each chunk. Of the options threads and between_pieces count. A chunk whose content is not as large as its
// output gets kContentSizeMismatch. The contents of an output are unspecified unless its status is kOk.
HEMSTITCH_API void restore_chunks(std::span<ArrayChunk> chunks, const ChunkCoding& coding,
                                  const RestoreOptions& options = {});

// The most bytes of a chunk with so much content. Throws kInvalidOption if it is more than the container can hold:
// 2,147,483,631 bytes for Blosc.
HEMSTITCH_API std::size_t chunk_bound(std::size_t content_bytes, const ChunkCoding& coding);

// Gives room for a chunk, by its number, once its size is known; called by the calling thread alone.
using RoomForChunk = std::function<std::span<std::byte>(std::size_t number, std::size_t bytes)>;

// Compresses each input into its output, or into what `room` gives. The container's own readers restore the chunks. Of the
// options threads and between_pieces count. A chunk that has too little room gets kOutputTooSmall; chunk_bound() is always enough. Throws
// kInvalidOption, and what `room` throws.
HEMSTITCH_API void compress_chunks(std::span<ArrayChunk> chunks, const ChunkCoding& coding,
                                   const CompressOptions& options = {}, const RoomForChunk& room = {});

// The checksum of HDF5's filter 3, fletcher32, which follows a chunk's bytes in 4 bytes, little-endian. HDF5 before 1.6.3 wrote the two
// bytes of each half in the other order, and readers take both.
HEMSTITCH_API std::uint32_t hdf5_fletcher32(std::span<const std::byte> data);

}  // namespace hemstitch
