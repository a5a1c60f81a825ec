// The engine of `cpu` and of `reference`: the codecs that the formats' rows have for it, one block after the
// other on the calling thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/backend.hpp"
#include "format/formats.hpp"

namespace hemstitch {

// Whether the row of the format has such a codec, for this direction.
inline bool codec_supports(FormatTable::RowCodec row_codec, Format format, Direction direction) {
  const Codec* const codec = FormatTable::instance().codec(format, row_codec);
  return codec != nullptr && (direction == Direction::kRestore || codec->compresses());
}

class CodecEngine : public BlockEngine {
 public:
  explicit CodecEngine(FormatTable::RowCodec codec) : codec_(codec) {}

  // Several small blocks travel in one batch, so that passing it on costs little compared with its work.
  std::size_t preferred_batch_bytes() const override { return 256 << 10; }
  unsigned preferred_batches_in_flight(unsigned threads) const override { return 2 * threads + 1; }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    codec_of(parameters.format).compress(tasks, parameters);
  }
  void restore(std::span<BlockTask> tasks, Format format) override { codec_of(format).restore(tasks); }
  std::unique_ptr<StreamEncoder> make_stream_encoder(Format format, const StreamEncoding& encoding) override {
    return codec_of(format).make_stream_encoder(encoding);
  }

  StreamMemory stream_memory(Format format, const FrameHeader& header,
                             const StreamMeans& means) const override {
    return codec_of(format).stream_memory(header, means);
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, const FrameHeader& header,
                                                     std::span<const std::byte> history,
                                                     const StreamMeans& means) override {
    return codec_of(format).make_stream_decoder(header, history, means);
  }

 private:
  const Codec& codec_of(Format format) const {
    if (const Codec* const codec = FormatTable::instance().codec(format, codec_)) return *codec;
    throw Error(Status::kInvalidOption, "the backend does not know the format");
  }

  FormatTable::RowCodec codec_;
};

}  // namespace hemstitch
