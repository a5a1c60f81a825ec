// Restores DEFLATE streams through WebGPU. deflate_restore_reference.hpp defines the result, and
// deflate_block_status() the status of a stream: it must end where its bytes do.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// The same structures as in deflate_restore.wgsl.
struct DeflateRestoreRow {
  std::uint32_t begin = 0;          // byte of the data where the history begins
  std::uint32_t history_bytes = 0;  // the stream begins after them
  std::uint32_t stream_bytes = 0;
  std::uint32_t room_bytes = 0;  // the most that it may restore to
  std::uint32_t output_begin = 0;
};
// restore_status() is kDeviceFault too for a stream that was not done in its turns: one of thousands of blocks of a
// few bytes. No compressor writes those; the reference restores them.
struct DeflateRestoreState {
  std::uint32_t status = 0;
  std::uint32_t restored_bytes = 0;
  std::uint32_t bit = 0, head_bit = 0, part = 0, stored_bytes = 0, last = 0;  // where the next turn continues
};

// The longest stream: its bits are counted in 32 bits, with room to look ahead.
inline constexpr std::uint32_t kMostDeflateStreamBytes = (1u << 28) - 1;

// The streams of a batch. Their data is in one buffer, each directly after its history, from a whole word on.
struct DeflateRestoreTable {
  std::vector<DeflateRestoreRow> rows;
  std::uint64_t data_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint32_t turns = 0;  // the most of any stream

  // Throws kInvalidOption for a stream of more than kMostDeflateStreamBytes.
  void add(std::uint32_t history_bytes, std::uint32_t stream_bytes, std::uint32_t room_bytes);
};

// The device memory of a batch: the data and the output.
struct DeflateRestorePlan {
  BufferPlan buffers;
  BufferId data, rows, results, output;
};

DeflateRestorePlan plan_deflate_restore(const DeflateRestoreTable& table);
Recording record_deflate_restore(const DeflateRestorePlan& plan, const DeflateRestoreTable& table);

}  // namespace hemstitch::webgpu
