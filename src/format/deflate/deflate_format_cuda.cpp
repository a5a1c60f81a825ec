#include "format/deflate/deflate_format_cuda.hpp"

#include "format/deflate/compress/deflate_compress_cuda.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/deflate/restore/deflate_restore_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {
namespace {

class DeflateDeviceFormat : public DeviceFormat {
 public:
  explicit DeflateDeviceFormat(Format id) : id_(id) {}

  Format id() const override { return id_; }
  Format of_separate_blocks() const override { return Format::kBgzf; }

  std::size_t compress_span_scratch_bytes(const DeviceBlocks& blocks, int level, std::size_t) const override {
    return compress_deflate_span_cuda_scratch_bytes(blocks, deflate_level(level));
  }
  void compress_span(const DeviceBlocks& blocks, int level, std::size_t, const DeviceSpan& span,
                     void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) const override {
    compress_deflate_span_cuda(blocks, deflate_level(level), deflate_end_of_blocks(id_), span, d_scratch,
                               scratch_bytes, stream);
  }

  // Restores blocks that are whole streams of DEFLATE, such as BGZF's, or those that a caller made.
  bool restores() const override { return true; }
  std::size_t restore_scratch_bytes(const DeviceRestore& batch) const override {
    return restore_deflate_cuda_scratch_bytes(batch);
  }
  void restore(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
               cudaStream_t stream) const override {
    restore_deflate_cuda(batch, d_scratch, scratch_bytes, stream);
  }

  void checksums(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                 std::uint32_t* d_checksums, cudaStream_t stream) const override {
    if (id_ == Format::kZlib) return adler32_spans_cuda(d_spans, d_sizes, count, d_checksums, stream);
    if (id_ != Format::kDeflate) return crc32_spans_cuda(d_spans, d_sizes, count, d_checksums, stream);
    // DEFLATE alone has no checksum; report 0.
    if (count != 0)
      check(cudaMemsetAsync(d_checksums, 0, count * sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  }

 private:
  Format id_;
};

}  // namespace

std::vector<std::unique_ptr<DeviceFormat>> make_deflate_device_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
  for (const Format id : {Format::kGzip, Format::kBgzf, Format::kZlib, Format::kDeflate})
    formats.push_back(std::make_unique<DeflateDeviceFormat>(id));
  return formats;
}

}  // namespace hemstitch::cuda
