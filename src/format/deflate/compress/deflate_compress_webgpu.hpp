// DEFLATE compression through WebGPU: the buffers of a batch, and its steps. deflate_compress_reference.hpp
// defines the bytes.
//
//   data -> near_three -> hash_chain -> (parse -> walk -> tokens -> codes) a pass -> sizes -> scan -> output
//
// Four arrays with a word for each byte of the data:
//
//   stage         `records`          `near_records`       `decisions`           `costs`
//   near_three                       second candidates    links
//   hash_chain    first candidates   .                    capped matches
//   parse         .                  .                    decisions             costs
//   walk          .                  .                    .                     exits of tiles
//   encode                                                .
//
// Finders work on the blocks of the frame, all later stages on their chunks. A chunk is a row of its own in a
// table like that of the blocks, with the same tiles, so the shaders of the parse stages take chunks as
// blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "compact/scan/scan_webgpu.hpp"
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/encoded_size_webgpu.hpp"
#include "match/links/links_webgpu.hpp"

namespace hemstitch::webgpu {

// The blocks of a batch, cut into chunks for parsing and into pieces for finding. An empty block has an empty chunk.
struct DeflateCompressTable {
  BlockTable blocks, chunks;
  std::vector<LinkPiece> pieces;
  std::vector<std::uint32_t> block_chunks = {
      0};  // the first chunk of each block; at the end, the number of all chunks

  // Like BlockTable::add().
  void add(std::uint32_t begin, std::uint32_t history_bytes, std::uint32_t block_bytes,
           std::uint32_t room_bytes);
};

// How many bytes of data a block counts as in a batch, at most; its largest array takes four times that.
// Small blocks count as more than they have, since the arrays have room for whole chunks.
std::uint64_t deflate_array_positions(std::uint64_t history_bytes, std::uint64_t block_bytes);

struct DeflateCompressPlan {
  BufferPlan buffers;
  BlockBatch blocks, chunks;  // their buffers; the table gives the counts
  BufferId block_chunks, pieces, heads, records, near_records, decisions, costs, marks, entries, counts,
      tokens, histograms, part_bits, parts, sizes, padded, begins, output;
  ScanBuffers scan;
  std::uint32_t parts_a_chunk = 0;  // at most
};

// For the blocks of `table`, whose outputs together take at most `output_bytes`; each begins at a whole word.
DeflateCompressPlan plan_deflate_compress(const DeflateCompressTable& table, std::uint64_t output_bytes,
                                          const DeflateLevel& level);

// The steps for these blocks; every block ends as `end` says. Afterwards, `sizes` has the bytes of each block, or kEncodedTooLarge, and `begins` where it begins in
// `output`.
Recording record_deflate_compress(const DeflateCompressPlan& plan, const DeflateCompressTable& table,
                                  const DeflateLevel& level, DeflateEnd end, std::uint64_t output_bytes);

}  // namespace hemstitch::webgpu
