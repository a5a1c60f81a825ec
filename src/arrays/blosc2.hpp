// Blosc 2's chunks and contiguous frames, for reading, as c-blosc2's README_CHUNK_FORMAT.rst, README_CFRAME_FORMAT.rst and
// README_B2ND_METALAYER.rst describe them. A chunk begins as Blosc 1's does (blosc.hpp), with the flags 1 and 4 both, and goes on:
//
//   filters 6 | codec's number 1, parameter 1 | filters' parameters 6 | reserved 1 | more flags 1 | where each block begins | blocks
//
// Filters apply in this order. Three of the flags say that all elements are 0, NaN, a value that follows, or not set: such a
// chunk has no blocks. A part of a block may be a run of one byte instead of data.
//
// A frame is a header of msgpack, whose numbers are big-endian, chunks one behind the other, and a chunk that says where each one
// begins, or that all of its elements are 0, NaN or not set. Elements that are not set are restored as 0.
//
// The metalayer "b2nd" of a frame says that it is an array: it is divided into chunks, and chunks into blocks, that are boxes, at the edges
// filled up to their full size. Its content is the array in C order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arrays/chunk_worker.hpp"
#include "hemstitch/arrays.hpp"

namespace hemstitch {

// Whether bytes begin like a chunk or a frame of Blosc 2.
bool is_blosc2(std::span<const std::byte> chunk);

struct Blosc2Chunk {
  enum class Kind { kBlocks, kStored, kRepeated, kZeros, kNans };
  Kind kind = Kind::kZeros;
  std::size_t begin = 0, bytes = 0;  // of the input; none if the frame's index alone says what it holds
  std::uint64_t content_begin = 0, content_bytes = 0;
  std::uint32_t block_bytes = 0, element_bytes = 1;
  std::optional<Format> format;  // of kBlocks; without one it is BloscLZ
  bool has_parts = false;
  std::array<std::uint8_t, 6> undone{};  // filters, in the order of undoing; then zeros
};

// The boxes of an array: of an axis its extent, that of a chunk and of a block, and how many chunks and blocks (of a chunk) there are.
struct Blosc2Axis {
  std::uint64_t extent, chunk, block, chunks, blocks;
};

struct Blosc2Content {
  std::uint64_t content_bytes = 0;
  std::vector<Blosc2Chunk> chunks;
  std::vector<Blosc2Axis> axes;  // empty: chunks are one behind the other
  std::uint32_t item_bytes = 1;  // of an array
};

// How much content a chunk or frame says that it has. Throws what read_blosc2() throws of its header.
std::uint64_t blosc2_content_bytes(std::span<const std::byte> input);

// Throws Error as chunk_layout() does, and if the content has not `expected_bytes` (kContentSizeMismatch): what this allocates is in
// proportion to these and to the input.
Blosc2Content read_blosc2(std::span<const std::byte> input, std::uint64_t expected_bytes);

// Blocks that one thread restores in a row: all of a chunk if they need its first one, else one.
struct Blosc2Unit {
  std::uint32_t chunk, first, count;  // of the content's chunks, of the chunk's blocks
};
std::vector<Blosc2Unit> blosc2_units(const Blosc2Content& content);
std::uint64_t blosc2_unit_bytes(const Blosc2Content& content, const Blosc2Unit& unit);

// Restores a unit to its place in `output`, which has the whole content. Nothing, or the number of the block of the chunk that is damaged.
std::optional<std::uint32_t> restore_blosc2_unit(std::span<const std::byte> input,
                                                 const Blosc2Content& content, const Blosc2Unit& unit,
                                                 std::span<std::byte> output, ChunkWorker& worker);

}  // namespace hemstitch
