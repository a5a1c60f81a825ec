// Makes LZ4 blocks from sequences through WebGPU; lz4_encode.hpp defines them.
#pragma once

#include "compact/scan/scan_webgpu.hpp"
#include "format/encoded_size_webgpu.hpp"
#include "parse/parse_webgpu.hpp"

namespace hemstitch::webgpu {

struct Lz4EncodeBuffers {
  BufferId entries;    // of record_walk()
  BufferId sequences;  // of record_walk()
  BufferId pieces;     // 8 bytes for each sequence
  BufferId sizes;      // 4 bytes for each block: its encoded size, or kEncodedTooLarge
  BufferId padded;     // 4 bytes for each block
  BufferId begins;     // 4 bytes for each block and 4 more: where each begins in `output`, and the total
  BufferId output;     // all blocks, each from a whole word on
  ScanBuffers scan;    // for as many elements as blocks
};

// `most_output_bytes` limits the sum of the blocks' rooms, each rounded up to whole words.
void record_lz4_encode(Recording& recording, const BlockBatch& batch, const Lz4EncodeBuffers& buffers,
                       std::uint64_t most_output_bytes);

}  // namespace hemstitch::webgpu
