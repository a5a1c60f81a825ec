// Measured figures for the choice by `auto` (hemstitch/choice.hpp). Rates are GB/s of content, in blocks of
// 256K. If a number is wrong by half, the size from which on a device is picked moves by about as much.
// `hemstitch backends --calibrate` replaces them.
#pragma once

#include "hemstitch/choice.hpp"

namespace hemstitch::choice_figures {

// The processor: a host of 16 cores beside an H200, whole processes from file to file
// ("nvidia-h200-device-sizes" of 2026-11-25), without the time for the files themselves; level 1 from memory
// to memory ("nvidia-h200-lz4-spans" of 2026-11-22, commit 2af4f062e929). Restoring gives 7.8 there, and less
// if the same cores find pages for a new file. The ratios of 6 to 3 and of 12 to 9 are those of `hemstitch
// bench -3 -6 -9 -12` on 2 cores for the nine Silesia files. Nothing overlaps: the cores do all reading,
// working and writing.
inline constexpr unsigned kCpuCores = 16;
inline constexpr BackendFigures kLz4Cpu = {
    .start_seconds = 0.004, .compress = {5.9, 1.2, 0.46, 0.34, 0.13}, .restore = 5.5, .overlap = 0};

// The twins, on one core ("amd-epyc-2-cores-lz4-twins" of 2026-11-21, commit 50ab494d3057); restoring with
// `hemstitch bench`.
inline constexpr unsigned kReferenceCores = 1;
inline constexpr BackendFigures kLz4Reference = {
    .compress = {0.050, 0.026, 0.021, 0.016, 0.0093}, .restore = 0.25, .overlap = 0};

// Twice as many cores are 1.74 times as fast: 1.13 and 5.9 GB/s on 2 and 16 ("amd-epyc-2-cores-lz4-cpu").
inline constexpr double kCoresExponent = 0.8;

// An H200. Kernels at levels 1, 3, 9 and restoring: `hemstitch bench --span kernel` at commit 83461c6; 6 and
// 12 follow from them as in blocks of 64K ("nvidia-h200-lz4-compress-levels", commit 3b729806854d). Start:
// "nvidia-h200-lz4-files". Overlap: chosen so that these rates give the seconds of
// "nvidia-h200-device-sizes". Pinning takes 0.72 s per GiB, for three slots with 32 MiB in each direction.
inline constexpr unsigned kCudaMultiprocessors = 132;
inline constexpr double kCudaMemoryGbps = 4917;  // as its driver reports it
inline constexpr BackendFigures kLz4Cuda = {.start_seconds = 0.4,
                                            .pin_seconds = 0.67,
                                            .pinned_bytes = 6.0 * (32 << 20),
                                            .compress = {31.3, 18.0, 13.9, 8.4, 4.2},
                                            .restore = 307,
                                            .bus_gbps = 55,
                                            .overlap = 0.6};

// The figures of a format.
struct FigureTable {
  BackendFigures cpu, reference, cuda;
};
inline constexpr FigureTable kLz4Figures = {kLz4Cpu, kLz4Reference, kLz4Cuda};

// gzip, BGZF, zlib and raw DEFLATE. 16 cores: `hemstitch bench --backend cpu --format bgzf --span memory -1
// -3 -6 -9 -12` over dickens, samba and xml beside an H200, commit b0e7606e0489. The H200's kernels:
// "nvidia-h200-device-deflate-compress" and "-restore" of 2026-11-23, with level 3 placed between 1 and 6.
// The twin on one core: "amd-epyc-2-cores-deflate-twins" of 2026-11-23. Restoring is for BGZF.
inline constexpr FigureTable kDeflateFigures = {
    .cpu = {.start_seconds = 0.004, .compress = {5.1, 1.7, 0.72, 0.12, 0.06}, .restore = 6.3, .overlap = 0},
    .reference = {.compress = {0.0062, 0.0059, 0.0047, 0.0032, 0.0019}, .restore = 0.05, .overlap = 0},
    .cuda = {.start_seconds = 0.4,
             .pin_seconds = 0.67,
             .pinned_bytes = 6.0 * (32 << 20),
             .compress = {16.6, 14, 11.8, 7.6, 3.4},
             .restore = 113,
             .bus_gbps = 55,
             .overlap = 0.6}};

// In these formats, a frame that is one stream is restored in pieces. 16 cores: `hemstitch -t` of 896 MB from
// `pigz -6`, in memory, commit b27b7989473a. The device: 20.9 GB in pieces, from a file in memory
// (bench/results, nvidia-h200-device-stream of 2026-11-25).
inline constexpr double kStreamCpuRestore = 2.1, kStreamReferenceRestore = 0.05, kStreamCudaRestore = 33;
// Shorter streams (compressed) stay with the processor, since no smaller sizes were measured.
inline constexpr std::uint64_t kLeastStreamBytes = 100'000'000;

// What the rates above, for blocks of 256K, are multiplied by for pages of 4 KB in one call of PageBatch, measured with
// 10,000 pages: 16 cores reach 8.8 and 33 GB/s, a device's kernels 59 and 190. And the time that such a call takes on a
// started device even for few pages, measured with 100 ("nvidia-h200-device-pages" of 2026-11-25, commit c587b0b).
struct PageFactors {
  double compress, restore;
};
inline constexpr PageFactors kCpuPages = {.compress = 1.5, .restore = 6}, kDevicePages = {1.9, 0.62};
inline constexpr double kDevicePagesSeconds = 0.00018;

// The same host with 16 threads, and the exponent for their number: reading and copying grow nearly with it.
// A new file in memory is written at 5 GB/s if nothing else keeps the cores busy ("nvidia-h200-device-sizes",
// restored by cuda): the system has to find pages for it.
inline constexpr double kReadGbps = 34.9, kReadExponent = 0.81;
inline constexpr double kCopyGbps = 38, kCopyExponent = 0.73;
inline constexpr double kWriteGbps = 5;
inline constexpr double kToDeviceGbps = 5.3, kFromDeviceGbps = 10.4;

// Of the nine Silesia files at levels 1 to 12: 2.3 to 3.0. Assumed if only one of the two sizes is known.
inline constexpr double kAssumedRatio = 2.5;
// The most for an LZ4 block; a header that claims more content is wrong.
inline constexpr double kMostRatio = 255;

// From founding document 004.
inline constexpr double kTransferFactor = 5;

}  // namespace hemstitch::choice_figures
