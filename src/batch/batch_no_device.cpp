#include "batch/batch_device.hpp"
#include "batch/deflate_batch_device.hpp"
#include "batch/lz4_batch_device.hpp"
#include "batch/no_device.hpp"

namespace hemstitch {
std::size_t batch_find_temp_bytes(const hemstitch_batch&, const AnyFinder&) { throw_no_cuda(); }

void batch_find_async(const hemstitch_batch&, const AnyFinder&, hemstitch_candidate*, std::uint64_t*,
                      hemstitch_status*, void*, std::size_t, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t batch_parse_temp_bytes(const hemstitch_batch&, const BatchParse&) { throw_no_cuda(); }

void batch_parse_async(const hemstitch_batch&, const BatchParse&, const hemstitch_candidate*,
                       const BatchLists&, hemstitch_status*, void*, std::size_t, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t lz4_compress_temp_bytes(const hemstitch_lz4_blocks&, const Lz4Level&) { throw_no_cuda(); }
void lz4_compress_async(const hemstitch_lz4_blocks&, const Lz4Level&, void* const*, const std::size_t*,
                        std::size_t*, hemstitch_status*, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t lz4_span_temp_bytes(const hemstitch_lz4_blocks&, const Lz4Level&) { throw_no_cuda(); }
void lz4_span_async(const hemstitch_lz4_blocks&, const Lz4Level&, const hemstitch_lz4_span&,
                    hemstitch_status*, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t lz4_restore_temp_bytes(const hemstitch_lz4_compressed&, std::size_t) { throw_no_cuda(); }
void lz4_restore_async(const hemstitch_lz4_compressed&, void* const*, const std::size_t*, std::size_t,
                       const std::uint32_t*, std::size_t*, hemstitch_status*, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t lz4_sizes_temp_bytes(const hemstitch_lz4_compressed&, std::size_t) { throw_no_cuda(); }
void lz4_sizes_async(const hemstitch_lz4_compressed&, std::size_t, std::size_t*, hemstitch_status*, BatchTemp,
                     hemstitch_stream) {
  throw_no_cuda();
}

void lz4_checksums_async(const void* const*, const std::size_t*, std::uint64_t, std::uint32_t*,
                         hemstitch_stream) {
  throw_no_cuda();
}

std::size_t lz4_pages_compress_temp_bytes(const hemstitch_lz4_blocks&, const Lz4Level&) { throw_no_cuda(); }
void lz4_pages_compress_async(const hemstitch_lz4_blocks&, const Lz4Level&, void* const*,
                              hemstitch_lz4_page_entry*, hemstitch_status*, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}
std::size_t lz4_pages_restore_temp_bytes(std::uint64_t) { throw_no_cuda(); }
void lz4_pages_restore_async(const void* const*, const hemstitch_lz4_page_entry*, std::uint64_t, void* const*,
                             const std::size_t*, hemstitch_status*, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t lz4_frame_compress_temp_bytes(std::uint64_t, const hemstitch_lz4_frame&, int) { throw_no_cuda(); }
void lz4_frame_compress_async(const std::byte*, std::uint64_t, const hemstitch_lz4_frame&, int, std::byte*,
                              std::uint64_t, std::uint64_t*, hemstitch_status*, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}
std::size_t lz4_frame_restore_temp_bytes(const hemstitch_lz4_frame&) { throw_no_cuda(); }
void lz4_frame_restore_async(const std::byte*, std::uint64_t, const hemstitch_lz4_frame&, std::byte*,
                             std::uint64_t, std::uint64_t*, hemstitch_status*, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}

std::size_t deflate_compress_temp_bytes(const hemstitch_deflate_blocks&, const DeflateStreams&) {
  throw_no_cuda();
}
void deflate_compress_async(const hemstitch_deflate_blocks&, const DeflateStreams&, void* const*,
                            const std::size_t*, std::size_t*, hemstitch_status*, BatchTemp,
                            hemstitch_stream) {
  throw_no_cuda();
}
std::size_t deflate_stream_temp_bytes(std::uint64_t, std::uint64_t) { throw_no_cuda(); }
Status deflate_stream_restore(const std::byte*, std::uint64_t, Format, std::byte*, std::uint64_t,
                              std::uint64_t&, BatchTemp, hemstitch_stream) {
  throw_no_cuda();
}
std::size_t deflate_restore_temp_bytes(const hemstitch_deflate_streams&, Format, std::size_t) {
  throw_no_cuda();
}
void deflate_restore_async(const hemstitch_deflate_streams&, Format, void* const*, const std::size_t*,
                           std::size_t, const std::uint32_t*, std::size_t*, hemstitch_status*, BatchTemp,
                           hemstitch_stream) {
  throw_no_cuda();
}
void deflate_checksums_async(Checksum, const void* const*, const std::size_t*, std::uint64_t, std::uint32_t*,
                             hemstitch_stream) {
  throw_no_cuda();
}

}  // namespace hemstitch
