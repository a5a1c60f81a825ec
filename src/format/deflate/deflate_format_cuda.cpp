// The formats with DEFLATE blocks on CUDA devices. Devices compress to all of them, and restore blocks that
// can be told apart.
#include <string>

#include "core/device_failures.hpp"
#include "format/deflate/compress/deflate_compress_cuda.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "format/deflate/restore/deflate_restore_cuda.hpp"
#include "format/deflate/stream/deflate_decoder.hpp"
#include "format/deflate/stream/deflate_device_decoder.hpp"
#include "format/deflate/stream/deflate_piece_device_cuda.hpp"
#include "format/deflate/stream/deflate_stream_in_memory_cuda.hpp"
#include "format/formats_cuda.hpp"
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

  StreamMemory stream_memory(const FrameHeader&, const StreamMeans& means,
                             std::uint64_t limit_bytes) const override {
    const auto limits = deflate_device_limits(means, limit_bytes, cuda_pieces_bytes);
    if (!limits) return deflate_stream_memory(means);
    return {limits->memory_bytes(), cuda_pieces_bytes(*limits), limit_bytes};
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(const StreamDevice& on, const FrameHeader&,
                                                     std::span<const std::byte> history,
                                                     const StreamMeans& means) const override {
    const bool members = id_ == Format::kGzip;
    std::uint64_t limit_bytes = on.limit_bytes;
    std::string failure;
    while (const auto limits = deflate_device_limits(means, limit_bytes, cuda_pieces_bytes)) {
      try {
        return std::make_unique<DeflateDeviceDecoder>(
            std::make_unique<CudaPieces>(on.device, *limits, on.clock), history, members, means, *limits);
      } catch (const Error& error) {
        if (!is_device_failure(error)) throw;
        failure = error.what();
        if (error.status() != Status::kDeviceOutOfMemory) break;
      }
      // Perhaps free slots keep the memory that is missing, or others have taken it meanwhile: release it, and
      // try smaller pieces.
      on.release_memory();
      limit_bytes = cuda_pieces_bytes(*limits) / 2;
    }
    if (!failure.empty() && means.on_failure) means.on_failure(failure);
    return make_deflate_decoder(history, members, means);
  }

  bool restores_stream(std::span<const std::byte> head) const override {
    return deflate_stream_format(head) == id_;
  }
  std::size_t stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t output_bytes) const override {
    return deflate_stream_temp_bytes(stream_bytes, output_bytes);
  }
  StreamOutcome restore_stream(const StreamInMemory& work, void* d_temp, std::size_t temp_bytes,
                               cudaStream_t stream) const override {
    return restore_deflate_stream(id_, work, d_temp, temp_bytes, stream);
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
