// Numbers of loading frames to a CUDA device and saving them from there. They decide speed and memory, never bytes; tests make
// them small.
#pragma once

#include <cstddef>
#include <cstdint>

#include "files/load/piece_plan.hpp"

namespace hemstitch {

struct FrameLoadSizes {
  // One thread reads a piece and uploads it. Each thread has two pieces in pinned memory, which takes long to pin and is kept with
  // the device: 256 MB for 16 threads. With two, an H200's host brought 36.6 GB/s from files in memory to the device.
  std::size_t most_piece_bytes = std::size_t{8} << 20;
  std::size_t least_piece_bytes = std::size_t{1} << 20;  // where files are too small for all threads
  std::size_t piece_files = 512;
  // Compressed bytes whose blocks are restored in one batch: some hundred blocks of 256K.
  std::size_t most_group_bytes = std::size_t{64} << 20;
  std::size_t least_group_bytes = std::size_t{16}
                                  << 20;  // where there is little data, so that reading and restoring overlap
  std::size_t group_pieces = 64;
  // Groups on the device at once: one arrives, the others are restored side by side.
  std::size_t groups = 6;
  // The processor restores files that are one stream with fewer compressed bytes.
  std::uint64_t least_stream_bytes = std::uint64_t{8} << 20;
};

struct FrameSaveSizes {
  // Content that is compressed at once. There are outputs for two batches: one is compressed while the other one is written.
  std::size_t batch_bytes = std::size_t{128} << 20;
  // Downloaded and written by one thread at once.
  std::size_t piece_bytes = std::size_t{4} << 20;
};

}  // namespace hemstitch
