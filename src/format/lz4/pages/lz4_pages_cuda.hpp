// Pages on a CUDA device: the entries and bytes of lz4_pages.hpp, for a batch of pages. Asynchronous, without
// allocation, at any alignment; can be captured in a graph, as in lz4_compress_cuda.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/lz4/lz4_levels.hpp"
#include "format/lz4/pages/lz4_pages.hpp"
#include "hemstitch/hemstitch.h"
#include "match/common/cuda/device_block.hpp"

namespace hemstitch::cuda {

// Arrays with one element for each page, all on the device. Each output has as much room as its page has
// bytes.
struct DeviceLz4PageOutput {
  std::byte* const* d_outputs;
  Lz4PageEntry* d_entries;
};

// No page has more than kPageBytes, and none has a history.
std::size_t compress_lz4_pages_cuda_scratch_bytes(const DeviceBlocks& pages, const Lz4Level& level);
void compress_lz4_pages_cuda(const DeviceBlocks& pages, const Lz4Level& level,
                             const DeviceLz4PageOutput& output, void* d_scratch, std::size_t scratch_bytes,
                             cudaStream_t stream);

// Arrays with one element for each page, all on the device.
struct DeviceLz4PageRestore {
  const std::byte* const* d_kept;
  const Lz4PageEntry* d_entries;
  std::byte* const* d_pages;
  const std::size_t* d_page_bytes;  // the exact size of each page, at most kPageBytes
  hemstitch_status* d_statuses;     // HEMSTITCH_OK or HEMSTITCH_CORRUPT_BLOCK
  std::uint64_t count;
};

std::size_t restore_lz4_pages_cuda_scratch_bytes(const DeviceLz4PageRestore& pages);
void restore_lz4_pages_cuda(const DeviceLz4PageRestore& pages, void* d_scratch, std::size_t scratch_bytes,
                            cudaStream_t stream);

}  // namespace hemstitch::cuda
