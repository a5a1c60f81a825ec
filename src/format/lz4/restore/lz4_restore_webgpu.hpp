// Restores LZ4 blocks through WebGPU; lz4_restore_reference.hpp defines the result.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// The same structures as in lz4_restore.wgsl.
struct Lz4RestoreRow {
  std::uint32_t begin = 0;          // byte of the data where the history begins
  std::uint32_t history_bytes = 0;  // the compressed block begins after them
  std::uint32_t block_bytes = 0;    // compressed
  std::uint32_t room_bytes = 0;     // the most that it may restore to
  std::uint32_t first_sequence = 0;
  std::uint32_t output_begin = 0;
};
struct Lz4RestoreResult {
  std::uint32_t status = 0;  // restore_status(), as in restore_lz4_block_reference()
  std::uint32_t restored_bytes = 0;
  std::uint32_t sequence_count = 0;
  std::uint32_t place = 0;
};

// The blocks of a batch. Their data is in one buffer, each block directly after its history, from a whole
// word on.
struct Lz4RestoreTable {
  std::vector<Lz4RestoreRow> rows;
  std::uint64_t data_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint32_t sequence_count = 0;
  std::uint32_t largest_block_bytes = 0;
  std::uint32_t largest_room_bytes = 0;

  void add(std::uint32_t history_bytes, std::uint32_t block_bytes, std::uint32_t room_bytes);
  // Whether a workgroup for each block would leave a device almost empty, so that many restore a block (lz4_restore_few.wgsl).
  bool has_few_blocks() const;
};

// The device memory of a batch: data, 4 bytes for each byte of input, and the output. For few blocks, an eighth more of the data
// and 4 bytes for each byte of output.
struct Lz4RestorePlan {
  BufferPlan buffers;
  BufferId data, rows, results, sequences, output, windows, sources;
};

Lz4RestorePlan plan_lz4_restore(const Lz4RestoreTable& table);
Recording record_lz4_restore(const Lz4RestorePlan& plan, const Lz4RestoreTable& table);

// Its parts for few blocks: the size of `windows` for so much data in at most as many blocks as are few, and the passes.
std::uint64_t few_windows_bytes(std::uint64_t data_bytes);
Recording record_lz4_restore_few(const Lz4RestorePlan& plan, const Lz4RestoreTable& table);

}  // namespace hemstitch::webgpu
