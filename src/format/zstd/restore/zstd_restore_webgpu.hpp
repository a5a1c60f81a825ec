// Restores frames of Zstandard through WebGPU: what stands between a frame's header and its checksum. zstd_restore_reference.hpp
// defines the result: a frame is sound if its last block ends where its bytes do, and its content fits into the room, which its
// window is.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::webgpu {

// The same structures as in zstd_restore.wgsl.
struct ZstdRestoreRow {
  std::uint32_t begin = 0;          // byte of the data where the history begins
  std::uint32_t history_bytes = 0;  // the frame's blocks begin after them
  std::uint32_t frame_bytes = 0;
  std::uint32_t room_bytes = 0;  // the most that it may restore to
  std::uint32_t output_begin = 0;
  std::uint32_t literals_begin = 0;
};
// restore_status() is kDeviceFault too for a frame that was not done in its turns, one of thousands of tiny blocks, and for codes
// of 12 bits. No compressor writes either; the reference restores them.
struct ZstdRestoreState {
  std::uint32_t status = 0;
  std::uint32_t restored_bytes = 0;
  std::uint32_t rest[24] = {};  // where the next turn continues
};

// The most bytes of a frame, and of its content with the history: places are counted in fewer than 32 bits.
inline constexpr std::uint32_t kMostZstdFrameBytes = (1u << 28) - 1;

// The frames of a batch. Their data is in one buffer, each directly after its history, from a whole word on.
struct ZstdRestoreTable {
  std::vector<ZstdRestoreRow> rows;
  std::uint64_t data_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t literals_bytes = 0;
  std::uint32_t turns = 0;  // the most of any frame

  // Throws kInvalidOption for more than kMostZstdFrameBytes.
  void add(std::uint32_t history_bytes, std::uint32_t frame_bytes, std::uint32_t room_bytes);
};

// The device memory of a batch: the data, the output, and the literals of a block of each frame.
struct ZstdRestorePlan {
  BufferPlan buffers;
  BufferId data, rows, results, output, literals;
};

ZstdRestorePlan plan_zstd_restore(const ZstdRestoreTable& table);
Recording record_zstd_restore(const ZstdRestorePlan& plan, const ZstdRestoreTable& table);

}  // namespace hemstitch::webgpu
