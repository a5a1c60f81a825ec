// What DEFLATE's formats need of the pipeline, tested with a format that only this test knows: streams whose
// blocks have no known boundaries, blocks that end within a byte, checksums and sizes of content, backends
// chosen by format.
#include "runs_format.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "collect_sink.hpp"
#include "engine/fake/fake_backend.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "format/frame_index.hpp"
#include "pipeline/frame_batch.hpp"
#include "pipeline/stream.hpp"
#include "search/compressed_texts.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

constexpr Format kLonelyRuns = static_cast<Format>(102);
constexpr std::size_t kHeaderBytes = 8;

// Runs that shrink, with a block's worth of bytes that do not.
Bytes content_of(std::size_t count) {
  Bytes bytes = runs_bytes(count, 7);
  const Bytes noise = random_bytes(std::min<std::size_t>(count / 2, 70'000));
  std::copy(noise.begin(), noise.end(), bytes.begin() + static_cast<std::ptrdiff_t>(count / 4));
  return bytes;
}

// A source that cannot seek.
class Pipe : public Source {
 public:
  explicit Pipe(std::span<const std::byte> bytes) : memory_(bytes) {}
  std::size_t read(std::span<std::byte> into) override { return memory_.read(into); }

 private:
  MemorySource memory_;
};

// The same frames, if somebody says what they are. Only `reference` has a codec for it.
class LonelyRunsFormat : public RunsFormat {
 public:
  Format id() const override { return kLonelyRuns; }
  std::string_view name() const override { return "lonely"; }
  std::string_view title() const override { return "Lonely"; }
  std::span<const std::string_view> first_bytes() const override { return {}; }
};

// Every second block fails on it, and it knows no streams.
class FailingRunsCodec : public RunsCodec {
 public:
  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) const override {
    RunsCodec::compress(tasks, parameters);
    fail(tasks);
  }
  void restore(std::span<BlockTask> tasks) const override {
    RunsCodec::restore(tasks);
    fail(tasks);
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameHeader&, std::span<const std::byte>,
                                                     const StreamMeans&) const override {
    return nullptr;
  }

 private:
  static void fail(std::span<BlockTask> tasks) {
    for (std::size_t i = 0; i < tasks.size(); i += 2) tasks[i].status = Status::kDeviceFault;
  }
};

// A device that knows this format alone; it is never started.
class LonelyDevice : public Backend {
 public:
  std::string_view name() const override { return "device"; }
  std::string description(std::string_view) const override { return "tests only"; }
  std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
  bool chosen_by_auto() const override { return true; }
  std::string_view fallback_name() const override { return "reference"; }
  bool supports(Format format, Direction) const override { return format == kLonelyRuns; }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override { return nullptr; }
};

class RunsFormatTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (FormatTable::instance().of_name("runs") != nullptr) return;
    FormatTable::instance().add(runs_row());
    FormatTable::instance().add(
        {.format = std::make_unique<LonelyRunsFormat>(), .reference = std::make_unique<FailingRunsCodec>()});
    FakePlan failing;
    for (std::uint64_t call = 1; call <= 20; ++call) failing.failing_block_calls.insert(call);
    BackendRegistry::instance().add(make_fake_backend(failing));
    BackendRegistry::instance().add(std::make_unique<LonelyDevice>());
  }

  static CompressOptions writing(bool stream) {
    CompressOptions options;
    options.format = kRuns;
    options.linked_blocks = stream;
    options.block_bytes = kRunsBlockSizes[0];
    options.threads = 2;
    return options;
  }
  static RestoreOptions reading() {
    RestoreOptions options;
    options.threads = 2;
    return options;
  }
  static Bytes frame_of(const Bytes& content, bool stream) { return compress(content, writing(stream)); }

  static Error error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error;
    }
    return {Status::kOk, "no error"};
  }
  static Error error_of_restoring(const Bytes& frame, const RestoreOptions& options = reading()) {
    return error_of([&] { restore(frame, options); });
  }
};

// For frames with blocks, and for those that are a stream.
class RunsOfBothKinds : public RunsFormatTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Stream, RunsOfBothKinds, ::testing::Bool());

TEST_F_WITH_THREADS(RunsFormatTest, GoesThroughTheStreams) {
  for (const bool stream : {false, true}) {
    for (const std::size_t bytes : {0u, 1u, 2u, 16u, 65'536u, 65'537u, 3'000'000u, 9'000'000u})
      for (const unsigned threads : {1u, 2u}) {
        const std::string backend = threads == 1 ? "reference" : "cpu";
        const Bytes content = content_of(bytes);
        CompressOptions options = writing(stream);
        options.backend = backend;
        options.threads = threads;
        MemorySource source(content);
        CollectSink frame;
        compress_stream(source, frame, options);
        EXPECT_LT(frame.content.size(), content.size() + content.size() / 20 + 40);

        RestoreOptions back = reading();
        back.threads = threads;
        back.backend = backend;
        CollectSink restored;
        Pipe pipe(frame.content);
        const StreamReport report = restore_stream(pipe, restored, back);
        EXPECT_EQ(restored.content, content);
        EXPECT_EQ(report.backend, backend);
        EXPECT_EQ(report.block_count, stream ? 1 : (bytes + 65'535) / 65'536);
        EXPECT_EQ(report.input_bytes, frame.content.size());
      }
  }
}

TEST_F_WITH_THREADS(RunsFormatTest, PushedPiecesGiveTheSame) {
  for (const bool stream : {false, true}) {
    const Bytes content = content_of(500'000);
    const Bytes frame = frame_of(content, stream) + frame_of(content, !stream);
    for (const std::size_t piece_bytes : {1u, 7u, 100'000u}) {
      CollectSink restored;
      Decompressor decompressor(reading(), [&](auto piece) { restored.write(piece); });
      for (std::size_t at = 0; at < frame.size(); at += piece_bytes)
        decompressor.write(std::span(frame).subspan(at, std::min(piece_bytes, frame.size() - at)));
      decompressor.finish();
      EXPECT_EQ(restored.content, content + content);
    }
  }
}

TEST_F_WITH_THREADS(RunsFormatTest, FramesOfBothKindsFollowEachOther) {
  for (const bool stream : {false, true}) {
    const Bytes small = content_of(1000), large = content_of(400'000);
    Bytes frames, content;
    for (int i = 0; i < 20; ++i)
      for (const Bytes& part : {small, Bytes(), large, small}) {
        frames = frames + frame_of(part, stream != (i % 3 == 0));
        content = content + part;
      }
    CollectSink from_pipe, from_memory;
    Pipe pipe(frames);
    EXPECT_EQ(restore_stream(pipe, from_pipe, reading()).frame_count, 80u);
    EXPECT_TRUE(from_pipe.content == content);
    MemorySource memory(frames);
    restore_stream(memory, from_memory, reading());
    EXPECT_TRUE(from_memory.content == content);

    frames.push_back(std::byte{1});
    MemorySource with_garbage(frames);
    NullSink nowhere;
    EXPECT_EQ(restore_stream(with_garbage, nowhere, reading()).trailing_garbage_at, frames.size() - 1);
  }
}

TEST_F(RunsFormatTest, AStreamTakesNoMoreMemoryThanIsAllowed) {
  const Bytes content = equal_bytes(std::size_t{40} << 20), frame = frame_of(content, true);
  RestoreOptions options = reading();
  options.memory_limit_bytes = std::size_t{1} << 20;
  struct Sizes : NullSink {
    void write(std::span<const std::byte> bytes) override { most = std::max(most, bytes.size()); }
    std::size_t most = 0;
  } sizes;
  MemorySource source(frame);
  const StreamReport report = restore_stream(source, sizes, options);
  EXPECT_EQ(report.output_bytes, content.size());
  EXPECT_LE(report.planned_bytes, options.memory_limit_bytes);
  EXPECT_LE(sizes.most, options.memory_limit_bytes);
}

TEST_P(RunsOfBothKinds, IsListed) {
  const Bytes content = content_of(200'000), frame = frame_of(content, GetParam());
  Bytes frames = frame + frame + frame_of({}, GetParam());
  frames.push_back(std::byte{1});
  MemorySource source(frames);
  const FrameIndex index = index_stream(source);
  ASSERT_EQ(index.frames.size(), 3u);
  EXPECT_EQ(index.frames[1].at, frame.size());
  EXPECT_EQ(index.frames[1].bytes, frame.size());
  EXPECT_EQ(index.frames[1].content_bytes, content.size());
  EXPECT_EQ(index.frames[1].block_count, GetParam() ? 0u : 4u);
  EXPECT_EQ(index.frames[2].content_bytes, 0u);
  EXPECT_EQ(index.trailing_garbage_at, frames.size() - 1);
  EXPECT_EQ(restored_bytes(frame), content.size());

  Bytes damaged = frame;
  damaged.resize(frame.size() - 9);
  MemorySource cut(damaged);
  EXPECT_EQ(error_of([&] { index_stream(cut); }).status(), Status::kTruncated);

  MemorySource again(frame);
  EXPECT_EQ(error_of([&] { index_frames(again); }).status(),
            GetParam() ? Status::kUnsupportedFeature : Status::kOk);
}

TEST_P(RunsOfBothKinds, RangesAreRestored) {
  const Bytes content = content_of(500'000);
  const Bytes frames = frame_of(content, GetParam()) + frame_of(content, !GetParam());
  const Bytes all = content + content;
  for (const auto& [begin, end] :
       {std::pair{0, 10}, {65'530, 65'540}, {300'000, 700'000}, {499'999, 500'000}, {999'999, 1'000'000}})
    for (const bool seeks : {false, true}) {
      MemorySource memory(frames);
      Pipe pipe(frames);
      Source& source = seeks ? static_cast<Source&>(memory) : pipe;
      CollectSink part;
      restore_range(source, part, begin, end, reading());
      EXPECT_TRUE(part.content == Bytes(all.begin() + begin, all.begin() + end)) << begin;
    }
  MemorySource source(frames);
  NullSink nowhere;
  EXPECT_EQ(error_of([&] { restore_range(source, nowhere, 1'000'001, 1'000'002, reading()); }).status(),
            Status::kRangeOutsideContent);
}

TEST_P(RunsOfBothKinds, ManyInputsAreFramesOfTheirOwnAndStreamsAreLeft) {
  const std::vector<Bytes> contents{content_of(10), {}, content_of(100'000), content_of(65'536)};
  const std::vector<std::span<const std::byte>> inputs(contents.begin(), contents.end());
  FrameCompressor compressor(writing(GetParam()));
  LargeBuffer output = compressor.make_output();
  const auto frames = compressor.compress(inputs, output);
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_EQ(Bytes(frames[i].begin(), frames[i].end()), frame_of(contents[i], GetParam()));

  RestoreOptions options = reading();
  options.backend = "reference";
  FrameRestorer restorer(options);
  LargeBuffer room = restorer.make_output();
  const auto restored = restorer.restore(frames, room);
  ASSERT_EQ(restored.size(), contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    ASSERT_EQ(restored[i].content.has_value(), !GetParam());
    if (restored[i].content) {
      EXPECT_EQ(Bytes(restored[i].content->begin(), restored[i].content->end()), contents[i]);
    }
  }
  TextRestorer texts(1 << 20, "reference");
  const auto text = texts.restore(frames[2]);
  ASSERT_EQ(text.has_value(), !GetParam());
  if (text) {
    EXPECT_EQ(Bytes(text->begin(), text->end()), contents[2]);
  }
}

TEST_P(RunsOfBothKinds, EveryTruncatedFrameIsTold) {
  const Bytes frame = frame_of(content_of(70'000), GetParam());
  for (std::size_t bytes = 4; bytes < frame.size();
       bytes += bytes < 40 || bytes + 40 > frame.size() ? 1 : 997)
    EXPECT_EQ(
        error_of_restoring(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes))).status(),
        Status::kTruncated)
        << bytes;
}

TEST_P(RunsOfBothKinds, EveryDamagedByteIsTold) {
  const Bytes content = content_of(70'000), frame = frame_of(content, GetParam());
  for (std::size_t at = 0; at < frame.size(); at += at < 40 || at + 40 > frame.size() ? 1 : 997)
    for (const int bit : {0, 3, 7}) {
      Bytes damaged = frame;
      damaged[at] ^= std::byte{1} << bit;
      if (at > 4 && at < kHeaderBytes) continue;  // bytes without meaning
      const StatusFamily family = status_family(error_of_restoring(damaged).status());
      EXPECT_TRUE(family == StatusFamily::kFormat || family == StatusFamily::kCorrupt) << at;
    }
}

// For blocks that are restored in parallel, and in order.
class RunsInOrder : public RunsFormatTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(InOrder, RunsInOrder, ::testing::Bool());

// With changed numbers after the first block, and at the end of the frame.
TEST_P(RunsInOrder, ChecksumsAndSizesOfContentAreCompared) {
  const Bytes content = content_of(100'000);
  Bytes frame = frame_of(content, false);
  if (GetParam()) frame[4] = std::byte{2};
  EXPECT_EQ(restore(frame, reading()), content);
  RestoreOptions unchecked = reading(), by_twins = reading();
  unchecked.verify_checksums = false;
  by_twins.backend = "reference";
  const std::size_t data_bytes = load_le32(frame.data() + kHeaderBytes) & ~kStoredRunsBit;
  const std::size_t behind = kHeaderBytes + 4 + data_bytes;
  struct Case {
    std::size_t at;
    Status status, unchecked;
  };
  for (const Case& one :
       {Case{behind, Status::kCorruptBlock, Status::kCorruptBlock},
        Case{behind + 1, Status::kBlockChecksumMismatch, Status::kOk},
        Case{behind + 7, Status::kContentSizeMismatch, Status::kContentSizeMismatch},
        Case{frame.size() - 8, Status::kContentChecksumMismatch, Status::kOk},
        Case{frame.size() - 4, Status::kContentSizeMismatch, Status::kContentSizeMismatch}}) {
    Bytes other = frame;
    other[one.at] ^= std::byte{1};
    EXPECT_EQ(error_of_restoring(other).status(), one.status) << one.at;
    EXPECT_EQ(error_of_restoring(other, unchecked).status(), one.unchecked) << one.at;
    const std::span<const std::byte> inputs[] = {other};
    FrameRestorer restorer(by_twins);
    LargeBuffer room = restorer.make_output();
    EXPECT_FALSE(restorer.restore(inputs, room)[0].content) << one.at;
    EXPECT_FALSE(TextRestorer(1 << 20, "reference").restore(other)) << one.at;
  }
  // The content before the wrong block is written.
  Bytes other = frame;
  const std::size_t second = behind + 9;
  other[second + 4 + (load_le32(frame.data() + second) & ~kStoredRunsBit) + 1] ^= std::byte{1};
  MemorySource source(other);
  CollectSink restored;
  const Error error = error_of([&] { restore_stream(source, restored, reading()); });
  EXPECT_EQ(error.status(), Status::kBlockChecksumMismatch);
  EXPECT_EQ(error.place().block, 2u);
  EXPECT_EQ(restored.content.size(), kRunsBlockSizes[0]);
}

TEST_F(RunsFormatTest, WhatIsWrongWithAStreamIsToldBehindWhatIsRight) {
  const Bytes content = equal_bytes(300'000);
  Bytes frame = frame_of(content, true);
  frame[frame.size() - 13] = std::byte{9};  // a part of an unknown kind, in place of the end
  MemorySource source(frame);
  CollectSink restored;
  const Error error = error_of([&] { restore_stream(source, restored, reading()); });
  EXPECT_EQ(error.status(), Status::kCorruptBlock);
  EXPECT_EQ(error.place().frame, 1u);
  EXPECT_EQ(restored.content, content);

  Bytes wrong_sum = frame_of(content, true), wrong_size = wrong_sum;
  wrong_sum[wrong_sum.size() - 8] ^= std::byte{1};
  wrong_size[wrong_size.size() - 4] ^= std::byte{1};
  EXPECT_EQ(error_of_restoring(wrong_sum).status(), Status::kContentChecksumMismatch);
  EXPECT_EQ(error_of_restoring(wrong_size).status(), Status::kContentSizeMismatch);
}

TEST_P(RunsOfBothKinds, BackendsAreChosenByFormat) {
  const Bytes content = content_of(100'000), frame = frame_of(content, GetParam());
  const BackendRegistry& registry = BackendRegistry::instance();
  for (const Direction direction : {Direction::kCompress, Direction::kRestore}) {
    const Workload runs{.direction = direction, .format = kRuns};
    const Workload lonely{.direction = direction, .format = kLonelyRuns};
    EXPECT_EQ(registry.choose("auto", {}, runs).name(), "cpu");
    EXPECT_EQ(registry.choose("auto", {}, lonely).name(), "device");
    EXPECT_EQ(registry.fallback_for(registry.find_usable("device"), "auto", lonely).name(), "reference");
    EXPECT_EQ(registry.fallback_for(registry.find_usable("reference"), "auto", lonely).name(), "reference");
    EXPECT_EQ(registry.fallback_for(registry.find_usable("reference"), "auto", runs).name(), "cpu");
  }

  CompressOptions by_cpu = writing(GetParam());
  by_cpu.format = kLonelyRuns;
  by_cpu.backend = "cpu";
  RestoreOptions back_by_cpu = reading();
  back_by_cpu.format = kLonelyRuns;
  back_by_cpu.backend = "cpu";
  const std::string compressing = error_of([&] { compress(content, by_cpu); }).what(),
                    restoring = error_of_restoring(frame, back_by_cpu).what();
  EXPECT_NE(compressing.find("backend 'cpu' does not compress to Lonely; those that do: reference, device"),
            std::string::npos)
      << compressing;
  EXPECT_NE(restoring.find("backend 'cpu' does not restore Lonely; those that do: reference"),
            std::string::npos)
      << restoring;
}

TEST_P(RunsOfBothKinds, WhatFailsIsRedoneByWhoKnowsTheFormat) {
  const Bytes content = content_of(500'000), frame = frame_of(content, GetParam());
  CompressOptions options = writing(GetParam());
  options.backend = "fake";
  MemorySource source(content);
  CollectSink written;
  EXPECT_GT(compress_stream(source, written, options).fallback_blocks, 0u);
  EXPECT_EQ(written.content, frame);
  RestoreOptions back = reading();
  back.backend = "fake";
  MemorySource compressed(frame);
  CollectSink restored;
  const StreamReport report = restore_stream(compressed, restored, back);
  EXPECT_EQ(restored.content, content);
  EXPECT_EQ(report.backend, "fake");
  EXPECT_EQ(report.fallback_backend, "cpu");
  EXPECT_EQ(report.fallback_blocks, 1u);

  // Nobody else knows the format.
  options.format = kLonelyRuns;
  back.format = kLonelyRuns;
  options.backend = back.backend = "reference";
  EXPECT_EQ(error_of([&] { compress(content, options); }).status(), Status::kDeviceFault);
  EXPECT_EQ(error_of_restoring(frame, back).status(),
            GetParam() ? Status::kInvalidOption : Status::kDeviceFault);
}

TEST_F(RunsFormatTest, LevelsAreThoseOfTheFormat) {
  CompressOptions options = writing(false);
  for (const int level : {-7, -1, 1, 22}) {
    options.level = level;
    EXPECT_EQ(restore(compress(content_of(1000), options), reading()), content_of(1000)) << level;
  }
  for (const int level : {-8, 23}) {
    options.level = level;
    const std::string message = error_of([&] { compress({}, options); }).what();
    EXPECT_NE(message.find("it can be -7 to 22"), std::string::npos) << message;
  }
}

// What comes before a block reaches the codec as far as the format says, whatever other formats use.
TEST_F(RunsFormatTest, HistoriesAreAsLongAsTheFormatSays) {
  const auto most_history_of = [](const auto& call) {
    most_runs_history_bytes = 0;
    call();
    return most_runs_history_bytes.load();
  };
  const Bytes content = content_of(500'000), dictionary = random_bytes(300'000);
  EXPECT_EQ(most_history_of([&] { frame_of(content, true); }), kRunsHistoryBytes);
  Bytes frame = frame_of(content, false);
  EXPECT_EQ(most_history_of([&] { restore(frame, reading()); }), 0u);
  frame[4] = std::byte{2};  // blocks that are restored in order
  EXPECT_EQ(most_history_of([&] { EXPECT_EQ(restore(frame, reading()), content); }), kRunsHistoryBytes);

  CompressOptions options = writing(false);
  options.dictionary = dictionary;
  EXPECT_EQ(most_history_of([&] { compress(content_of(1000), options); }), kRunsHistoryBytes);
  RestoreOptions back = reading();
  back.dictionary = dictionary;
  EXPECT_EQ(most_history_of([&] { restore(frame_of(content_of(1000), false), back); }), kRunsHistoryBytes);
}

// Blocks whose data ends within a byte differ from those that fill it.
TEST_F(RunsFormatTest, BlocksEndOnAnyBit) {
  EXPECT_EQ(frame_of(equal_bytes(15 * 2), false)[kHeaderBytes + 4 + 3], std::byte{8});
  const Bytes odd = frame_of(equal_bytes(15 * 3), false);
  EXPECT_EQ(odd[kHeaderBytes], std::byte{5});
  EXPECT_EQ(odd[kHeaderBytes + 4 + 5], std::byte{4});
  // In a stream, the end of a part takes the rest of a half-filled byte, or a byte of its own.
  EXPECT_EQ(frame_of(equal_bytes(15 * 2), true).size(), kHeaderBytes + 5 + 3 + 1 + 13);
  EXPECT_EQ(frame_of(equal_bytes(15 * 3), true).size(), kHeaderBytes + 5 + 5 + 13);
}

}  // namespace
}  // namespace hemstitch::testing
