// Written by tools/results from bench/results (tools/records/choice_figures.py). Rates are GB/s of content, times are seconds.
#pragma once

#include <array>

namespace hemstitch::choice_recorded {

using Levels = std::array<double, 5>;  // kFigureLevels

// Of a device's stages: no row has it alone.
inline constexpr double kOverlap = 0.6;

// If only one of the two sizes is known; level 1 to 12 give 2.3 to 3.0.
inline constexpr double kAssumedRatio = 2.5;

// A process that compresses 4 KB.
// 2026-11-26-nvidia-h200-device-sizes.json: what compress, backend cpu, level 1, bytes 4096
inline constexpr double kCpuStart = 0.002819;

// The same on a device: until it has started.
// 2026-11-26-nvidia-h200-device-sizes.json: what compress, backend cuda, level 1, bytes 4096
inline constexpr double kCudaStart = 0.33;

// What 256 MB take longer there than 4 KB: memory is pinned, nearly all of it.
// 2026-11-26-nvidia-h200-device-sizes.json: what compress, backend cuda, level 1, bytes 268435456; what
//   compress, backend cuda, level 1, bytes 4096; what compress, backend cuda, level 3, bytes 268435456; what
//   compress, backend cuda, level 3, bytes 4096; what compress, backend cuda, level 9, bytes 268435456; what
//   compress, backend cuda, level 9, bytes 4096; what restore, backend cuda, level 1, bytes 268435456; what
//   restore, backend cuda, level 1, bytes 4096; what restore, backend cuda, level 3, bytes 268435456; what
//   restore, backend cuda, level 3, bytes 4096; what restore, backend cuda, level 9, bytes 268435456; what
//   restore, backend cuda, level 9, bytes 4096
inline constexpr double kPinned256M = 0.2244;

// A new file in memory: the time of what 4 GiB restored by a device have more than 1 GiB.
// 2026-11-26-nvidia-h200-device-sizes.json: what restore, backend cuda, level 1, bytes 4294967296; what
//   restore, backend cuda, level 3, bytes 4294967296; what restore, backend cuda, level 9, bytes 4294967296;
//   what restore, backend cuda, level 1, bytes 1073741824; what restore, backend cuda, level 3, bytes
//   1073741824; what restore, backend cuda, level 9, bytes 1073741824
inline constexpr double kWriteGbps = 4.387;

// A file that is read and uploaded; reading bounds it.
// 2026-11-26-nvidia-h200-device-frame-files.json: what load, level 1
inline constexpr double kReadGbps = 40.36;

// One way: restored content comes down at the bus's speed.
// 2026-11-26-nvidia-h200-device-spans.json: what restore, backend cuda, span pinned, block_bytes 262144,
//   level 3
inline constexpr double kBusGbps = 49.19;

// Between a device and memory that is not pinned: files that the cores read and upload.
// 2026-11-26-nvidia-h200-device-files.json: what load, again, backend cpu
inline constexpr double kUnpinnedGbps = 7.346;

// 16 cores: 4 GiB without the time for the files; levels 6 and 12 by their cost beside 3 and 9.
// 2026-11-26-nvidia-h200-device-sizes.json: what compress, backend cpu, level 1, bytes 4294967296; what
//   compress, backend cpu, level 3, bytes 4294967296; what compress, backend cpu, level 9, bytes 4294967296
// 2026-11-26-intel-r-xeon-r-processor-2-cores-cpu-levels.json: what compress, backend cpu, format lz4, level
//   3; what compress, backend cpu, format lz4, level 6; what compress, backend cpu, format lz4, level 9; what
//   compress, backend cpu, format lz4, level 12
inline constexpr Levels kLz4CpuCompress = {5.209, 1.014, 0.5919, 0.3428, 0.1874};

// The same, of three levels.
// 2026-11-26-nvidia-h200-device-sizes.json: what restore, backend cpu, level 1, bytes 4294967296; what
//   restore, backend cpu, level 3, bytes 4294967296; what restore, backend cpu, level 9, bytes 4294967296
inline constexpr double kLz4CpuRestore = 5.094;

// 16 cores against 2, whose speed to the power of this is that of one.
// 2026-11-21-amd-epyc-2-cores-lz4-cpu.json: what compress, block_bytes 262144, level 1, threads 2
inline constexpr double kCoresExponent = 0.7359;

// An H200's kernels; levels 6 and 12 as in blocks of 64K beside 3 and 9.
// 2026-11-26-nvidia-h200-device-spans.json: what compress, backend cuda, span kernel, block_bytes 262144,
//   level 3; what compress, backend cuda, span kernel, block_bytes 262144, level 9; what compress, backend
//   cuda, span kernel, block_bytes 262144, level 1
// 2026-11-21-nvidia-h200-lz4-compress-levels.json: level 6, file mean; level 3, file mean; level 12, file
//   mean; level 9, file mean
inline constexpr Levels kLz4CudaCompress = {53.09, 19.02, 14.66, 8.034, 4.057};

// 2026-11-26-nvidia-h200-device-spans.json: what restore, backend cuda, span kernel, block_bytes 262144,
//   level 3
inline constexpr double kLz4CudaRestore = 311.3;

// Memory to memory: what is left of restoring there.
// 2026-11-26-nvidia-h200-device-spans.json: what restore, backend cuda, span memory, block_bytes 262144,
//   level 3
inline constexpr double kCopyGbps = 32.19;

// The twins on one core.
// 2026-11-21-amd-epyc-2-cores-lz4-twins.json: file corpus, block_bytes 65536, level 1; file corpus,
//   block_bytes 65536, level 3; file corpus, block_bytes 65536, level 6; file corpus, block_bytes 65536,
//   level 9; file corpus, block_bytes 65536, level 12
inline constexpr Levels kLz4ReferenceCompress = {0.04972, 0.0257, 0.02087, 0.01638, 0.00932};

// 2026-11-26-intel-r-xeon-r-processor-2-cores-cpu-levels.json: what restore, backend reference, format lz4
inline constexpr double kLz4ReferenceRestore = 0.4558;

// 16 cores, BGZF; levels 3, 9 and 12 by their cost beside 6.
// 2026-11-26-nvidia-h200-device-gzip.json: what compress, backend cpu, span memory, format bgzf, level 6;
//   what compress, backend cpu, span memory, format bgzf, level 1
// 2026-11-26-intel-r-xeon-r-processor-2-cores-cpu-levels.json: what compress, backend cpu, format bgzf, level
//   6; what compress, backend cpu, format bgzf, level 3; what compress, backend cpu, format bgzf, level 9;
//   what compress, backend cpu, format bgzf, level 12
inline constexpr Levels kDeflateCpuCompress = {4.137, 1.571, 0.7184, 0.1203, 0.0721};

// 2026-11-26-nvidia-h200-device-gzip.json: what restore, backend cpu, span memory, format bgzf, level 6
inline constexpr double kDeflateCpuRestore = 5.31;

// 2026-11-23-amd-epyc-2-cores-deflate-twins.json: file total, block_bytes 1048576, level 1; file total,
//   block_bytes 1048576, level 3; file total, block_bytes 1048576, level 6; file total, block_bytes 1048576,
//   level 9; file total, block_bytes 1048576, level 12
inline constexpr Levels kDeflateReferenceCompress = {0.006243, 0.005907, 0.004747, 0.003239, 0.001903};

// 2026-11-26-intel-r-xeon-r-processor-2-cores-cpu-levels.json: what restore, backend reference, format bgzf
inline constexpr double kDeflateReferenceRestore = 0.06496;

// An H200's kernels, BGZF; level 3 lies between 1 and 6, level 12 is as in blocks of 1M beside 9.
// 2026-11-26-nvidia-h200-device-gzip.json: what compress, backend cuda, span kernel, format bgzf, level 1;
//   what compress, backend cuda, span kernel, format bgzf, level 6; what compress, backend cuda, span kernel,
//   format bgzf, level 9
// 2026-11-26-nvidia-h200-device-deflate-compress.json: what compress, file nine files, block_bytes 1048576,
//   level 12; what compress, file nine files, block_bytes 1048576, level 9
inline constexpr Levels kDeflateCudaCompress = {19.51, 16.49, 12.82, 7.744, 3.657};

// 2026-11-26-nvidia-h200-device-gzip.json: what restore, backend cuda, span kernel, format bgzf, level 6
inline constexpr double kDeflateCudaRestore = 109.5;

// One stream of gzip, 16 cores.
// 2026-11-26-nvidia-h200-device-stream.json: file mixed, pigz -6, span file
inline constexpr double kStreamCpuRestore = 3.66;

// In pieces, from a file in memory.
// 2026-11-26-nvidia-h200-device-stream.json: file mixed, pigz -6, 20 GB, span file
inline constexpr double kStreamCudaRestore = 35.4;

// A call of PageBatch takes this and its bytes over the rate: through 100 to 100,000 pages of 4 KB.
// 2026-11-26-nvidia-h200-device-pages.json: what page batch: compress, backend cpu
inline constexpr double kCpuPagesCompressCall = 0.00021;

inline constexpr double kCpuPagesCompress = 8.2;

// 2026-11-26-nvidia-h200-device-pages.json: what page batch: compress, backend cuda
inline constexpr double kCudaPagesCompressCall = 0.0001556;

// Without the transfers.
inline constexpr double kCudaPagesCompress = 49.03;

// A call of PageBatch takes this and its bytes over the rate: through 100 to 100,000 pages of 4 KB.
// 2026-11-26-nvidia-h200-device-pages.json: what page batch: restore, backend cpu
inline constexpr double kCpuPagesRestoreCall = 2.8e-05;

inline constexpr double kCpuPagesRestore = 33.78;

// 2026-11-26-nvidia-h200-device-pages.json: what page batch: restore, backend cuda
inline constexpr double kCudaPagesRestoreCall = 9.043e-05;

// Without the transfers.
inline constexpr double kCudaPagesRestore = 27.6;

}  // namespace hemstitch::choice_recorded
