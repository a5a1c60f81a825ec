// Restores LZ4 blocks through WebGPU; lz4_restore_reference.hpp defines the result.
#pragma once

#include <cstdint>
#include <vector>

#include "core/status.hpp"
#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// The same structures as in lz4_restore.wgsl.
struct RestoreRow {
  std::uint32_t begin = 0;          // byte of the data where the history begins
  std::uint32_t history_bytes = 0;  // the compressed block begins after them
  std::uint32_t block_bytes = 0;    // compressed
  std::uint32_t room_bytes = 0;     // the most that it may restore to
  std::uint32_t first_sequence = 0;
  std::uint32_t output_begin = 0;
};
struct RestoreResult {
  std::uint32_t status = 0;
  std::uint32_t restored_bytes = 0;
  std::uint32_t sequence_count = 0;
  std::uint32_t place = 0;
};

// kOk, kCorruptBlock or kOutputTooSmall, as in restore_lz4_block_reference(); kDeviceFault for any other
// number.
Status restore_status(const RestoreResult& result);

// The blocks of a batch. Their data is in one buffer, each block directly after its history, from a whole
// word on.
struct RestoreTable {
  std::vector<RestoreRow> rows;
  std::uint64_t data_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint32_t sequence_count = 0;
  std::uint32_t largest_block_bytes = 0;
  std::uint32_t largest_room_bytes = 0;

  void add(std::uint32_t history_bytes, std::uint32_t block_bytes, std::uint32_t room_bytes);
};

// The device memory of a batch: data, 4 bytes for each byte of input, and the output.
struct Lz4RestorePlan {
  BufferPlan buffers;
  BufferId data, rows, results, sequences, output;
};
struct RestoreCapacity {
  std::uint64_t data_bytes = 0, output_bytes = 0;
  std::uint32_t block_count = 0, sequence_count = 0;

  bool holds(const RestoreCapacity& other) const;
};
RestoreCapacity capacity_of(const RestoreTable& table);

Lz4RestorePlan plan_lz4_restore(const RestoreCapacity& capacity);
Recording record_lz4_restore(const Lz4RestorePlan& plan, const RestoreTable& table);

}  // namespace hemstitch::webgpu
