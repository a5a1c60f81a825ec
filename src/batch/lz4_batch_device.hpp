// The device's part of LZ4 in the batch interface, with checked arguments. Builds with CUDA have
// lz4_batch_cuda.cu and lz4_frame_cuda.cu, others stubs that throw kDeviceUnavailable
// (cmake/no_device_stubs.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/batch_format.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "hemstitch/batch.h"

namespace hemstitch {

// Like the functions of the same names in batch.h, but they throw Error.
std::size_t lz4_compress_temp_bytes(const hemstitch_lz4_blocks& blocks, const Lz4Level& level);
void lz4_compress_async(const hemstitch_lz4_blocks& blocks, const Lz4Level& level, void* const* d_outputs,
                        const std::size_t* d_capacities, std::size_t* d_output_bytes,
                        hemstitch_status* d_statuses, BatchTemp temp, hemstitch_stream stream);

std::size_t lz4_span_temp_bytes(const hemstitch_lz4_blocks& blocks, const Lz4Level& level);
void lz4_span_async(const hemstitch_lz4_blocks& blocks, const Lz4Level& level, const hemstitch_lz4_span& span,
                    hemstitch_status* d_statuses, BatchTemp temp, hemstitch_stream stream);

std::size_t lz4_restore_temp_bytes(const hemstitch_lz4_compressed& compressed, std::size_t max_output_bytes);
void lz4_restore_async(const hemstitch_lz4_compressed& compressed, void* const* d_outputs,
                       const std::size_t* d_capacities, std::size_t max_output_bytes,
                       const std::uint32_t* d_history_bytes, std::size_t* d_output_bytes,
                       hemstitch_status* d_statuses, BatchTemp temp, hemstitch_stream stream);

std::size_t lz4_sizes_temp_bytes(const hemstitch_lz4_compressed& compressed, std::size_t max_output_bytes);
void lz4_sizes_async(const hemstitch_lz4_compressed& compressed, std::size_t max_output_bytes,
                     std::size_t* d_output_bytes, hemstitch_status* d_statuses, BatchTemp temp,
                     hemstitch_stream stream);

void lz4_checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                         std::uint32_t* d_checksums, hemstitch_stream stream);

std::size_t lz4_pages_compress_temp_bytes(const hemstitch_lz4_blocks& pages, const Lz4Level& level);
void lz4_pages_compress_async(const hemstitch_lz4_blocks& pages, const Lz4Level& level,
                              void* const* d_outputs, hemstitch_lz4_page_entry* d_entries,
                              hemstitch_status* d_statuses, BatchTemp temp, hemstitch_stream stream);
std::size_t lz4_pages_restore_temp_bytes(std::uint64_t count);
void lz4_pages_restore_async(const void* const* d_kept, const hemstitch_lz4_page_entry* d_entries,
                             std::uint64_t count, void* const* d_pages, const std::size_t* d_page_bytes,
                             hemstitch_status* d_statuses, BatchTemp temp, hemstitch_stream stream);

std::size_t lz4_frame_compress_temp_bytes(std::uint64_t content_bytes, const hemstitch_lz4_frame& frame,
                                          int level);
void lz4_frame_compress_async(const std::byte* d_content, std::uint64_t content_bytes,
                              const hemstitch_lz4_frame& frame, int level, std::byte* d_output,
                              std::uint64_t capacity, std::uint64_t* d_output_bytes,
                              hemstitch_status* d_status, BatchTemp temp, hemstitch_stream stream);
std::size_t lz4_frame_restore_temp_bytes(const hemstitch_lz4_frame& frame);
void lz4_frame_restore_async(const std::byte* d_frame, std::uint64_t frame_bytes,
                             const hemstitch_lz4_frame& frame, std::byte* d_output, std::uint64_t capacity,
                             std::uint64_t* d_output_bytes, hemstitch_status* d_status, BatchTemp temp,
                             hemstitch_stream stream);

}  // namespace hemstitch
