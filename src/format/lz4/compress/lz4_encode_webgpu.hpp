// LZ4 blocks from sequences through WebGPU; the definition stands in lz4_encode.hpp.
#pragma once

#include "compact/scan/scan_webgpu.hpp"
#include "format/encoded_size_webgpu.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

struct Lz4EncodeBuffers {
  BufferId entries;    // of record_walk()
  BufferId sequences;  // of record_walk()
  BufferId pieces;     // 8 bytes a sequence
  BufferId sizes;      // 4 bytes a block: of its encoded form, or kEncodedTooLarge
  BufferId padded;     // 4 bytes a block
  BufferId begins;     // 4 bytes a block and 4 more: where in `output` each block begins, and the total
  BufferId output;     // every block from a whole word on, one after the other
  ScanBuffers scan;    // for as many elements as blocks
};

// `most_output_bytes` bounds the sum of the blocks' rooms, each rounded up to whole words.
void record_lz4_encode(Recording& recording, const BlockBatch& batch, const Lz4EncodeBuffers& buffers,
                       std::uint64_t most_output_bytes);

}  // namespace hemstitch::webgpu
