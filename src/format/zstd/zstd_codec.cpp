// Zstandard on the processor: libzstd compresses, and restores with one thread; several threads restore a frame by our own
// decoder. Of the twins, the encoder defines our own bytes, and the restorer what is valid.
#include <fmt/format.h>
#include <zstd.h>

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "core/advice.hpp"
#include "core/idle_states.hpp"
#include "core/options.hpp"
#include "format/codec.hpp"
#include "format/cut_encoder.hpp"
#include "format/formats.hpp"
#include "format/with_history.hpp"
#include "format/zstd/compress/zstd_compress_cpu.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/compress/zstd_stream_encoder.hpp"
#include "format/zstd/restore/zstd_bits.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"
#include "format/zstd/stream/zstd_decoder.hpp"
#include "format/zstd/zstd_block_coder.hpp"
#include "format/zstd/zstd_format.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

// CompressOptions::rsyncable. Parts are shorter than the frame's window, which is at least 1 MB.
constexpr ContentCuts kZstdCuts{.least_bytes = 256 << 10, .zero_bits = 19, .most_bytes = 1 << 20};

void require_window(const FrameHeader& header, const StreamMeans& means) {
  const std::uint64_t bytes = header.history_bytes;
  if (bytes > kZstdMostWindowBytes)
    throw Error(Status::kUnsupportedFeature,
                fmt::format("the frame's window has {} bytes; at most {} are supported", bytes,
                            kZstdMostWindowBytes));
  const std::uint64_t most = means.window_bytes != 0 ? means.window_bytes : kUsualWindowBytes;
  if (bytes > most)
    throw Error(Status::kMemoryLimit,
                fmt::format("the frame's window has {} bytes; {} bytes may be used for it; {}", bytes, most,
                            fmt::format(fmt::runtime(current_advice.large_window), std::bit_width(bytes - 1),
                                        bytes)));
}

// Calls make(), which may find that the dictionary is damaged.
template <class Make>
auto with_dictionary(const Make& make) {
  try {
    return make();
  } catch (const ZstdDamage& damage) {
    throw Error(Status::kInvalidOption, fmt::format("dictionary: {}", damage.rule));
  }
}

ZstdDictionary read_dictionary(std::span<const std::byte> dictionary) {
  return with_dictionary([&] { return read_zstd_dictionary(dictionary); });
}

class ZstdCodec : public Codec {
 public:
  std::string library() const override { return fmt::format("libzstd {}", ZSTD_versionString()); }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const override {
    const auto compressor = compressors_.borrow();
    for (BlockTask& task : tasks) {
      task.output_bytes =
          compressor->compress(task, parameters.level, parameters.window_log, parameters.within_frame);
      task.status = Status::kOk;
    }
  }
  void restore(std::span<BlockTask> tasks) const override {
    for (BlockTask& task : tasks) restore_zstd_part(decoders_, task);
  }
  std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamEncoding& encoding) const override {
    if (!encoding.rsyncable) return std::make_unique<ZstdStreamEncoder>(encoding);
    return std::make_unique<CutEncoder>(
        *this, EncodeParameters{.format = Format::kZstd, .level = encoding.level, .within_frame = true},
        kZstdCuts, [](std::size_t content_bytes) { return zstd_data_room(content_bytes); }, encoding.threads);
  }
  std::unique_ptr<BlockCoder> make_block_coder() const override { return make_zstd_block_coder(); }
  StreamMemory stream_memory(const FrameHeader& header, const StreamMeans& means) const override {
    return zstd_stream_memory(header, means);
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameHeader& header,
                                                     std::span<const std::byte> dictionary,
                                                     const StreamMeans& means) const override {
    if (means.points) return nullptr;
    require_window(header, means);
    try {
      return with_dictionary([&] { return make_zstd_decoder(decoders_, header, dictionary, means); });
    } catch (const Error&) {
      read_dictionary(dictionary);  // libzstd does not say that one is damaged
      throw;
    }
  }

 private:
  mutable IdleStates<ZstdCompressorCpu> compressors_;
  mutable ZstdDecoderStates decoders_;
};

class ZstdReferenceCodec : public Codec {
 public:
  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const override {
    if (parameters.window_log != 0)
      throw Error(Status::kInvalidOption, "window_log: only the backend 'cpu' searches for long matches");
    const ZstdLevel level = zstd_level(parameters.level);
    for (BlockTask& task : tasks) {
      // A dictionary is what precedes the first block.
      if (!task.dictionary.empty()) task.history = read_dictionary(task.dictionary).content;
      compress_with_history({&task, 1}, [&](const FinderInput& input, std::span<std::byte> output) {
        return compress_zstd_part_reference(input, level, output);
      });
    }
  }
  void restore(std::span<BlockTask> tasks) const override {
    for (BlockTask& task : tasks) restore_part(task);
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameHeader& header,
                                                     std::span<const std::byte> dictionary,
                                                     const StreamMeans& means) const override {
    if (means.points) return nullptr;
    require_window(header, means);
    return std::make_unique<ZstdReferenceDecoder>(header.history_bytes, read_dictionary(dictionary));
  }

 private:
  static void restore_part(BlockTask& part) {
    ZstdDictionary before = read_dictionary(part.dictionary);
    if (!part.history.empty()) {
      before.content = part.history;
      before.repeats = ZstdRepeats::unknown();  // they are those of the blocks before
    }
    ZstdReferenceDecoder decoder(part.history.size() + part.output.size(), before);
    const StreamStep step = decoder.restore(part.input, part.output);
    part.output_bytes = step.output_bytes;
    part.status = step.ended && step.input_bytes == part.input.size() ? Status::kOk : Status::kCorruptBlock;
  }
};

}  // namespace

std::vector<FormatRow> make_zstd_formats() {
  std::vector<FormatRow> rows;
  rows.push_back({.format = make_zstd_format(),
                  .processor = std::make_unique<ZstdCodec>(),
                  .reference = std::make_unique<ZstdReferenceCodec>()});
  return rows;
}

}  // namespace hemstitch
