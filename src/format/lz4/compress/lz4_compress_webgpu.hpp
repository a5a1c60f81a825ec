// How a batch of blocks is compressed to LZ4 through WebGPU, as data: the buffers that it needs, and its
// steps.
//
//   data -> links -> candidates -> stitch -> decisions -> walk -> sequences -> sizes -> scan -> output
//
// All stages use two arrays with a word for each byte of the data in turn: a stage reads one of them and
// writes the other.
//
//   stage              `first` holds          `second` holds
//   links                                     distances to the same hash
//   candidates         capped matches
//   extend, inherit                           matches at their true length
//   backward           stitched back
//   forward                                   final records
//   decisions          decisions
//   exits, chain                              exits of tiles
//   emit                                      sequences
//   size               pieces of the output
#pragma once

#include <cstdint>

#include "format/lz4/compress/lz4_encode_webgpu.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "match/common/webgpu/block_batch.hpp"

namespace hemstitch::webgpu {

struct Lz4CompressPlan {
  BufferPlan buffers;
  BlockBatch batch;  // its buffers; the table gives the counts
  BufferId heads, first, second, marks, entries, counts, sizes, padded, begins, output;
  ScanBuffers scan;
};

// The hash bits of a level's finder.
unsigned hash_bits(const Lz4Level& level);

// The optimal parse with LZ4's costs.
void record_optimal(Recording& recording, const BlockBatch& batch, BufferId records, BufferId decisions,
                    const BlockPlan& plan, const Lz4CostModel& costs);

// For the blocks of `table`, whose outputs together take at most `output_bytes`; each begins at a whole word.
Lz4CompressPlan plan_lz4_compress(const BlockTable& table, std::uint64_t output_bytes, const Lz4Level& level);

// The steps for these blocks.
Recording record_lz4_compress(const Lz4CompressPlan& plan, const BlockTable& table, const Lz4Level& level,
                              std::uint64_t output_bytes);

}  // namespace hemstitch::webgpu
