// Zstandard on CUDA devices. They write parts of frames; they restore chunks for batch.h and frames whose places are known
// (restore/zstd_restore_cuda.hpp), and long frames piece by piece.
#include <algorithm>
#include <string>

#include "core/device_failures.hpp"
#include "format/formats.hpp"
#include "format/formats_cuda.hpp"
#include "format/zstd/compress/zstd_compress_cuda.hpp"
#include "format/zstd/frame/zstd_checksum_cuda.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "format/zstd/stream/zstd_device_decoder.hpp"
#include "format/zstd/stream/zstd_piece_device_cuda.hpp"
#include "format/zstd/stream/zstd_stream_in_memory_cuda.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {
namespace {

class ZstdDeviceFormat : public DeviceFormatOfParts {
 public:
  Format id() const override { return Format::kZstd; }

  // No match reaches farther back than kFarWindowBytes.
  std::span<const std::byte> dictionary_history(std::span<const std::byte> dictionary) const override {
    const std::span<const std::byte> content = read_zstd_dictionary(dictionary).content;
    return content.last(std::min<std::size_t>(content.size(), kFarWindowBytes));
  }
  std::size_t compress_span_scratch_bytes(const DeviceBlocks& blocks, int level, std::size_t) const override {
    return compress_zstd_span_cuda_scratch_bytes(blocks, zstd_level(level));
  }
  void compress_span(const DeviceBlocks& blocks, int level, std::size_t, const DeviceSpan& span,
                     void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) const override {
    compress_zstd_span_cuda(blocks, zstd_level(level), span, d_scratch, scratch_bytes, stream);
  }

  // Blocks are what stands between a frame's header and its checksum, where its place is known (frame/zstd_reader.hpp).
  bool restores() const override { return true; }
  std::size_t restore_scratch_bytes(const DeviceRestore& batch) const override {
    return restore_zstd_cuda_scratch_bytes(batch);
  }
  void restore(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
               cudaStream_t stream) const override {
    restore_zstd_cuda(batch, d_scratch, scratch_bytes, stream, ZstdChunkForm::kBlocks);
  }

  void checksums(const std::byte* const* d_spans, const std::size_t* d_sizes, std::uint64_t count,
                 std::uint32_t* d_checksums, cudaStream_t stream) const override {
    checksum_zstd_cuda(d_spans, d_sizes, count, d_checksums, stream);
  }

  bool restores_stream(std::span<const std::byte> head) const override { return is_long_zstd_stream(head); }
  std::size_t stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t output_bytes) const override {
    return zstd_stream_temp_bytes(stream_bytes, output_bytes);
  }
  StreamOutcome restore_stream(const StreamInMemory& work, void* d_temp, std::size_t temp_bytes,
                               cudaStream_t stream) const override {
    return restore_zstd_stream(work, d_temp, temp_bytes, stream);
  }

  StreamMemory stream_memory(const FrameHeader& header, const StreamMeans& means,
                             std::uint64_t limit_bytes) const override {
    const std::uint64_t window_bytes = header.history_bytes;
    const auto limits = limits_for(header, means, limit_bytes);
    if (!limits) return processor().stream_memory(header, means);
    return {limits->memory_bytes(window_bytes), cuda_zstd_pieces_bytes(*limits, window_bytes), limit_bytes};
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(const StreamDevice& on, const FrameHeader& header,
                                                     std::span<const std::byte> dictionary,
                                                     const StreamMeans& means) const override {
    // Refuses windows that are too large, and damaged dictionaries.
    auto by_processor = processor().make_stream_decoder(header, dictionary, means);
    const auto limits = limits_for(header, means, on.limit_bytes);
    if (!limits || !dictionary.empty()) return by_processor;
    const auto make = [on, header, means](ZstdDeviceLimits& made) { return pieces(on, header, means, made); };
    return std::make_unique<ZstdDeviceDecoder>(header.history_bytes, std::move(by_processor), make, means,
                                               *limits);
  }

 private:
  static const Codec& processor() {
    return *FormatTable::instance().codec(Format::kZstd, &FormatRow::processor);
  }
  static std::optional<ZstdDeviceLimits> limits_for(const FrameHeader& header, const StreamMeans& means,
                                                    std::uint64_t limit_bytes) {
    return zstd_device_limits(header, means, limit_bytes, [&](const ZstdDeviceLimits& limits) {
      return cuda_zstd_pieces_bytes(limits, header.history_bytes);
    });
  }

  static std::unique_ptr<ZstdPieceDevice> pieces(const StreamDevice& on, const FrameHeader& header,
                                                 const StreamMeans& means, ZstdDeviceLimits& made) {
    std::string failure;
    for (std::optional<ZstdDeviceLimits> limits = made; limits;) {
      try {
        made = *limits;
        return std::make_unique<CudaZstdPieces>(on.device, made, header.history_bytes, on.clock);
      } catch (const Error& error) {
        if (!is_device_failure(error)) throw;
        failure = error.what();
        if (error.status() != Status::kDeviceOutOfMemory) break;
      }
      // Perhaps free slots keep the memory that is missing, or others have taken it meanwhile: release it, and
      // try smaller pieces.
      on.release_memory();
      limits = limits_for(header, means, cuda_zstd_pieces_bytes(made, header.history_bytes) / 2);
    }
    if (means.on_failure) means.on_failure(failure);
    return nullptr;
  }
};

}  // namespace

std::vector<std::unique_ptr<DeviceFormat>> make_zstd_device_formats() {
  std::vector<std::unique_ptr<DeviceFormat>> formats;
  formats.push_back(std::make_unique<ZstdDeviceFormat>());
  return formats;
}

}  // namespace hemstitch::cuda
