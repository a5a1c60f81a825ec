// DEFLATE blocks and streams on the processor: the library of each level compresses
// (compress/deflate_compress_cpu.hpp), and our own decoder restores. The twins' decoders have no points.
#include <fmt/format.h>
#include <libdeflate.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/idle_states.hpp"
#include "format/codec.hpp"
#include "format/cut_encoder.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_compress_cpu.hpp"
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/deflate/restore/deflate_restore_reference.hpp"
#include "format/deflate/stream/deflate_decoder.hpp"
#include "format/deflate/zlib_block_coder.hpp"
#include "format/formats.hpp"
#include "format/with_history.hpp"

namespace hemstitch {
namespace {

// CompressOptions::rsyncable.
constexpr ContentCuts kDeflateCuts{.least_bytes = 16 << 10, .zero_bits = 16, .most_bytes = 256 << 10};

// Calls restore(data, history, output) for each task.
template <class Restore>
void restore_deflate_each(std::span<BlockTask> tasks, const Restore& restore) {
  for (BlockTask& task : tasks) {
    const DeflateRestored restored = restore(task.input, task.history, task.output);
    task.status = deflate_block_status(restored, task.input.size());
    task.output_bytes = restored.output_bytes;
  }
}

class DeflateCodec : public Codec {
 public:
  explicit DeflateCodec(Format format) : format_(format) {}

  std::string library() const override { return fmt::format("libdeflate {}", LIBDEFLATE_VERSION_STRING); }

  // Blocks that do not shrink are stored, so every block fits into its room.
  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const override {
    const auto compressor = compressors_.borrow();
    for (BlockTask& task : tasks) {
      task.output_bytes =
          compressor->compress(task.input, task.history, parameters.level,
                               deflate_end_of_blocks(format_) == DeflateEnd::kFinal, task.output);
      task.status = Status::kOk;
    }
  }

  void restore(std::span<BlockTask> tasks) const override {
    const auto decoder = std::make_unique<DeflateDecoder>(std::span<const std::byte>());
    restore_deflate_each(
        tasks, [&](std::span<const std::byte> data, std::span<const std::byte> history,
                   std::span<std::byte> output) { return decoder->restore_whole(data, history, output); });
  }

  std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamEncoding& encoding) const override {
    if (!encoding.rsyncable) return nullptr;
    return std::make_unique<CutEncoder>(*this, EncodeParameters{.format = format_, .level = encoding.level},
                                        kDeflateCuts, deflate_data_room, encoding.threads);
  }

  std::unique_ptr<BlockCoder> make_block_coder() const override {
    return format_ == Format::kZlib ? make_zlib_block_coder() : nullptr;
  }
  StreamMemory stream_memory(const FrameHeader&, const StreamMeans& means) const override {
    return deflate_stream_memory(means);
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameHeader&, std::span<const std::byte> history,
                                                     const StreamMeans& means) const override {
    return make_deflate_decoder(history, format_ == Format::kGzip, means);
  }

 private:
  Format format_;
  mutable IdleStates<DeflateCompressorCpu> compressors_;
};

class DeflateReferenceCodec : public Codec {
 public:
  explicit DeflateReferenceCodec(Format format) : format_(format) {}

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const override {
    const DeflateLevel level = deflate_level(parameters.level);
    compress_with_history(tasks, [&](const FinderInput& input, std::span<std::byte> output) {
      return compress_deflate_block_reference(input, level, deflate_end_of_blocks(format_), output);
    });
  }

  void restore(std::span<BlockTask> tasks) const override {
    restore_deflate_each(tasks, deflate_restore_reference);
  }

  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameHeader&, std::span<const std::byte> history,
                                                     const StreamMeans& means) const override {
    if (means.points) return nullptr;
    return std::make_unique<DeflateReferenceDecoder>(history);
  }

 private:
  Format format_;
};

}  // namespace

std::vector<FormatRow> make_deflate_formats() {
  std::vector<FormatRow> rows;
  for (auto& format : make_deflate_frame_formats()) {
    const Format id = format->id();
    rows.push_back({.format = std::move(format),
                    .processor = std::make_unique<DeflateCodec>(id),
                    .reference = std::make_unique<DeflateReferenceCodec>(id)});
  }
  return rows;
}

}  // namespace hemstitch
