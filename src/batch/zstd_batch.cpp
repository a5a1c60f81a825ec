// Zstandard in the batch interface: checks arguments; zstd_batch_device.hpp does the rest.
#include <limits>

#include "batch/zstd_batch_device.hpp"
#include "batch/zstd_chunk.hpp"
#include "core/messages.hpp"
#include "core/status.hpp"
#include "format/formats.hpp"
#include "match/common/parameter_check.hpp"

namespace hemstitch {
namespace {

class ZstdBatch : public BatchFormat {
 public:
  Format id() const override { return Format::kZstd; }

  std::size_t compress_bound(std::size_t block_bytes) const override {
    return block_bytes <= kZstdMostChunkBytes ? zstd_chunk_bound(block_bytes)
                                              : std::numeric_limits<std::size_t>::max();
  }
  std::size_t compress_temp_bytes(const hemstitch_blocks& blocks, int level) const override {
    return zstd_compress_temp_bytes(blocks, checked_chunks(blocks, level));
  }
  void compress_async(const hemstitch_blocks& blocks, int level, const BatchOutputs& outputs, BatchTemp temp,
                      hemstitch_stream stream) const override {
    zstd_compress_async(blocks, checked_chunks(blocks, level), outputs, temp, stream);
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

  bool restores_long_streams() const override { return true; }

 private:
  static ZstdChunks checked_chunks(const hemstitch_blocks& blocks, int level) {
    check_parameter("batch", "max_block_bytes", blocks.max_block_bytes, 0, kZstdMostChunkBytes);
    check_parameter("batch", "max_history_bytes", blocks.max_history_bytes, 0, 0);
    const LevelRange levels = FormatTable::instance().of(Format::kZstd).levels();
    if (level < levels.least || level > levels.most)
      throw Error(Status::kInvalidOption, out_of_range("batch: level", level, levels.least, levels.most));
    return {.level = zstd_level(level)};
  }
};

}  // namespace

std::vector<std::unique_ptr<BatchFormat>> make_zstd_batch_formats() {
  std::vector<std::unique_ptr<BatchFormat>> formats;
  formats.push_back(std::make_unique<ZstdBatch>());
  return formats;
}

}  // namespace hemstitch
