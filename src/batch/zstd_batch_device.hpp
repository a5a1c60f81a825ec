// The device's part of Zstandard in the batch interface. Builds with CUDA have zstd_batch_cuda.cpp and
// zstd_compress_batch_cuda.cu, others stubs that throw kDeviceUnavailable (cmake/no_device_stubs.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/batch_format.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "hemstitch/batch.h"

namespace hemstitch {

inline constexpr std::size_t kZstdMostChunkBytes = std::size_t{16} << 20;

// How chunks are compressed.
struct ZstdChunks {
  ZstdLevel level;
  // A call works on about so much content at once: temporary memory is up to 22 times that.
  std::uint64_t bytes_at_once = std::uint64_t{256} << 20;
};

// Like the functions of BatchFormat. No chunk may have a history, or more than kZstdMostChunkBytes.
std::size_t zstd_compress_temp_bytes(const hemstitch_blocks& blocks, const ZstdChunks& chunks);
// The bytes of compress_zstd_chunk_reference() (batch/zstd_chunk.hpp).
void zstd_compress_async(const hemstitch_blocks& blocks, const ZstdChunks& chunks,
                         const BatchOutputs& outputs, BatchTemp temp, hemstitch_stream stream);
std::size_t zstd_restore_temp_bytes(const hemstitch_compressed_blocks& compressed,
                                    std::size_t max_output_bytes);
void zstd_restore_async(const hemstitch_compressed_blocks& compressed, const BatchOutputs& outputs,
                        std::size_t max_output_bytes, BatchTemp temp, hemstitch_stream stream);
void zstd_checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                          std::uint32_t* d_checksums, hemstitch_stream stream);

}  // namespace hemstitch
