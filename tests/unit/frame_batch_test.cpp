// Many inputs at once: batches must give the same as a stream for each input, with one call of the engine for
// each batch, and nothing for inputs that need a stream.
#include "pipeline/frame_batch.hpp"

#include <gtest/gtest.h>
#include <lz4frame.h>

#include <atomic>
#include <random>

#include "collect_sink.hpp"
#include "core/bytes.hpp"
#include "core/status.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_layout.hpp"
#include "shapes.hpp"
#include "threads.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

// The `cpu` backend, with a count of its calls, and batches of limited size, like a device's.
class CountedEngine : public BlockEngine {
 public:
  static inline std::atomic<int> calls = 0;

  explicit CountedEngine(std::unique_ptr<BlockEngine> inner) : inner_(std::move(inner)) {}
  std::size_t preferred_batch_bytes() const override { return std::size_t{4} << 20; }
  unsigned preferred_batches_in_flight(unsigned) const override { return 2; }
  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    ++calls;
    inner_->compress(tasks, parameters);
  }
  void restore(std::span<BlockTask> tasks, Format format) override {
    ++calls;
    inner_->restore(tasks, format);
  }

 private:
  std::unique_ptr<BlockEngine> inner_;
};

class CountedBackend : public Backend {
 public:
  std::string_view name() const override { return "counted"; }
  std::string description(std::string_view) const override { return "tests only"; }
  std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
  bool chosen_by_auto() const override { return false; }
  std::string_view fallback_name() const override { return "counted"; }
  bool supports(Format format, Direction) const override {
    return format == Format::kLz4 || format == Format::kZstd;
  }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
    return std::make_unique<CountedEngine>(BackendRegistry::instance().find_usable("cpu").make_engine({}));
  }
};

class FrameBatch : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool registered = [] {
      BackendRegistry::instance().add(std::make_unique<CountedBackend>());
      return true;
    }();
    (void)registered;
  }
  void SetUp() override { CountedEngine::calls = 0; }
};

std::vector<Bytes> many_inputs() {
  std::mt19937 random(1);
  std::vector<Bytes> inputs;
  for (const std::size_t bytes : {0u, 1u, 12u, 13u, 65535u, 65536u, 65537u, 200'000u, 262'144u, 300'000u}) {
    inputs.push_back(wordy_bytes(bytes, static_cast<std::uint32_t>(bytes)));
    inputs.push_back(random_bytes(bytes, static_cast<std::uint32_t>(bytes)));
  }
  for (int i = 0; i < 200; ++i) inputs.push_back(wordy_bytes(random() % 3000, static_cast<std::uint32_t>(i)));
  return inputs;
}

std::vector<std::span<const std::byte>> spans_of(const std::vector<Bytes>& inputs) {
  return {inputs.begin(), inputs.end()};
}

std::vector<CompressOptions> all_ways(const Bytes& dictionary) {
  std::vector<CompressOptions> ways(5);
  ways[1].level = 4;
  ways[1].block_bytes = 64 * 1024;
  ways[1].linked_blocks = true;
  ways[2].content_checksum = true;
  ways[2].block_checksums = false;
  ways[2].block_bytes = 64 * 1024;
  ways[3].dictionary = dictionary;
  ways[4].dictionary = dictionary;
  ways[4].block_bytes = 64 * 1024;
  ways[4].linked_blocks = true;
  for (CompressOptions& way : ways) {
    way = with_defaults(way);
    way.backend = "counted";
  }
  return ways;
}

TEST_F_WITH_THREADS(FrameBatch, MakesWhatStreamsMakeInOneCall) {
  const std::vector<Bytes> inputs = many_inputs();
  const Bytes dictionary = wordy_bytes(100'000, 9);
  for (const CompressOptions& way : all_ways(dictionary)) {
    FrameCompressor compressor(way, {.content_bytes = std::size_t{8} << 20, .inputs = 1000});
    LargeBuffer output = compressor.make_output();
    CountedEngine::calls = 0;
    const auto frames = compressor.compress(spans_of(inputs), output);
    EXPECT_EQ(CountedEngine::calls, 1);
    ASSERT_EQ(frames.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      MemorySource source(inputs[i]);
      // A stream of the tool knows the size of its file, unless that is 0.
      CompressOptions alone = way;
      if (!inputs[i].empty()) alone.content_bytes = inputs[i].size();
      CollectSink expected;
      compress_stream(source, expected, alone);
      ASSERT_TRUE(
          std::equal(frames[i].begin(), frames[i].end(), expected.content.begin(), expected.content.end()))
          << "input " << i;
    }

    RestoreOptions back;
    back.backend = "counted";
    back.dictionary = way.dictionary;
    FrameRestorer restorer(back);
    LargeBuffer room = restorer.make_output();
    CountedEngine::calls = 0;
    std::vector<FrameRestorer::Restored> restored;
    std::vector<Bytes> contents;  // the room is used again
    while (restored.size() < frames.size())
      for (const auto& one : restorer.restore(std::span(frames).subspan(restored.size()), room)) {
        restored.push_back(one);
        contents.emplace_back();
        if (one.content) contents.back().assign(one.content->begin(), one.content->end());
      }
    // A dictionary takes room before each block.
    if (way.dictionary.empty()) {
      EXPECT_EQ(CountedEngine::calls, 1);
    }
    ASSERT_EQ(restored.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const FrameLayout layout =
          lz4_frame_layout(inputs[i].size(), way.block_bytes, way.block_checksums, way.content_checksum);
      // Stored blocks do not depend on others, for example a last byte that is apart.
      if (way.linked_blocks && inputs[i].size() > way.block_bytes + 1 &&
          frames[i].size() < inputs[i].size()) {
        EXPECT_FALSE(restored[i].content) << "linked blocks need each other";
        continue;
      }
      ASSERT_TRUE(restored[i].content) << "input " << i;
      EXPECT_TRUE(contents[i] == inputs[i]);
      EXPECT_EQ(restored[i].block_count, layout.block_count());
    }
  }
}

// Short frames of Zstandard that state their size.
TEST_F_WITH_THREADS(FrameBatch, ShortFramesOfZstandard) {
  constexpr std::size_t kMostBytes = 1 << 20;
  const Bytes text = wordy_bytes(3000), dictionary = trained_dictionary();
  const Bytes frame = written_by_libzstd(text);
  std::vector<Bytes> contents = {
      {}, text, random_bytes(5000), runs_bytes(300'000, 3), wordy_bytes(kMostBytes)};
  std::vector<Bytes> inputs;
  for (const Bytes& content : contents) inputs.push_back(written_by_libzstd(content, {.level = 3}));
  contents.push_back(text);
  inputs.push_back(written_by_libzstd(text, {.checksum = false}));
  const std::size_t taken = inputs.size();
  const auto bytes = [](std::initializer_list<unsigned> values) { return numbers(values); };
  for (const Bytes& other :
       {written_by_libzstd(wordy_bytes(kMostBytes + 1)), written_by_libzstd(text, {.content_size = false}),
        written_by_libzstd(text, {.dictionary = dictionary}),
        // The window is smaller than the content; it has 192 MB.
        written_by_libzstd(text, {.window_log = 10}),
        bytes({0x28, 0xB5, 0x2F, 0xFD, 0x40, 0x8C, 0, 0, 3, 8, 0, 'a'}), joined({frame, frame}),
        joined({bytes({0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 7}), frame}), joined({frame, bytes({0})}),
        bytes({0x28, 0xB5, 0x2F, 0xFD}), Bytes(frame.begin(), frame.end() - 1)})
    inputs.push_back(other);
  const std::size_t sound = inputs.size();
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    inputs.push_back(frame);
    inputs.back()[random() % frame.size()] ^= std::byte{1} << random() % 8;
  }
  for (const Bytes& given : {Bytes(), dictionary}) {
    RestoreOptions options;
    options.backend = "counted";
    options.dictionary = given;
    FrameRestorer restorer(options);
    LargeBuffer room = restorer.make_output();
    const std::vector<std::span<const std::byte>> left = spans_of(inputs);
    for (std::size_t at = 0; at < inputs.size();) {
      const auto restored = restorer.restore(std::span(left).subspan(at), room);
      ASSERT_GT(restored.size(), 0u);
      for (std::size_t i = 0; i < restored.size(); ++i) {
        const bool is_taken = at + i < taken && given.empty();  // a frame need not name its dictionary
        // Of the bits of a header, one is not used.
        if (at + i < sound || !given.empty()) {
          ASSERT_EQ(restored[i].content.has_value(), is_taken) << "input " << at + i;
        }
        if (!restored[i].content) continue;
        const std::span<const std::byte> found = *restored[i].content;
        EXPECT_TRUE(std::ranges::equal(found, at + i < taken ? contents[at + i] : text))
            << "input " << at + i;
      }
      at += restored.size();
    }
  }
}

TEST_F_WITH_THREADS(FrameBatch, LeavesToStreamsWhatIsNotPlain) {
  const Bytes content = wordy_bytes(150'000, 3);
  CompressOptions options;
  options.block_bytes = 64 * 1024;
  options.content_checksum = true;
  const Bytes good = compress(content, options);
  std::vector<Bytes> inputs = {good};
  for (std::size_t cut = 0; cut < 40; ++cut)
    inputs.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut));
  inputs.emplace_back(good.begin(), good.end() - 1);
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    inputs.push_back(good);
    inputs.back()[random() % good.size()] ^= std::byte{1} << (random() % 8);
  }
  inputs.push_back(good);
  inputs.back().push_back(std::byte{'x'});  // trailing garbage
  inputs.push_back(content);
  Bytes legacy(4);
  store_le32(legacy.data(), kLz4LegacyMagic);
  inputs.push_back(legacy);
  inputs.push_back(good);

  FrameRestorer restorer({});
  LargeBuffer room = restorer.make_output();
  std::vector<std::span<const std::byte>> left = spans_of(inputs);
  std::size_t at = 0;
  while (at < inputs.size()) {
    const auto restored = restorer.restore(std::span(left).subspan(at), room);
    ASSERT_GT(restored.size(), 0u);
    for (std::size_t i = 0; i < restored.size(); ++i) {
      const bool is_good = at + i == 0 || at + i + 1 == inputs.size();
      ASSERT_EQ(restored[i].content.has_value(), is_good) << "input " << at + i;
      if (!is_good) continue;
      const std::span<const std::byte> found = *restored[i].content;
      EXPECT_TRUE(std::equal(content.begin(), content.end(), found.begin(), found.end()));
    }
    at += restored.size();
  }
}

// Contents are far longer than their inputs: a batch takes several steps, and leaves what is too long for
// one.
TEST_F_WITH_THREADS(FrameBatch, RestoresInStepsWhatDoesNotFitAtOnce) {
  std::vector<Bytes> inputs;
  for (int i = 0; i < 20; ++i) inputs.push_back(compress(Bytes(300'000, std::byte{0})));
  inputs.push_back(compress(Bytes(2'000'000, std::byte{0})));
  inputs.push_back(compress(wordy_bytes(1000, 1)));
  // No size in the header.
  const Bytes plain = wordy_bytes(60'000, 2);
  Bytes from_lz4(LZ4F_compressFrameBound(plain.size(), nullptr));
  from_lz4.resize(LZ4F_compressFrame(from_lz4.data(), from_lz4.size(), plain.data(), plain.size(), nullptr));
  inputs.push_back(from_lz4);

  RestoreOptions options;
  options.backend = "counted";
  FrameRestorer restorer(options, {.content_bytes = 1 << 20, .inputs = 100});
  LargeBuffer room = restorer.make_output();
  std::vector<std::size_t> sizes;
  const auto spans = spans_of(inputs);
  while (sizes.size() < inputs.size())
    for (const auto& restored : restorer.restore(std::span(spans).subspan(sizes.size()), room))
      sizes.push_back(restored.content ? restored.content->size() : 0);
  std::vector<std::size_t> expected(20, 300'000);
  expected.insert(expected.end(), {0, 1000, 60'000});
  EXPECT_EQ(sizes, expected);
  EXPECT_EQ(CountedEngine::calls, 7);  // three at a time
}

TEST_F_WITH_THREADS(FrameBatch, KeepsToTheMemoryLimit) {
  CompressOptions options;
  options.backend = "counted";
  options.block_bytes = 64 * 1024;
  options.memory_limit_bytes = 1'000'000;
  const FrameCompressor compressor(options, {.content_bytes = std::size_t{8} << 20, .inputs = 100});
  EXPECT_LE(compressor.input_bytes() * 2 * compressor.batches_in_flight(), 1'000'000u);
  EXPECT_GE(compressor.input_bytes(), options.block_bytes);
  options.memory_limit_bytes = 1000;
  EXPECT_THROW(FrameCompressor{options}, Error);

  // Each block takes the dictionary along.
  const Bytes dictionary = wordy_bytes(70'000, 1);
  options.memory_limit_bytes = 0;
  options.dictionary = dictionary;
  EXPECT_EQ(FrameCompressor(options).input_cost(70'000), 70'000u + 2 * 65'536u);
  EXPECT_EQ(FrameCompressor(options).input_cost(0), 0u);
}

}  // namespace
}  // namespace hemstitch::testing
