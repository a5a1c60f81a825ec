// The device's part of DEFLATE in the batch interface, with checked arguments. Builds with CUDA have
// deflate_batch_cuda.cu and deflate_restore_batch_cuda.cu, others stubs that throw kDeviceUnavailable
// (cmake/no_device_stubs.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/batch_format.hpp"
#include "format/checksum.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "hemstitch/batch.h"

namespace hemstitch {

inline constexpr std::size_t kMostDeflateLeadBytes = 18;

// The format of a batch's streams: DEFLATE data with so many bytes before and after it.
struct DeflateStreams {
  DeflateLevel level;
  std::uint32_t lead_bytes = 0;
  std::uint32_t trail_bytes = 0;
  // The same for all streams, except for BGZF's size in the last two bytes.
  std::uint8_t lead[kMostDeflateLeadBytes] = {};
  bool lead_has_size = false;
  Checksum checksum =
      Checksum::kNone;  // the first bytes after the data; after kCrc32 comes the content's size

  // The most bytes of a stream with so much content.
  std::size_t bound(std::size_t content_bytes) const;
};

// Like the functions of the same names in batch.h, but they throw Error.
std::size_t deflate_compress_temp_bytes(const hemstitch_deflate_blocks& blocks,
                                        const DeflateStreams& streams);
void deflate_compress_async(const hemstitch_deflate_blocks& blocks, const DeflateStreams& streams,
                            void* const* d_outputs, const std::size_t* d_capacities,
                            std::size_t* d_output_bytes, hemstitch_status* d_statuses, BatchTemp temp,
                            hemstitch_stream stream);
std::size_t deflate_restore_temp_bytes(const hemstitch_deflate_streams& streams, Format format,
                                       std::size_t max_output_bytes);
void deflate_restore_async(const hemstitch_deflate_streams& streams, Format format, void* const* d_outputs,
                           const std::size_t* d_capacities, std::size_t max_output_bytes,
                           const std::uint32_t* d_history_bytes, std::size_t* d_output_bytes,
                           hemstitch_status* d_statuses, BatchTemp temp, hemstitch_stream stream);
// kCrc32 or kAdler32.
void deflate_checksums_async(Checksum kind, const void* const* d_spans, const std::size_t* d_span_bytes,
                             std::uint64_t count, std::uint32_t* d_checksums, hemstitch_stream stream);

}  // namespace hemstitch
