// Numbers of the restoration of large blocks on a CUDA device. They decide speed, never bytes. Figures are harmonic
// means over seven Silesia files in 64 KB blocks written by liblz4, 2 GB at a time, on an H200, kernel alone
// (bench/device/lz4_restore_bench.cu).
#pragma once

namespace hemstitch::cuda {

// Warps, a block each, that are launched together: few, so that a slow block holds little back.
inline constexpr unsigned kLz4BlockWarps = 2;

// Workgroups that a multiprocessor shall hold, which limits the registers. 12: 267 GB/s; 16, which leaves 64 registers:
// 287 GB/s (with four of them spilled, which has been mended since); 20, where more are spilled: 272 GB/s.
inline constexpr unsigned kLz4BlockResidency = 16;

// Stripes of 32 bytes of a tile: a lane gathers a byte of each at once. Twice as many were 6% slower in a first version
// of the kernel (214 for 229 GB/s).
inline constexpr unsigned kLz4TileStripes = 4;

}  // namespace hemstitch::cuda
