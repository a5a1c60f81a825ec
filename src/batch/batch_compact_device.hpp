// The device's part of compaction in the batch interface. Builds with CUDA have batch_compact_cuda.cpp, others
// stubs that throw kDeviceUnavailable (cmake/no_device_stubs.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

#include "hemstitch/batch.h"

namespace hemstitch {

// Like the functions of the same names in batch.h, but they throw Error.
std::size_t batch_scan_temp_bytes(std::uint64_t count);
void batch_scan_async(const std::uint32_t* d_sizes, std::uint64_t count, std::uint64_t* d_offsets,
                      void* d_temp, std::size_t temp_bytes, hemstitch_stream stream);

std::size_t batch_gather_temp_bytes(std::uint64_t count);
void batch_gather_async(const void* const* d_sources, const std::uint32_t* d_sizes,
                        const std::uint64_t* d_offsets, std::uint64_t count, void* d_output, void* d_temp,
                        std::size_t temp_bytes, hemstitch_stream stream);

std::size_t batch_scatter_temp_bytes(std::uint64_t count);
void batch_scatter_async(const void* d_input, const std::uint64_t* d_offsets, const std::uint32_t* d_sizes,
                         std::uint64_t count, void* const* d_targets, void* d_temp, std::size_t temp_bytes,
                         hemstitch_stream stream);

std::size_t batch_shuffle_temp_bytes(std::uint64_t count);
void batch_shuffle_async(const void* const* d_sources, const std::size_t* d_sizes, void* const* d_targets,
                         std::uint64_t count, std::uint32_t element_bytes, void* d_temp,
                         std::size_t temp_bytes, hemstitch_stream stream);
void batch_unshuffle_async(const void* const* d_sources, const std::size_t* d_sizes, void* const* d_targets,
                           std::uint64_t count, std::uint32_t element_bytes, void* d_temp,
                           std::size_t temp_bytes, hemstitch_stream stream);

std::size_t batch_bitshuffle_temp_bytes(std::uint64_t count);
void batch_bitshuffle_async(const void* const* d_sources, const std::size_t* d_sizes, void* const* d_targets,
                            std::uint64_t count, std::uint32_t element_bytes, std::size_t block_bytes,
                            void* d_temp, std::size_t temp_bytes, hemstitch_stream stream);
void batch_bitunshuffle_async(const void* const* d_sources, const std::size_t* d_sizes,
                              void* const* d_targets, std::uint64_t count, std::uint32_t element_bytes,
                              std::size_t block_bytes, void* d_temp, std::size_t temp_bytes,
                              hemstitch_stream stream);

}  // namespace hemstitch
