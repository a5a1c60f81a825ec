// Whole streams restored by the kernels of the batch interface, compiled for the processor. The library has functions of the same
// names, for builds without devices.
#include "deflate_batch_kernels.hpp"

#include "format/deflate/frame/deflate_checksum_cuda.hpp"

#define deflate_checksums_async deflate_checksums_by_kernels
#define deflate_restore_async deflate_restore_by_kernels
#define deflate_restore_temp_bytes deflate_restore_temp_bytes_of_kernels
#include "batch/deflate_restore_batch_cuda.cu"

namespace hemstitch {

void deflate_checksums_by_kernels(Checksum kind, const void* const* d_spans, const std::size_t* d_span_bytes,
                                  std::uint64_t count, std::uint32_t* d_checksums, hemstitch_stream stream) {
  (kind == Checksum::kCrc32 ? cuda::crc32_spans_cuda : cuda::adler32_spans_cuda)(
      reinterpret_cast<const std::byte* const*>(d_spans), d_span_bytes, count, d_checksums, stream);
}

}  // namespace hemstitch
