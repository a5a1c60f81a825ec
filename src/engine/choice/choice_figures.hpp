// The figures of the choice by `auto` (hemstitch/choice.hpp). Rates are GB/s of content, in blocks of 256K. They are
// recorded (choice_recorded.hpp), and replaced by `hemstitch backends --calibrate`. If a number is wrong by half, the
// size from which on a device is picked moves by about as much.
#pragma once

#include <algorithm>

#include "engine/cuda/cuda_engine_tuning.hpp"
#include "format/choice_recorded.hpp"
#include "hemstitch/choice.hpp"

namespace hemstitch::choice_figures {

using namespace choice_recorded;

// The processor: a host of 16 cores beside an H200. Nothing overlaps: the cores do all reading, working and writing.
// The rates are the format's (FrameFormat::figures()).
inline constexpr unsigned kCpuCores = 16;
inline constexpr BackendFigures kCpu = {.start_seconds = kCpuStart, .overlap = 0};

// The twins.
inline constexpr unsigned kReferenceCores = 1;
inline constexpr BackendFigures kReference = {.overlap = 0};

// An H200. A long run pins a batch in each direction for all calls that work at once. The overlap is no row's figure:
// choice_test holds whole recorded runs to what it gives.
inline constexpr unsigned kCudaMultiprocessors = 132;
inline constexpr double kCudaMemoryGbps = 4917;  // as its driver reports it
inline constexpr double kCudaPinnedBytes = 2.0 * cuda::kEngineSlots * cuda::kEngineBatchBytes;
inline constexpr double kPinGB =
    std::min(kCudaPinnedBytes, (256 << 20) * (1 + 1 / kAssumedRatio)) / 1e9;  // for 256 MB
inline constexpr BackendFigures kCuda = {.start_seconds = kCudaStart,
                                         .pin_seconds = kPinned256M / kPinGB,
                                         .pinned_bytes = kCudaPinnedBytes,
                                         .bus_gbps = kBusGbps,
                                         .overlap = kOverlap};

// Shorter frames that are one stream (compressed) stay with the processor, since no smaller sizes were measured.
inline constexpr std::uint64_t kLeastStreamBytes = 100'000'000;

// A call of PageBatch, for pages of 4 KB: the time that any call takes, and what the rates above, for blocks of 256K at
// level 1, are multiplied by. Few pages are done by one core before others have woken up.
struct PageFigures {
  double compress_call, restore_call;  // seconds
  double compress, restore;            // factors
};
inline constexpr PageFigures kCpuPages = {.compress_call = kCpuPagesCompressCall,
                                          .restore_call = kCpuPagesRestoreCall,
                                          .compress = kCpuPagesCompress / kLz4CpuCompress[0],
                                          .restore = kCpuPagesRestore / kLz4CpuRestore};
inline constexpr PageFigures kDevicePages = {.compress_call = kCudaPagesCompressCall,
                                             .restore_call = kCudaPagesRestoreCall,
                                             .compress = kCudaPagesCompress / kLz4CudaCompress[0],
                                             .restore = kCudaPagesRestore / kLz4CudaRestore};

// From founding document 004.
inline constexpr double kTransferFactor = 5;

}  // namespace hemstitch::choice_figures
