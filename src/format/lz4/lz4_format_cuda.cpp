// LZ4 as a format of CUDA devices.
#include "format/formats_cuda.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"

namespace hemstitch::cuda {
namespace {

class Lz4DeviceFormat : public DeviceFormat {
 public:
  Format id() const override { return Format::kLz4; }

  std::size_t compress_span_scratch_bytes(const DeviceBlocks& blocks, int level,
                                          std::size_t block_bytes) const override {
    return compress_lz4_span_cuda_scratch_bytes(blocks, lz4_level(level, block_bytes));
  }
  void compress_span(const DeviceBlocks& blocks, int level, std::size_t block_bytes, const DeviceSpan& span,
                     void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) const override {
    compress_lz4_span_cuda(blocks, lz4_level(level, block_bytes), span, d_scratch, scratch_bytes, stream);
  }

  bool restores() const override { return true; }
  std::size_t restore_scratch_bytes(const DeviceRestore& batch) const override {
    return restore_lz4_cuda_scratch_bytes(batch);
  }
  void restore(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
               cudaStream_t stream) const override {
    restore_lz4_cuda(batch, d_scratch, scratch_bytes, stream);
  }

  void checksums(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                 std::uint32_t* d_checksums, cudaStream_t stream) const override {
    checksum_lz4_cuda(d_spans, d_sizes, count, d_checksums, stream);
  }
};

}  // namespace

std::vector<std::unique_ptr<DeviceFormat>> make_lz4_device_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
  formats.push_back(std::make_unique<Lz4DeviceFormat>());
  return formats;
}

}  // namespace hemstitch::cuda
