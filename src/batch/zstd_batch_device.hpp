// The device's part of Zstandard in the batch interface. Builds with CUDA have zstd_batch_cuda.cpp, others stubs that
// throw kDeviceUnavailable (cmake/no_device_stubs.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/batch_format.hpp"
#include "hemstitch/batch.h"

namespace hemstitch {

// Like the functions of BatchFormat.
std::size_t zstd_restore_temp_bytes(const hemstitch_compressed_blocks& compressed,
                                    std::size_t max_output_bytes);
void zstd_restore_async(const hemstitch_compressed_blocks& compressed, const BatchOutputs& outputs,
                        std::size_t max_output_bytes, BatchTemp temp, hemstitch_stream stream);
void zstd_checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                          std::uint32_t* d_checksums, hemstitch_stream stream);

}  // namespace hemstitch
