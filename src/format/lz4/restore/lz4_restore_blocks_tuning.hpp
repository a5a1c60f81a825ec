// Numbers of the restoration of large blocks on a CUDA device. They decide speed, never bytes. Figures are harmonic
// means over seven Silesia files written by liblz4, on an H200, kernel alone (bench/device/lz4_restore_bench.cu).
#pragma once

#include <cstdint>

namespace hemstitch::cuda {

// ---- Many blocks: a warp each. In blocks of 64 KB, 2 GB at a time ----

// Warps, a block each, that are launched together: few, so that a slow block holds little back.
inline constexpr unsigned kLz4BlockWarps = 2;

// Thread blocks that a multiprocessor should hold, which limits the registers. In an earlier version, 12: 267 GB/s;
// 16, which leaves 64 registers: 287; 20, where registers are spilled: 272.
inline constexpr unsigned kLz4BlockResidency = 16;

// Stripes of 32 bytes of a tile: a lane gathers a byte of each at once. Twice as many were 6% slower in a first version of the
// kernel (214 instead of 229 GB/s).
inline constexpr unsigned kLz4TileStripes = 4;

// ---- Few blocks: several warps each. In blocks of 4 MB, 2 GB and 200 MB at a time ----

// Batches of fewer blocks than this count as few.
inline constexpr std::uint64_t kLz4FewBlocks = 1000;

// Warps that share a block, and thread blocks that a multiprocessor should hold. 8 and 4: 121 and 20 GB/s (2 GB and 200 MB), with registers
// spilled; 8 and 3: 103 and 22; 16 and 2: 114 and 31; 16 and 1: 83 and 31.
inline constexpr unsigned kLz4FewBlockWarps = 16;
inline constexpr unsigned kLz4FewBlockResidency = 2;

// Sequences that are taken together. Twice as many: 115 and 31 GB/s, with registers spilled.
inline constexpr std::uint32_t kLz4FewBlockSequences = 1024;

// Bytes of a block's output that are written together. 8192, in an earlier version: 36 and 10 GB/s instead of 46 and 12.
inline constexpr std::uint32_t kLz4FewBlockPartBytes = 4096;

}  // namespace hemstitch::cuda
