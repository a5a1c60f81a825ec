// Many inputs at once. Any bytes, cut into inputs, go through FrameRestorer: it must restore what a stream
// restores, and leave the rest to a stream. The same inputs go through FrameCompressor: it must write exactly
// what a stream writes.
#include "collect_sink.hpp"
#include "fuzz.hpp"
#include "pipeline/frame_batch.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

namespace {

using Spans = std::vector<std::span<const std::byte>>;

void require_restored(const Spans& inputs, const RestoreOptions& options, const FrameBatchLimits& limits) {
  FrameRestorer restorer(options, limits);
  LargeBuffer room = restorer.make_output();
  for (std::size_t at = 0; at < inputs.size();) {
    const auto batch = restorer.restore(std::span(inputs).subspan(at), room);
    require(!batch.empty() && batch.size() <= inputs.size() - at);
    for (const FrameRestorer::Restored& one : batch) {
      const auto by_stream = restored(inputs[at++], options);
      if (one.content)
        require(by_stream &&
                std::equal(one.content->begin(), one.content->end(), by_stream->begin(), by_stream->end()));
    }
  }
}

void require_compressed(const Spans& inputs, const CompressOptions& options, const RestoreOptions& back) {
  FrameCompressor compressor(options, {.content_bytes = 1 << 20, .inputs = 100});
  LargeBuffer room = compressor.make_output();
  const auto frames = compressor.compress(inputs, room);
  require(frames.size() == inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // An empty input gets a header without a size here, like a stream of unknown length.
    testing::CollectSink by_stream;
    CompressOptions alone = options;
    if (!inputs[i].empty()) alone.content_bytes = inputs[i].size();
    MemorySource source(inputs[i]);
    compress_stream(source, by_stream, alone);
    require(
        std::equal(frames[i].begin(), frames[i].end(), by_stream.content.begin(), by_stream.content.end()));
  }
  // Then restores all of them at once.
  FrameRestorer restorer(back, {.content_bytes = 1 << 20, .inputs = 100});
  LargeBuffer contents = restorer.make_output();
  for (std::size_t at = 0; at < frames.size();) {
    for (const FrameRestorer::Restored& one : restorer.restore(std::span(frames).subspan(at), contents)) {
      require(one.content.has_value());
      require(std::equal(one.content->begin(), one.content->end(), inputs[at].begin(), inputs[at].end()));
      ++at;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Bytes dictionary = testing::wordy_bytes(1000);
  FuzzedDataProvider input(data, size);
  const unsigned choices = input.ConsumeIntegral<std::uint8_t>();
  CompressOptions options;
  options.threads = 1;
  options.level = input.ConsumeIntegralInRange(kMinLevel, kMaxLevel);
  options.backend = choices & 1 ? "reference" : "cpu";
  options.block_bytes = 64 * 1024;
  options.linked_blocks = choices & 2;
  options.block_checksums = choices & 4;
  options.content_checksum = choices & 8;
  if (choices & 16) options.dictionary = dictionary;
  RestoreOptions back;
  back.threads = 1;
  back.backend = options.backend;
  back.verify_checksums = choices & 32;
  back.dictionary = options.dictionary;

  std::vector<std::size_t> sizes;
  for (std::size_t count = input.ConsumeIntegralInRange<std::size_t>(0, 5); count > 0; --count)
    sizes.push_back(input.ConsumeIntegralInRange<std::size_t>(0, 500));
  std::vector<Bytes> pieces;
  for (const std::size_t bytes : sizes) pieces.push_back(input.ConsumeBytes<std::byte>(bytes));
  pieces.push_back(rest_of(input));
  const Spans inputs(pieces.begin(), pieces.end());

  // Little room, so that a batch needs several steps.
  require_restored(inputs, back, {.content_bytes = (choices & 64) != 0 ? 1u << 16 : 1u << 20, .inputs = 100});
  require_compressed(inputs, options, back);
  return 0;
}
