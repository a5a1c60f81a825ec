// Many files at once on the device: the twins' frames in one call, and their contents back.
#include "pipeline/frame_batch.hpp"

#include <random>

#include "collect_sink.hpp"
#include "cuda_test.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;

class FrameBatchDeviceTest : public EngineTest {};

std::vector<Bytes> files_of_all_sizes() {
  std::mt19937 random(1);
  std::vector<Bytes> files;
  for (const std::size_t bytes :
       {0u, 1u, 5u, 12u, 13u, 4095u, 4096u, 65535u, 65536u, 65537u, 262'144u, 262'145u, 1'000'000u}) {
    files.push_back(testing::wordy_bytes(bytes, static_cast<std::uint32_t>(bytes)));
    files.push_back(testing::random_bytes(bytes, static_cast<std::uint32_t>(bytes)));
    files.emplace_back(bytes, std::byte{7});
  }
  for (std::uint32_t i = 0; i < 700; ++i) files.push_back(testing::wordy_bytes(random() % 22'000, i));
  return files;
}

std::vector<Bytes> copies(const std::vector<std::span<const std::byte>>& spans) {
  std::vector<Bytes> copied;
  for (const auto& span : spans) copied.emplace_back(span.begin(), span.end());
  return copied;
}

// Compresses a file with a stream of the twins.
Bytes frame_alone(const Bytes& file, CompressOptions options) {
  testing::CollectSink sink;
  options.backend = "reference";
  if (!file.empty()) options.content_bytes = file.size();
  MemorySource source(file);
  compress_stream(source, sink, options);
  return sink.content;
}

TEST_F(FrameBatchDeviceTest, GivesTheTwinsFramesAndTheirContents) {
  const std::vector<Bytes> files = files_of_all_sizes();
  const std::vector<std::span<const std::byte>> inputs(files.begin(), files.end());
  const Bytes dictionary = testing::wordy_bytes(30'000, 99);
  struct Way {
    int level;
    std::size_t block_bytes;
    bool linked;
    bool with_dictionary;
  };
  for (const Way& way : {Way{1, 256 * 1024, false, false}, Way{1, 64 * 1024, true, false},
                         Way{3, 64 * 1024, false, false}, Way{1, 256 * 1024, false, true}}) {
    CompressOptions options;
    options.level = way.level;
    options.block_bytes = way.block_bytes;
    options.linked_blocks = way.linked;
    if (way.with_dictionary) options.dictionary = dictionary;
    options.backend = "cuda";
    FrameCompressor compressor(options, {.content_bytes = std::size_t{32} << 20, .inputs = 4096});
    std::vector<Bytes> frames;
    LargeBuffer output = compressor.make_output();
    for (std::size_t at = 0; at < inputs.size();) {
      std::size_t end = at;
      for (std::uint64_t cost = 0; end < inputs.size(); ++end)
        if ((cost += compressor.input_cost(inputs[end].size())) > compressor.input_bytes()) break;
      ASSERT_GT(end, at);
      for (Bytes& frame : copies(compressor.compress(std::span(inputs).subspan(at, end - at), output)))
        frames.push_back(std::move(frame));
      at = end;
    }
    StreamReport report;
    compressor.report(report);
    EXPECT_EQ(report.fallback_blocks, 0u) << report.fallback_reason;
    ASSERT_EQ(frames.size(), files.size());
    for (std::size_t i = 0; i < files.size(); ++i)
      ASSERT_TRUE(frames[i] == frame_alone(files[i], options)) << "level " << way.level << ", file " << i;

    RestoreOptions back;
    back.backend = "cuda";
    back.dictionary = options.dictionary;
    FrameRestorer restorer(back);
    LargeBuffer room = restorer.make_output();
    const std::vector<std::span<const std::byte>> spans(frames.begin(), frames.end());
    for (std::size_t at = 0; at < spans.size();)
      for (const auto& restored : restorer.restore(std::span(spans).subspan(at), room)) {
        // Stored blocks do not depend on others, for example a last byte that is apart.
        if (way.linked && files[at].size() > way.block_bytes + 1 && frames[at].size() < files[at].size()) {
          EXPECT_FALSE(restored.content);
        } else {
          ASSERT_TRUE(restored.content) << "file " << at;
          ASSERT_TRUE(std::equal(files[at].begin(), files[at].end(), restored.content->begin(),
                                 restored.content->end()))
              << "file " << at;
        }
        ++at;
      }
  }
}

// Damage in one file must not affect others.
TEST_F(FrameBatchDeviceTest, LeavesDamagedFilesOut) {
  std::vector<Bytes> frames;
  std::vector<Bytes> files;
  for (std::uint32_t i = 0; i < 300; ++i) {
    files.push_back(testing::wordy_bytes(5000 + i, i));
    CompressOptions options;
    options.block_checksums = false;
    options.content_checksum = true;
    frames.push_back(compress(files.back(), options));
  }
  std::mt19937 random(5);
  for (std::size_t i = 0; i < frames.size(); i += 3)
    frames[i][20 + random() % (frames[i].size() - 20)] ^= std::byte{0x10};
  RestoreOptions back;
  back.backend = "cuda";
  FrameRestorer restorer(back);
  LargeBuffer room = restorer.make_output();
  const std::vector<std::span<const std::byte>> spans(frames.begin(), frames.end());
  const auto restored = restorer.restore(spans, room);
  ASSERT_EQ(restored.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    ASSERT_EQ(restored[i].content.has_value(), i % 3 != 0) << "file " << i;
    if (i % 3 == 0) continue;
    EXPECT_TRUE(std::equal(files[i].begin(), files[i].end(), restored[i].content->begin(),
                           restored[i].content->end()));
  }
}

}  // namespace
}  // namespace hemstitch
