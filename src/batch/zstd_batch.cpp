// Zstandard in the batch interface: checks arguments; zstd_batch_device.hpp does the rest. It restores, and does not compress
// to it.
#include <limits>

#include "batch/zstd_batch_device.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

[[noreturn]] void refuse_to_compress() {
  throw Error(Status::kInternal, "batch: batches are not compressed to Zstandard");
}

class ZstdBatch : public BatchFormat {
 public:
  Format id() const override { return Format::kZstd; }

  bool compresses() const override { return false; }
  std::size_t compress_bound(std::size_t) const override { return std::numeric_limits<std::size_t>::max(); }
  std::size_t compress_temp_bytes(const hemstitch_blocks&, int) const override { refuse_to_compress(); }
  void compress_async(const hemstitch_blocks&, int, const BatchOutputs&, BatchTemp,
                      hemstitch_stream) const override {
    refuse_to_compress();
  }

  std::size_t restore_temp_bytes(const hemstitch_compressed_blocks& compressed,
                                 std::size_t max_output_bytes) const override {
    return zstd_restore_temp_bytes(compressed, max_output_bytes);
  }
  void restore_async(const hemstitch_compressed_blocks& compressed, const BatchOutputs& outputs,
                     std::size_t max_output_bytes, const std::uint32_t* d_history_bytes, BatchTemp temp,
                     hemstitch_stream stream) const override {
    if (d_history_bytes != nullptr)
      throw Error(Status::kInvalidOption,
                  "batch: history_bytes must be NULL: frames of Zstandard have no histories");
    zstd_restore_async(compressed, outputs, max_output_bytes, temp, stream);
  }

  void checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                       std::uint32_t* d_checksums, hemstitch_stream stream) const override {
    zstd_checksums_async(d_spans, d_span_bytes, count, d_checksums, stream);
  }
};

}  // namespace

std::vector<std::unique_ptr<BatchFormat>> make_zstd_batch_formats() {
  std::vector<std::unique_ptr<BatchFormat>> formats;
  formats.push_back(std::make_unique<ZstdBatch>());
  return formats;
}

}  // namespace hemstitch
