#include "format/zstd/stream/zstd_decoder.hpp"

#include "format/zstd/stream/zstd_parallel_decoder.hpp"

namespace hemstitch {
namespace {

ZstdParallelLimits limits_of(const FrameHeader& header, const StreamMeans& means) {
  return zstd_parallel_limits(means, header.history_bytes, header.content_bytes);
}

// Whether the last block ends in these bytes, which begin with a block.
bool has_last_block(std::span<const std::byte> blocks) {
  while (blocks.size() >= kZstdBlockHeaderBytes) {
    const ZstdBlockHeader header = read_zstd_block_header(blocks.data());
    const std::size_t bytes = kZstdBlockHeaderBytes + header.data_bytes();
    if (blocks.size() < bytes) return false;
    if (header.last) return true;
    blocks = blocks.subspan(bytes);
  }
  return false;
}

// A frame whose header does not say how small it is: there may be many of them, and our decoder takes longer to begin. So one
// that comes whole in the first piece is restored by libzstd.
class ZstdDecoderBySize : public StreamDecoder {
 public:
  ZstdDecoderBySize(ZstdDecoderStates& states, const FrameHeader& header,
                    std::span<const std::byte> dictionary, const ZstdParallelLimits& limits)
      : states_(states),
        header_(header),
        dictionary_(dictionary),
        before_(read_zstd_dictionary(dictionary)),
        limits_(limits) {}

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override {
    if (!decoder_) choose(input);
    return decoder_->restore(input, output);
  }
  std::uint64_t ahead_bytes() const override { return decoder_ ? decoder_->ahead_bytes() : 0; }
  void lend_content() override { lends_ = true; }

 private:
  void choose(std::span<const std::byte> input) {
    if (has_last_block(input))
      decoder_ = std::make_unique<ZstdCpuDecoder>(states_, header_, dictionary_);
    else
      decoder_ = std::make_unique<ZstdParallelDecoder>(header_.history_bytes, limits_, before_);
    if (lends_) decoder_->lend_content();
  }

  ZstdDecoderStates& states_;
  FrameHeader header_;
  std::span<const std::byte> dictionary_;
  ZstdDictionary before_;
  ZstdParallelLimits limits_;
  bool lends_ = false;
  std::unique_ptr<StreamDecoder> decoder_;
};

}  // namespace

StreamMemory zstd_stream_memory(const FrameHeader& header, const StreamMeans& means) {
  const ZstdParallelLimits limits = limits_of(header, means);
  return {.host_bytes =
              limits.threads > 1 ? limits.memory_bytes(header.history_bytes, means.dictionary_bytes) : 0};
}

std::unique_ptr<StreamDecoder> make_zstd_decoder(ZstdDecoderStates& states, const FrameHeader& header,
                                                 std::span<const std::byte> dictionary,
                                                 const StreamMeans& means) {
  const ZstdParallelLimits limits = limits_of(header, means);
  if (limits.threads == 1) return std::make_unique<ZstdCpuDecoder>(states, header, dictionary);
  return std::make_unique<ZstdDecoderBySize>(states, header, dictionary, limits);
}

}  // namespace hemstitch
