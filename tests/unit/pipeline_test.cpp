// Whole streams: limited in memory, in order, independent of how they are cut, and finished even if a device
// fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "collect_sink.hpp"
#include "core/status.hpp"
#include "engine/device_start.hpp"
#include "engine/fake/fake_backend.hpp"
#include "engine/registry.hpp"
#include "engine/resilient_engine.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "lz4f_oracle.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::size_t kKB = 1024;

// A pipe: it cannot seek, and its size is unknown.
class PipeSource : public Source {
 public:
  explicit PipeSource(std::span<const std::byte> bytes) : memory_(bytes) {}
  std::size_t read(std::span<std::byte> into) override { return memory_.read(into); }

 private:
  MemorySource memory_;
};

class FailingSource : public Source {
 public:
  FailingSource(std::span<const std::byte> bytes, std::size_t good_bytes)
      : memory_(bytes), left_(good_bytes) {}
  std::size_t read(std::span<std::byte> into) override {
    if (into.size() > left_) throw Error(Status::kReadFailed, "the disk is on fire");
    left_ -= into.size();
    return memory_.read(into);
  }

 private:
  MemorySource memory_;
  std::size_t left_;
};

// A file, whose beginning can be written again.
class RewritableSink : public CollectSink {
 public:
  bool replace_beginning(std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), content.begin());
    return true;
  }
};

template <class Call>
Status status_of(Call call) {
  try {
    call();
    return Status::kOk;
  } catch (const Error& error) {
    return error.status();
  }
}

// Registers a fake backend named "fake" for a test; it replaces the one before.
class WithFake {
 public:
  explicit WithFake(FakePlan plan) {
    current() = make_fake_backend(std::move(plan));
    static const bool registered = [] {
      BackendRegistry::instance().add(std::make_unique<Forward>());
      return true;
    }();
    (void)registered;
  }
  ~WithFake() { current().reset(); }

 private:
  static std::unique_ptr<Backend>& current() {
    static std::unique_ptr<Backend> backend;
    return backend;
  }
  struct Forward : Backend {
    std::string_view name() const override { return "fake"; }
    std::string description(std::string_view) const override { return current()->description({}); }
    std::optional<std::string> unavailable_reason(std::string_view) const override {
      return current() ? current()->unavailable_reason({}) : "no test uses it";
    }
    bool chosen_by_auto() const override { return current() && current()->chosen_by_auto(); }
    BackendFacts facts(std::string_view) const override { return current()->facts({}); }
    std::optional<BackendFigures> figures(const BackendFacts& facts, Format format) const override {
      return current()->figures(facts, format);
    }
    bool starts_at_once() const override { return current()->starts_at_once(); }
    std::string_view fallback_name() const override { return current()->fallback_name(); }
    bool supports(Format format, Direction direction) const override {
      return current()->supports(format, direction);
    }
    std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
      return current()->make_engine({});
    }
  };
};

TEST_WITH_THREADS(Stream, TheSameBytesForAnyMemory) {
  const Bytes content = mixed_bytes(3000000);
  for (const std::size_t block_bytes : {64 * kKB, 256 * kKB, 1024 * kKB}) {
    CompressOptions options;
    options.block_bytes = block_bytes;
    options.threads = 1;
    const Bytes expected = compress(content, options);
    for (const unsigned threads : {2u, 3u, 8u}) {
      options.threads = threads;
      EXPECT_EQ(compress(content, options), expected);
    }
    options.memory_limit_bytes = 2 * block_bytes + 1000;
    EXPECT_EQ(compress(content, options), expected);
    RestoreOptions restore_options;
    restore_options.memory_limit_bytes = 2 * block_bytes + 1000;
    EXPECT_EQ(restore(expected, restore_options), content);
    restore_options.memory_limit_bytes = 100;
    EXPECT_EQ(status_of([&] { restore(expected, restore_options); }), Status::kMemoryLimit);
    options.memory_limit_bytes = 100;
    EXPECT_EQ(status_of([&] { compress(content, options); }), Status::kMemoryLimit);
  }
}

TEST_WITH_THREADS(Stream, ReportsWhatItDid) {
  const Bytes content = random_bytes(1000000);
  MemorySource source(content);
  CollectSink sink;
  std::uint64_t last_input = 0, last_output = 0;
  StreamHooks hooks;
  hooks.progress = [&](std::uint64_t input_bytes, std::uint64_t output_bytes) {
    EXPECT_GT(input_bytes, last_input);
    EXPECT_GT(output_bytes, last_output);
    last_input = input_bytes;
    last_output = output_bytes;
  };
  const StreamReport report = compress_stream(source, sink, {}, hooks);
  EXPECT_EQ(report.input_bytes, content.size());
  EXPECT_EQ(report.output_bytes, sink.content.size());
  EXPECT_EQ(report.block_count, 5u);  // including the last byte's
  EXPECT_EQ(report.frame_count, 1u);
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_EQ(report.fallback_blocks, 0u);
  EXPECT_EQ(last_input, content.size());
  EXPECT_GT(report.planned_bytes, 0u);

  last_input = last_output = 0;
  MemorySource packed(sink.content);
  CollectSink restored;
  const StreamReport back = restore_stream(packed, restored, {}, hooks);
  EXPECT_EQ(back.input_bytes, sink.content.size());
  EXPECT_EQ(back.output_bytes, content.size());
  EXPECT_EQ(back.block_count, 5u);
  EXPECT_EQ(back.frame_count, 1u);
  EXPECT_EQ(last_output, content.size());
}

// 1024 threads with blocks of 4 MB would need 16 GB.
TEST(Stream, PlansNoMoreThanTheContentTakes) {
  const Bytes content = wordy_bytes(5'000'000);
  CompressOptions options;
  options.block_bytes = 4 << 20;
  options.threads = 1024;
  options.content_bytes = content.size();
  MemorySource source(content);
  CollectSink sink;
  EXPECT_LT(compress_stream(source, sink, options).planned_bytes, std::uint64_t{17} << 20);
  MemorySource packed(sink.content);
  CollectSink restored;
  RestoreOptions restoring;
  restoring.threads = 1024;
  EXPECT_LT(restore_stream(packed, restored, restoring).planned_bytes, std::uint64_t{17} << 20);
  EXPECT_EQ(restored.content, content);
}

TEST(Stream, StopsWhenCancelled) {
  const Bytes content = random_bytes(3000000);
  std::atomic<bool> cancelled = false;
  StreamHooks hooks;
  hooks.cancelled = &cancelled;
  hooks.progress = [&](std::uint64_t, std::uint64_t) { cancelled = true; };
  MemorySource source(content);
  NullSink sink;
  CompressOptions options;
  options.threads = 1;
  EXPECT_EQ(status_of([&] { compress_stream(source, sink, options, hooks); }), Status::kCancelled);
  cancelled = false;
  const Bytes frame = compress(content);
  MemorySource packed(frame);
  RestoreOptions restore_options;
  restore_options.threads = 1;
  EXPECT_EQ(status_of([&] { restore_stream(packed, sink, restore_options, hooks); }), Status::kCancelled);
}

TEST_WITH_THREADS(Stream, AFailingInputIsAnError) {
  const Bytes content = wordy_bytes(2000000), frame = compress(content);
  NullSink sink;
  FailingSource source(content, 1000000), packed(frame, frame.size() / 2);
  EXPECT_EQ(status_of([&] { compress_stream(source, sink, {}); }), Status::kReadFailed);
  EXPECT_EQ(status_of([&] { restore_stream(packed, sink, {}); }), Status::kReadFailed);
}

// A file that grows or shrinks while it is read, or whose size was never right. A reader that believes the
// header's size must get the same content.
TEST_WITH_THREADS(Stream, AnInputOfAnotherSizeThanExpectedIsCompressedAsItIs) {
  const Bytes all = wordy_bytes(1200000);
  const Bytes dictionary(all.begin(), all.begin() + 1000);
  CompressOptions plain, linked, with_checksum, in_gzip, in_bgzf;
  linked.linked_blocks = with_checksum.content_checksum = true;
  linked.dictionary = dictionary;
  in_gzip.format = Format::kGzip;
  in_bgzf.format = Format::kBgzf;
  for (CompressOptions options : {plain, linked, with_checksum, in_gzip, in_bgzf})
    for (const unsigned threads : {1u, 3u})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}, 64 * kKB, all.size()}) {
        options.block_bytes = options.format == Format::kLz4 ? 64 * kKB : 0;
        options.threads = threads;
        options.memory_limit_bytes = 2500 * kKB;  // several batches
        const std::span content = std::span(all).first(bytes);
        for (const std::uint64_t expected :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{64 * kKB},
              std::uint64_t{bytes / 2 + 1}, std::uint64_t{bytes}, std::uint64_t{bytes + 1},
              std::uint64_t{10 * bytes}}) {
          options.content_bytes = expected;
          MemorySource source(content);
          RewritableSink sink;
          const StreamReport report = compress_stream(source, sink, options);
          const std::string what = fmt::format("format {}, {} threads, {} bytes, {} expected",
                                               static_cast<int>(options.format), threads, bytes, expected);
          EXPECT_EQ(report.input_bytes, bytes) << what;
          EXPECT_EQ(report.output_bytes, sink.content.size()) << what;
          EXPECT_EQ(report.expected_input_bytes, expected == bytes ? std::nullopt : std::optional(expected))
              << what;
          RestoreOptions restoring;
          restoring.dictionary = options.dictionary;
          EXPECT_EQ(restore(sink.content, restoring), Bytes(content.begin(), content.end())) << what;
          if (expected == bytes) continue;
          // What comes after the size that a header states is another frame.
          MemorySource frames(sink.content);
          const std::size_t frame_count = options.format == Format::kLz4 && expected < bytes ? 2 : 1;
          if (options.format != Format::kBgzf) {
            EXPECT_EQ(index_stream(frames, options.format).frames.size(), frame_count) << what;
          }
        }
      }
}

TEST_WITH_THREADS(Stream, AHeaderInAPipeStatesNoSizeThatDoesNotCome) {
  const Bytes content = wordy_bytes(3000000);
  CompressOptions options;
  options.block_bytes = 64 * kKB;
  options.memory_limit_bytes = 2000 * kKB;
  for (const std::size_t bytes : {std::size_t{20}, content.size()}) {
    options.content_bytes = content.size() + 1;
    MemorySource source(std::span<const std::byte>(content).first(bytes));
    CollectSink pipe;
    if (bytes == 20) {  // the end came before the header was written
      compress_stream(source, pipe, options);
      EXPECT_EQ(restore(pipe.content), Bytes(content.begin(), content.begin() + 20));
    } else {
      EXPECT_EQ(status_of([&] { compress_stream(source, pipe, options); }), Status::kInputChanged);
    }
  }
}

TEST_WITH_THREADS(Stream, AFailingOutputEndsTheRun) {
  class FullSink : public Sink {
   public:
    void write(std::span<const std::byte>) override {
      if (++writes_ > 3) throw Error(Status::kWriteFailed, "no space left");
    }

   private:
    int writes_ = 0;
  };
  const Bytes content = random_bytes(5000000);
  FullSink sink, other;
  MemorySource source(content);
  EXPECT_EQ(status_of([&] { compress_stream(source, sink, {}); }), Status::kWriteFailed);
  const Bytes frame = compress(content);
  MemorySource packed(frame);
  EXPECT_EQ(status_of([&] { restore_stream(packed, other, {}); }), Status::kWriteFailed);
}

// Whatever the threads do, the first damaged block is reported, and the content before it is written.
TEST_WITH_THREADS(Stream, TheFirstErrorWins) {
  CompressOptions options;
  options.block_bytes = 64 * kKB;
  const Bytes content = random_bytes(40 * 64 * kKB);
  Bytes frame = compress(content, options);
  const std::size_t header_bytes = 15, block_bytes = 4 + 65536 + 4;
  for (const std::size_t block : {9, 17, 18, 30})
    frame[header_bytes + block * block_bytes + 100] ^= std::byte{1};
  frame.resize(frame.size() - 10);  // it is truncated as well
  for (int round = 0; round < 30; round++) {
    MemorySource source(frame);
    CollectSink sink;
    RestoreOptions restore_options;
    restore_options.threads = 1 + round % 4;
    try {
      restore_stream(source, sink, restore_options);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kBlockChecksumMismatch);
      EXPECT_EQ(error.place().block, 10u);
    }
    EXPECT_EQ(sink.content, Bytes(content.begin(), content.begin() + 9 * 65536));
  }
}

TEST_WITH_THREADS(Range, IsTheSliceAndRestoresOnlyItsBlocks) {
  const Bytes content = mixed_bytes(700000, 5);
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  struct Case {
    const char* name;
    Bytes frames;
    bool only_needed_blocks;
  };
  CompressOptions small;
  small.block_bytes = 64 * kKB;
  CompressOptions linked = small;
  linked.linked_blocks = true;
  std::vector<Case> cases{{"full blocks, size known", compress(content, small), true},
                          {"full blocks, size unknown", lz4f_compress(content, preferences), true},
                          {"short blocks", lz4f_compress_flushed(content, 50000, preferences), true},
                          {"linked", compress(content, linked), false}};
  preferences.frameInfo.contentSize = 1;
  cases.push_back({"short blocks, size known", lz4f_compress_flushed(content, 50000, preferences), true});
  const Bytes head(content.begin(), content.begin() + 200001), tail(content.begin() + 200001, content.end());
  cases.push_back({"two frames", compress(head, small) + lz4f_compress(tail, preferences), true});

  for (const Case& test : cases)
    for (const auto& [begin, end] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, 0},
                                                          {0, 1},
                                                          {0, content.size()},
                                                          {65535, 65537},
                                                          {65536, 131072},
                                                          {200000, 200003},
                                                          {300000, 300000},
                                                          {400000, 650000},
                                                          {content.size() - 1, content.size()},
                                                          {content.size(), content.size()},
                                                          {10, UINT64_MAX}})
      for (const bool pipe : {false, true}) {
        MemorySource memory(test.frames);
        PipeSource stream(test.frames);
        CollectSink sink;
        const StreamReport report =
            restore_range(pipe ? static_cast<Source&>(stream) : memory, sink, begin, end, {});
        const std::size_t stop = std::min(end, content.size());
        EXPECT_EQ(sink.content, Bytes(content.begin() + static_cast<std::ptrdiff_t>(begin),
                                      content.begin() + static_cast<std::ptrdiff_t>(stop)))
            << test.name << " " << begin << "-" << end << (pipe ? " from a pipe" : "");
        if (test.only_needed_blocks) {
          EXPECT_LE(report.block_count, (stop - begin) / 50000 + 3) << test.name;
        }
      }
}

TEST(Range, ReadsOnlyWhatItNeedsWhereBlocksAreFull) {
  class CountingSource : public MemorySource {
   public:
    using MemorySource::MemorySource;
    std::size_t read(std::span<std::byte> into) override {
      read_bytes += into.size();
      return MemorySource::read(into);
    }
    std::size_t read_bytes = 0;
  };
  CompressOptions options;
  options.block_bytes = 64 * kKB;
  for (const std::size_t more : {-1, 0, 1, 2, 40'000}) {
    const Bytes content = random_bytes(100 * 64 * kKB + more), frame = compress(content, options);
    CountingSource source(frame);
    CollectSink sink;
    restore_range(source, sink, 70 * 65536 + 5, 70 * 65536 + 10, {});
    EXPECT_EQ(sink.content.size(), 5u);
    EXPECT_LT(source.read_bytes, 2u * 65536) << more;  // the block and headers; the last two are stored
  }
  // Compressed blocks are walked over.
  const Bytes content = wordy_bytes(40 * 64 * kKB), frame = compress(content, options);
  CountingSource source(frame);
  CollectSink sink;
  restore_range(source, sink, 30 * 65536 + 5, 30 * 65536 + 10, {});
  EXPECT_EQ(sink.content.size(), 5u);
  EXPECT_LT(source.read_bytes, 3u * 65536);
}

// The last full block may be a byte short, since that byte is apart; in the first of two frames and in the
// last.
TEST(Range, IsTheSliceAtTheEndsOfFrames) {
  for (const bool unknown_size : {false, true})
    for (const std::size_t size :
         {61440u, 61441u, 65535u, 65536u, 65537u, 65538u, 131'071u, 131'072u, 131'073u, 200'000u}) {
      const Bytes content = wordy_bytes(size), twice = content + content;
      CompressOptions options;
      options.block_bytes = 64 * kKB;
      if (!unknown_size) options.content_bytes = size;
      Bytes frame;
      Compressor compressor(options, [&](std::span<const std::byte> bytes) {
        frame.insert(frame.end(), bytes.begin(), bytes.end());
      });
      compressor.write(content);
      compressor.finish();
      const Bytes frames = frame + frame;
      std::vector<std::size_t> places;
      for (const std::size_t place :
           {std::size_t{0}, std::size_t{65536}, std::size_t{131'072}, size, size + 65536, 2 * size})
        for (std::size_t at = place < 2 ? 0 : place - 2; at <= std::min(place + 2, 2 * size); ++at)
          places.push_back(at);
      for (const std::size_t begin : places)
        for (const std::size_t end : places) {
          if (begin > end) continue;
          MemorySource source(frames);
          CollectSink sink;
          restore_range(source, sink, begin, end, {});
          ASSERT_TRUE(std::equal(sink.content.begin(), sink.content.end(),
                                 twice.begin() + static_cast<std::ptrdiff_t>(begin),
                                 twice.begin() + static_cast<std::ptrdiff_t>(end)))
              << size << ": " << begin << "-" << end;
        }
    }
}

TEST(Range, OutsideOfTheContentIsAnError) {
  const Bytes frame = compress(wordy_bytes(1000));
  MemorySource source(frame), again(frame);
  NullSink sink;
  EXPECT_EQ(status_of([&] { restore_range(source, sink, 1001, 2000, {}); }), Status::kRangeOutsideContent);
  EXPECT_EQ(status_of([&] { restore_range(again, sink, 5, 4, {}); }), Status::kInvalidOption);
}

TEST(Range, ADamagedBlockBeforeItIsAnErrorWhereItHasToBeWalked) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  Bytes frame = lz4f_compress(wordy_bytes(200000), preferences);
  frame[7 + 4] = std::byte{0xFF};  // the first token needs more literals than there are
  for (std::size_t i = 1; i < 40000; i++) frame[7 + 4 + i] = std::byte{0xFF};
  MemorySource source(frame);
  NullSink sink;
  EXPECT_EQ(status_of([&] { restore_range(source, sink, 150000, 150001, {}); }), Status::kCorruptBlock);
}

TEST_WITH_THREADS(Push, PiecesOfAnySizeGiveTheSameBytes) {
  const Bytes content = mixed_bytes(900000, 9);
  for (const bool linked : {false, true}) {
    CompressOptions options;
    options.block_bytes = 64 * kKB;
    options.linked_blocks = linked;
    options.content_checksum = true;
    options.threads = 2;
    Bytes expected;
    {
      MemorySource source(content);
      CollectSink sink;
      compress_stream(source, sink, options);
      expected = sink.content;
    }
    const Bytes doubled = expected + expected;
    for (const std::size_t piece_bytes :
         {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{65537}, content.size()}) {
      Bytes packed;
      Compressor compressor(options, [&](std::span<const std::byte> bytes) {
        packed.insert(packed.end(), bytes.begin(), bytes.end());
      });
      for (std::size_t at = 0; at < content.size(); at += piece_bytes)
        compressor.write(std::span(content).subspan(at, std::min(piece_bytes, content.size() - at)));
      compressor.finish();
      EXPECT_EQ(packed, expected) << piece_bytes;
      EXPECT_THROW(compressor.write(content), Error);

      Bytes restored;
      Decompressor decompressor({}, [&](std::span<const std::byte> bytes) {
        restored.insert(restored.end(), bytes.begin(), bytes.end());
      });
      for (std::size_t at = 0; at < doubled.size(); at += piece_bytes)
        decompressor.write(std::span(doubled).subspan(at, std::min(piece_bytes, doubled.size() - at)));
      decompressor.finish();
      EXPECT_EQ(restored, content + content) << piece_bytes;
      EXPECT_THROW(decompressor.finish(), Error);
    }
  }
}

TEST(Push, MisuseIsAnErrorThatSaysSo) {
  EXPECT_EQ(status_of([] { Compressor({}, {}); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([] { Decompressor({}, {}); }), Status::kInvalidOption);
  const Output nowhere = [](std::span<const std::byte>) {};
  Compressor compressor({}, nowhere);
  Compressor other = std::move(compressor);
  EXPECT_EQ(status_of([&] { compressor.write({}); }), Status::kWrongState);
  EXPECT_EQ(status_of([&] { compressor.finish(); }), Status::kWrongState);
  EXPECT_EQ(status_of([&] { other.finish(); }), Status::kOk);
  Decompressor decompressor({}, nowhere);
  Decompressor another = std::move(decompressor);
  EXPECT_EQ(status_of([&] { decompressor.write({}); }), Status::kWrongState);
  EXPECT_EQ(status_of([&] { decompressor.finish(); }), Status::kWrongState);
}

TEST(Options, OutsideTheirLimitsAreErrors) {
  const Bytes content = wordy_bytes(100);
  const auto status_with = [&](auto change) {
    CompressOptions options;
    change(options);
    return status_of([&] { compress(content, options); });
  };
  EXPECT_EQ(status_with([](auto& o) { o.format = static_cast<Format>(7); }), Status::kInvalidOption);
  EXPECT_EQ(status_with([](auto& o) { o.level = -1; }), Status::kInvalidOption);
  EXPECT_EQ(status_with([](auto& o) { o.block_bytes = std::size_t{1} << 32; }), Status::kInvalidOption);
  EXPECT_EQ(status_with([](auto& o) { o.acceleration = -1; }), Status::kInvalidOption);
  EXPECT_EQ(status_with([](auto& o) { o.threads = 1025; }), Status::kInvalidOption);
  EXPECT_EQ(status_with([](auto& o) { o.backend = ""; }), Status::kUnknownBackend);
  EXPECT_EQ(status_with([](auto& o) { o.memory_limit_bytes = 1; }), Status::kMemoryLimit);
  EXPECT_EQ(status_with([](auto& o) { o.content_bytes = 99; }), Status::kInvalidOption);
  EXPECT_EQ(status_with([](auto& o) { o.content_bytes = std::uint64_t{1} << 32; }), Status::kInvalidOption);
  EXPECT_EQ(status_with([](auto& o) { o.content_bytes = 100; }), Status::kOk);
}

TEST(Push, EmptyStreams) {
  Bytes packed;
  Compressor compressor(
      {}, [&](std::span<const std::byte> bytes) { packed.insert(packed.end(), bytes.begin(), bytes.end()); });
  compressor.finish();
  EXPECT_EQ(lz4f_restore(packed), Bytes{});
  Decompressor nothing({}, [](std::span<const std::byte>) {});
  EXPECT_EQ(status_of([&] { nothing.finish(); }), Status::kTruncated);
}

TEST(Push, SkippableFramesAndLegacyEnds) {
  const Bytes skippable = skippable_frame(1000);
  const Bytes content = wordy_bytes(1000), frame = compress(content);
  Bytes legacy{std::byte{0x02}, std::byte{0x21}, std::byte{0x4C}, std::byte{0x18}, std::byte{5},
               std::byte{0},    std::byte{0},    std::byte{0},    std::byte{0x40}, std::byte{'a'},
               std::byte{'b'},  std::byte{'c'},  std::byte{'d'}};
  const Bytes all = skippable + legacy + frame + skippable + legacy;
  const Bytes expected = bytes_of("abcd") + content + bytes_of("abcd");
  EXPECT_EQ(restore(all), expected);
  for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{600}, all.size()}) {
    Bytes restored;
    Decompressor decompressor({}, [&](std::span<const std::byte> bytes) {
      restored.insert(restored.end(), bytes.begin(), bytes.end());
    });
    for (std::size_t at = 0; at < all.size(); at += piece_bytes)
      decompressor.write(std::span(all).subspan(at, std::min(piece_bytes, all.size() - at)));
    decompressor.finish();
    EXPECT_EQ(restored, expected) << piece_bytes;
  }
  Decompressor cut({}, [](std::span<const std::byte>) {});
  cut.write(std::span(skippable).first(500));
  EXPECT_EQ(status_of([&] { cut.finish(); }), Status::kTruncated);
}

TEST(Push, TruncationAtEveryByteIsFoundAtTheEnd) {
  CompressOptions options;
  options.content_checksum = true;
  const Bytes frame = compress(wordy_bytes(300), options);
  for (std::size_t bytes = 0; bytes < frame.size(); bytes++) {
    Decompressor decompressor({}, [](std::span<const std::byte>) {});
    decompressor.write(std::span(frame).first(bytes));
    EXPECT_EQ(status_of([&] { decompressor.finish(); }),
              bytes >= 1 && bytes < 4 ? Status::kUnknownFormat : Status::kTruncated)
        << bytes;
  }
}

TEST_WITH_THREADS(Push, TrailingGarbageAndDamageAreErrorsAfterTheGoodBytes) {
  const Bytes content = random_bytes(200000);
  CompressOptions options;
  options.block_bytes = 64 * kKB;
  const Bytes frame = compress(content, options);
  Bytes restored;
  Decompressor decompressor({}, [&](std::span<const std::byte> bytes) {
    restored.insert(restored.end(), bytes.begin(), bytes.end());
  });
  decompressor.write(frame + bytes_of("not a frame"));
  decompressor.write(bytes_of("nor this"));
  EXPECT_EQ(status_of([&] { decompressor.finish(); }), Status::kTrailingGarbage);
  EXPECT_EQ(restored, content);
  EXPECT_EQ(decompressor.report().input_bytes, frame.size());

  Bytes damaged = frame;
  damaged[15 + 2 * (4 + 65536 + 4)] ^= std::byte{0xFF};  // the size of the third block
  restored.clear();
  Decompressor other({}, [&](std::span<const std::byte> bytes) {
    restored.insert(restored.end(), bytes.begin(), bytes.end());
  });
  EXPECT_EQ(status_of([&] { other.write(damaged), other.finish(); }), Status::kCorruptBlock);
  EXPECT_EQ(restored, Bytes(content.begin(), content.begin() + 2 * 65536));
  EXPECT_EQ(status_of([&] { other.write(frame); }), Status::kWrongState);
}

TEST_WITH_THREADS(Push, WhatTheOutputThrowsTheCallThrows) {
  const Bytes content = random_bytes(3000000);
  struct Mine {};
  Compressor compressor({}, [](std::span<const std::byte>) { throw Mine(); });
  EXPECT_THROW(compressor.write(content), Mine);
  EXPECT_EQ(status_of([&] { compressor.finish(); }), Status::kWrongState);
}

class FakeBackendTest : public ::testing::Test {
 protected:
  const Bytes content_ = mixed_bytes(6000000, 11);
  const Bytes expected_ = compress(content_);

  StreamReport compress_with_fake(Bytes& packed, const std::string& backend = "fake", bool verify = false) {
    CompressOptions options;
    options.backend = backend;
    options.verify = verify;
    options.content_bytes = content_.size();
    MemorySource source(content_);
    CollectSink sink;
    const StreamReport report = compress_stream(source, sink, options);
    packed = sink.content;
    return report;
  }
};

TEST_F_WITH_THREADS(FakeBackendTest, LateCallsKeepTheOrder) {
  FakePlan plan;
  plan.delay = std::chrono::microseconds(2000);
  WithFake fake(plan);
  Bytes packed;
  const StreamReport report = compress_with_fake(packed);
  EXPECT_EQ(packed, expected_);
  EXPECT_EQ(report.backend, "fake");
  EXPECT_EQ(report.fallback_blocks, 0u);
  RestoreOptions options;
  options.backend = "fake";
  EXPECT_EQ(restore(packed, options), content_);
}

TEST_F_WITH_THREADS(FakeBackendTest, FailedBatchesAndBlocksAreRedone) {
  FakePlan plan;
  plan.out_of_memory_calls = {2};
  Bytes packed;
  const auto expect = [&](std::uint64_t redone) {
    WithFake fake(plan);
    const StreamReport report = compress_with_fake(packed);
    EXPECT_EQ(packed, expected_);
    EXPECT_EQ(report.fallback_blocks, redone);
    EXPECT_EQ(report.fallback_backend, "cpu");
    EXPECT_FALSE(report.fallback_reason.empty());
    EXPECT_FALSE(report.dropped);
  };
  expect(4);
  plan = {};
  plan.failing_block_calls = {2};
  expect(1);
}

// A device may only have decoders of streams for a format.
TEST_F_WITH_THREADS(FakeBackendTest, BlocksThatItDoesNotRestoreGoToTheProcessor) {
  FakePlan plan;
  plan.restores_blocks = false;
  plan.lost_from_call = 1;
  WithFake fake(plan);
  RestoreOptions options;
  options.backend = "fake";
  MemorySource source(expected_);
  CollectSink sink;
  const StreamReport report = restore_stream(source, sink, options);
  EXPECT_EQ(sink.content, content_);
  EXPECT_EQ(report.backend, "fake");
  EXPECT_EQ(report.fallback_backend, "cpu");
  EXPECT_GT(report.fallback_blocks, 1u);
  EXPECT_NE(report.fallback_reason.find("not block by block"), std::string::npos) << report.fallback_reason;
  EXPECT_FALSE(report.dropped);
}

// Or it only restores blocks that have nothing before them.
TEST_F_WITH_THREADS(FakeBackendTest, BlocksWithADictionaryMayBeTheProcessors) {
  FakePlan plan;
  plan.verifies_blocks = false;
  for (const bool with_dictionary : {false, true}) {
    WithFake fake(plan);
    CompressOptions compressing;
    compressing.backend = "cpu";
    if (with_dictionary) compressing.dictionary = std::span(content_).first(1000);
    MemorySource content(content_);
    CollectSink packed;
    compress_stream(content, packed, compressing);
    RestoreOptions options;
    options.backend = "fake";
    options.dictionary = compressing.dictionary;
    MemorySource source(packed.content);
    CollectSink sink;
    const StreamReport report = restore_stream(source, sink, options);
    EXPECT_EQ(sink.content, content_);
    EXPECT_EQ(report.fallback_reason.find("with a dictionary") != std::string::npos, with_dictionary);
  }
}

// Of those that it writes, the processor verifies them: the device is called once for each of six batches.
TEST_F_WITH_THREADS(FakeBackendTest, BlocksThatItDoesNotRestoreAreVerifiedByTheProcessor) {
  FakePlan plan;
  plan.restores_blocks = false;
  plan.lost_from_call = 7;
  plan.wrong_bytes_calls = {2};
  WithFake fake(plan);
  Bytes packed;
  const StreamReport report = compress_with_fake(packed, "fake", true);
  EXPECT_EQ(packed, expected_);
  EXPECT_EQ(report.fallback_blocks, 1u);
  EXPECT_NE(report.fallback_reason.find("did not restore"), std::string::npos) << report.fallback_reason;
  EXPECT_FALSE(report.dropped);
}

// Under a sanitizer, comparing byte by byte takes longer than compressing.
bool same_by_memcmp(const Bytes& one, const Bytes& other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0;
}

// Everything that a device can do wrong, in each of its calls.
TEST_F_WITH_THREADS(FakeBackendTest, AFailureInAnyCallLosesNothing) {
  const std::uint64_t most_calls = 2 * 6 + 1;  // a batch that is verified takes two
  for (std::uint64_t call = 1; call <= most_calls; ++call)
    for (const int kind : {0, 1, 2, 3}) {
      FakePlan plan;
      (kind == 0   ? plan.out_of_memory_calls
       : kind == 1 ? plan.failing_block_calls
                   : plan.wrong_bytes_calls) = {call};
      if (kind == 3) plan.lost_from_call = call;
      SCOPED_TRACE(fmt::format("call {}, kind {}", call, kind));
      Bytes packed;
      {
        WithFake fake(plan);
        const StreamReport report = compress_with_fake(packed, "fake", true);
        EXPECT_TRUE(same_by_memcmp(packed, expected_));
        EXPECT_EQ(report.fallback_blocks > 0, call < most_calls);
        // A device that is lost early fails a second time.
        if (kind != 3 || call <= 6) {
          EXPECT_EQ(report.dropped, kind == 3);
        }
      }
      if (kind == 2) continue;  // without a checksum of the content nobody would notice
      WithFake fake(plan);
      RestoreOptions options;
      options.backend = "fake";
      EXPECT_TRUE(same_by_memcmp(restore(packed, options), content_));
    }
}

TEST_F_WITH_THREADS(FakeBackendTest, WrongBytesAreCaughtWhereTheyAreVerified) {
  FakePlan plan;
  plan.wrong_bytes_calls = {2};
  Bytes packed;
  {
    WithFake fake(plan);
    EXPECT_EQ(compress_with_fake(packed).fallback_blocks, 0u);
    EXPECT_NE(packed, expected_);
  }
  {
    WithFake fake(plan);
    const StreamReport report = compress_with_fake(packed, "fake", true);
    EXPECT_EQ(packed, expected_);
    EXPECT_EQ(report.fallback_blocks, 1u);
    EXPECT_EQ(report.fallback_reason, "a block did not restore to its content");
    EXPECT_FALSE(report.dropped);
  }
  // Verification must use the history that the block was made with.
  CompressOptions options;
  options.linked_blocks = options.verify = true;
  options.dictionary = std::span(content_).first(100'000);
  const Bytes linked = compress(content_, options);
  WithFake fake(plan);
  options.backend = "fake";
  EXPECT_EQ(compress(content_, options), linked);
}

// Blocks of gzip, zlib and raw DEFLATE are parts of one stream, and are verified as such; blocks of BGZF are
// verified alone.
TEST_F_WITH_THREADS(FakeBackendTest, PartsOfStreamsAreVerifiedWhereTheyWereMade) {
  for (const Format format : {Format::kGzip, Format::kZlib, Format::kDeflate, Format::kBgzf}) {
    CompressOptions options;
    options.format = format;
    options.level = 1;
    options.content_bytes = content_.size();
    const Bytes expected = compress(content_, options);
    options.verify = true;
    options.backend = "fake";
    {
      const WithFake fake{FakePlan{}};
      EXPECT_EQ(compress(content_, options), expected);
    }
    FakePlan plan;
    plan.wrong_bytes_calls = {1};
    const WithFake fake(plan);
    MemorySource source(content_);
    CollectSink sink;
    const StreamReport report = compress_stream(source, sink, options);
    EXPECT_EQ(sink.content, expected);
    EXPECT_GE(report.fallback_blocks, 1u);
    EXPECT_EQ(report.fallback_reason, "a block did not restore to its content");
  }
}

// The backend restores blocks of BGZF, and wrong ones are redone. The processor restores an ordinary stream,
// and the report says so.
TEST_F_WITH_THREADS(FakeBackendTest, BlocksOfDeflateAreRestoredThereAndStreamsByTheProcessor) {
  for (const Format format : {Format::kBgzf, Format::kGzip}) {
    CompressOptions options;
    options.format = format;
    options.level = 1;
    const Bytes packed = compress(content_, options);
    FakePlan plan;
    plan.inner = "reference";
    if (format == Format::kBgzf) plan.failing_block_calls = {2};
    const WithFake fake(plan);
    RestoreOptions back;
    back.backend = "fake";
    MemorySource source(packed);
    CollectSink sink;
    const StreamReport report = restore_stream(source, sink, back);
    EXPECT_EQ(sink.content, content_);
    EXPECT_EQ(report.backend, "fake");
    EXPECT_EQ(report.fallback_blocks, 1u);
    EXPECT_EQ(report.fallback_backend, format == Format::kBgzf ? "reference" : "cpu");
  }
}

TEST_F_WITH_THREADS(FakeBackendTest, ADeviceThatFailsAgainIsDropped) {
  FakePlan plan;
  plan.failing_block_calls = {1, 3};
  WithFake fake(plan);
  CompressOptions options;
  options.backend = "fake";
  options.threads = 1;
  options.content_bytes = content_.size();
  MemorySource source(content_);
  CollectSink sink;
  const StreamReport report = compress_stream(source, sink, options);
  EXPECT_EQ(sink.content, expected_);
  EXPECT_TRUE(report.dropped);
  EXPECT_EQ(report.block_count, 23u + 1);              // no engine makes the last byte's
  EXPECT_EQ(report.fallback_blocks, 23u - 3 * 4 + 2);  // batches 4 to 6, and the two that failed
  Bytes packed;
  EXPECT_EQ(compress_with_fake(packed).fallback_blocks, 0u) << "another run begins anew";
}

// A block from another engine is verified too. If it is wrong, no engine is left.
TEST_F_WITH_THREADS(FakeBackendTest, ABlockThatNobodyMakesRightIsAnError) {
  FakePlan plan;
  for (std::uint64_t call = 1; call < 100; ++call) plan.wrong_bytes_calls.insert(call);
  class AloneBackend : public Backend {
   public:
    std::string_view name() const override { return "alone"; }
    std::string description(std::string_view) const override { return "tests only"; }
    std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
    bool chosen_by_auto() const override { return false; }
    std::string_view fallback_name() const override { return "alone"; }
    bool supports(Format, Direction) const override { return true; }
    std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
      return BackendRegistry::instance().find_usable("fake").make_engine({});
    }
  };
  static const bool registered = [] {
    BackendRegistry::instance().add(std::make_unique<AloneBackend>());
    return true;
  }();
  (void)registered;
  WithFake fake(plan);
  Bytes packed;
  EXPECT_EQ(status_of([&] { compress_with_fake(packed, "alone", true); }), Status::kInternal);
}

TEST_F_WITH_THREADS(FakeBackendTest, ALostDeviceIsFinishedElsewhereBothWays) {
  FakePlan plan;
  plan.lost_from_call = 3;
  {
    WithFake fake(plan);
    Bytes packed;
    const StreamReport report = compress_with_fake(packed);
    EXPECT_EQ(packed, expected_);
    EXPECT_GE(report.fallback_blocks, 12u);
    EXPECT_NE(report.fallback_reason.find("lost"), std::string::npos);
  }
  WithFake fake(plan);
  RestoreOptions options;
  options.backend = "fake";
  MemorySource source(expected_);
  CollectSink sink;
  const StreamReport report = restore_stream(source, sink, options);
  EXPECT_EQ(sink.content, content_);
  EXPECT_GT(report.fallback_blocks, 0u);
}

// Whether a batch was uploaded while another one was computed, which is the purpose of batches in flight.
bool overlaps(const TimeReport& times) {
  for (const StageInterval& upload : times.intervals)
    for (const StageInterval& kernel : times.intervals)
      if (upload.stage == Stage::kUpload && kernel.stage == Stage::kKernel && upload.batch != kernel.batch &&
          kernel.begin <= upload.begin && upload.end <= kernel.end)
        return true;
  return false;
}

TEST_F_WITH_THREADS(FakeBackendTest, TheTimeLineShowsOverlap) {
  FakePlan plan;
  plan.stage = std::chrono::milliseconds(20);
  WithFake fake(plan);
  CompressOptions options;
  options.backend = "fake";
  for (const unsigned threads : {1u, 3u}) {
    options.threads = threads;
    const auto timed = [&] {
      MemorySource source(content_);
      CollectSink sink;
      return compress_stream(source, sink, options).times;
    };
    TimeReport times = timed();
    // A busy machine may delay one thread or the other, but not every time.
    for (int again = 0; threads > 1 && again < 9 && !overlaps(times); ++again) times = timed();
    EXPECT_EQ(overlaps(times), threads > 1);
    EXPECT_EQ(times.bound_by(), Stage::kKernel) << times.text();
    for (const Stage stage : {Stage::kUpload, Stage::kKernel, Stage::kDownload}) {
      EXPECT_GE(times.of(stage).busy_seconds, 6 * 0.02) << stage_name(stage);
      EXPECT_LE(times.of(stage).wall_seconds, times.of(stage).busy_seconds + 1e-9);
      EXPECT_LE(times.of(stage).wall_seconds, times.wall_seconds);
      EXPECT_EQ(std::ranges::count(times.intervals, stage, &StageInterval::stage), 6) << stage_name(stage);
    }
    EXPECT_GT(times.of(Stage::kRead).busy_seconds, 0);
    EXPECT_GT(times.of(Stage::kWrite).busy_seconds, 0);
    EXPECT_GT(times.of(Stage::kStart).busy_seconds, 0);
  }
}

TEST_WITH_THREADS(Stream, SlowReadersAndWritersBindIt) {
  struct SlowSource : MemorySource {
    using MemorySource::MemorySource;
    std::size_t read(std::span<std::byte> into) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return MemorySource::read(into);
    }
  };
  struct SlowSink : CollectSink {
    void write(std::span<const std::byte> bytes) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      CollectSink::write(bytes);
    }
  };
  const Bytes content = mixed_bytes(1'500'000, 3), frame = compress(content);
  {
    SlowSource source(content), back(frame);
    CollectSink sink;
    EXPECT_EQ(compress_stream(source, sink, {}).times.bound_by(), Stage::kRead);
    EXPECT_EQ(restore_stream(back, sink, {}).times.bound_by(), Stage::kRead);
  }
  MemorySource source(content), back(frame);
  SlowSink sink;
  EXPECT_EQ(compress_stream(source, sink, {}).times.bound_by(), Stage::kWrite);
  EXPECT_EQ(restore_stream(back, sink, {}).times.bound_by(), Stage::kWrite);
}

TEST_F_WITH_THREADS(FakeBackendTest, ADevicesMemoryIsBounded) {
  FakePlan plan;
  plan.device_bytes_per_byte = 8;
  WithFake fake(plan);
  const std::uint64_t block = 8 * 256 * kKB;
  for (const std::uint64_t limit : {std::uint64_t{0}, 12 * block, 4 * block, block}) {
    CompressOptions options;
    options.backend = "fake";
    options.gpu_memory_limit_bytes = limit;
    options.content_bytes = content_.size();
    MemorySource source(content_);
    CollectSink sink;
    const StreamReport report = compress_stream(source, sink, options);
    EXPECT_EQ(sink.content, expected_);
    EXPECT_EQ(report.device_limit_bytes, limit == 0 ? 32 * kKB * kKB : limit);
    EXPECT_GT(report.planned_device_bytes, 0u);
    EXPECT_LE(report.planned_device_bytes, report.device_limit_bytes);

    RestoreOptions back;
    back.backend = "fake";
    back.gpu_memory_limit_bytes = limit;
    MemorySource frame(sink.content);
    CollectSink content;
    const StreamReport restored = restore_stream(frame, content, back);
    EXPECT_EQ(content.content, content_);
    EXPECT_EQ(restored.planned_device_bytes, report.planned_device_bytes);
  }
  CompressOptions options;
  options.backend = "fake";
  options.gpu_memory_limit_bytes = block - 1;
  EXPECT_EQ(status_of([&] { compress(content_, options); }), Status::kMemoryLimit);
}

TEST_F_WITH_THREADS(FakeBackendTest, FailingBlocksAreRestoredElsewhere) {
  FakePlan plan;
  plan.failing_block_calls = {2};
  WithFake fake(plan);
  RestoreOptions options;
  options.backend = "fake";
  MemorySource source(expected_);
  CollectSink sink;
  const StreamReport report = restore_stream(source, sink, options);
  EXPECT_EQ(sink.content, content_);
  EXPECT_EQ(report.fallback_blocks, 1u);
}

TEST_F_WITH_THREADS(FakeBackendTest, WrongBytesAreCaughtByTheContentChecksum) {
  CompressOptions with_checksum;
  with_checksum.content_checksum = true;
  const Bytes frame = compress(content_, with_checksum);
  FakePlan plan;
  plan.wrong_bytes_calls = {2};
  WithFake fake(plan);
  RestoreOptions options;
  options.backend = "fake";
  EXPECT_EQ(status_of([&] { restore(frame, options); }), Status::kContentChecksumMismatch);
}

TEST_F_WITH_THREADS(FakeBackendTest, DamagedDataIsNotBlamedOnTheDevice) {
  Bytes damaged = expected_;
  damaged[damaged.size() / 2] ^= std::byte{1};
  WithFake fake(FakePlan{});
  RestoreOptions options;
  options.backend = "fake";
  EXPECT_EQ(status_of([&] { restore(damaged, options); }), Status::kBlockChecksumMismatch);

  // Bytes that no decoder accepts, without a checksum that reveals them first: the first token needs more
  // literals than there are.
  damaged = expected_;
  const std::size_t first_block_at = 15 + 4;  // after a header with the size of the content, and a size word
  std::fill_n(damaged.begin() + first_block_at, 1000, std::byte{0xFF});
  options.verify_checksums = false;
  EXPECT_EQ(status_of([&] { restore(damaged, options); }), Status::kCorruptBlock);
}

// A stream that ends with an error does not report which blocks were redone, so this asks the engine.
TEST_F(FakeBackendTest, OnlyWhatAnotherEngineRestoresCountsAsRedone) {
  const Bytes broken(10, std::byte{0xFF}), text = wordy_bytes(1000);
  Bytes packed(1000), content(1000);
  BlockTask whole;
  whole.input = text;
  whole.output = packed;
  BackendRegistry::instance().find_usable("cpu").make_engine({})->compress({&whole, 1}, {});
  ASSERT_EQ(whole.status, Status::kOk);

  FakePlan plan;
  plan.failing_block_calls = {2};
  WithFake fake(plan);
  ResilientEngine engine("fake", {});
  const auto restore_one = [&](std::span<const std::byte> block) {
    BlockTask task;
    task.input = block;
    task.output = content;
    engine.restore({&task, 1}, Format::kLz4);
    StreamReport report;
    engine.report(report);
    return std::pair(task.status, report.fallback_blocks);
  };
  EXPECT_EQ(restore_one(broken), std::pair(Status::kCorruptBlock, std::uint64_t{0}));
  EXPECT_EQ(restore_one(std::span(packed).first(whole.output_bytes)),
            std::pair(Status::kOk, std::uint64_t{1}));
}

TEST_F_WITH_THREADS(FakeBackendTest, AutoTakesADeviceAndFallsBackToCpu) {
  FakePlan plan;
  plan.chosen_by_auto = true;
  plan.lost_from_call = 2;
  WithFake fake(plan);
  Bytes packed;
  const StreamReport report = compress_with_fake(packed, "auto");
  EXPECT_EQ(report.backend, "fake");
  EXPECT_EQ(report.fallback_backend, "cpu");
  EXPECT_EQ(packed, expected_);
}

TEST_F_WITH_THREADS(FakeBackendTest, AutoLeavesStreamsToTheProcessor) {
  FakePlan plan;
  plan.chosen_by_auto = true;
  WithFake fake(plan);
  for (const auto& [format, restores] : {std::pair(Format::kBgzf, "fake"), {Format::kGzip, "cpu"}}) {
    CompressOptions options;
    options.format = format;
    options.content_bytes = content_.size();
    MemorySource raw(content_);
    CollectSink packed;
    EXPECT_EQ(compress_stream(raw, packed, options).backend, "fake");
    MemorySource source(packed.content);
    CollectSink restored;
    EXPECT_EQ(restore_stream(source, restored, {}).backend, restores);
    EXPECT_EQ(restored.content, content_);
  }
}

TEST_F_WITH_THREADS(FakeBackendTest, AutoChoosesBySizeWhereItIsKnown) {
  FakePlan plan;
  plan.chosen_by_auto = true;
  WithFake fake(plan);
  Bytes packed;
  const StreamReport report = compress_with_fake(packed, "auto");
  EXPECT_EQ(report.backend, "fake");
  EXPECT_NE(report.choice_reason.find("fake"), std::string::npos);
  EXPECT_TRUE(compress_with_fake(packed).choice_reason.empty());

  const Bytes little = wordy_bytes(100000);
  PipeSource pipe(little);
  CollectSink sink;
  const StreamReport piped = compress_stream(pipe, sink, {});
  EXPECT_EQ(piped.backend, "cpu");
  EXPECT_EQ(piped.choice_reason, "size not known");

  MemorySource file(packed);
  CollectSink content;
  EXPECT_EQ(restore_stream(file, content, {}).backend, "fake");
  PipeSource headed(packed);  // its header states the size
  EXPECT_EQ(restore_stream(headed, content, {}).backend, "fake");
  CompressOptions linked;
  linked.linked_blocks = true;
  linked.content_bytes = content_.size();
  const Bytes chain = compress(content_, linked);
  MemorySource linked_file(chain);
  EXPECT_EQ(restore_stream(linked_file, content, {}).backend, "cpu");
}

TEST_F_WITH_THREADS(FakeBackendTest, ReproducibleTakesThoseThatWriteTheReferencesBytes) {
  FakePlan plan;
  plan.chosen_by_auto = true;
  Bytes packed, twin;
  {
    WithFake fake(plan);  // writes the bytes of cpu
    EXPECT_EQ(compress_with_fake(twin, "reproducible").backend, "reference");
  }
  plan.inner = "reference";
  WithFake fake(plan);
  EXPECT_EQ(compress_with_fake(packed, "reproducible").backend, "fake");
  EXPECT_EQ(packed, twin);
}

TEST_F_WITH_THREADS(FakeBackendTest, ADeviceThatDoesNotStartIsReplacedUnlessItWasAskedFor) {
  FakePlan plan;
  plan.chosen_by_auto = true;
  plan.starts = false;
  WithFake fake(plan);
  Bytes packed;
  EXPECT_EQ(status_of([&] { compress_with_fake(packed); }), Status::kDeviceFault);
  const StreamReport report = compress_with_fake(packed, "auto");
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_EQ(report.choice_reason.find("fake does not start"), 0u) << report.choice_reason;
  EXPECT_EQ(packed, expected_);
}

TEST_F_WITH_THREADS(FakeBackendTest, AnUnavailableOneIsNeverReplacedWhenAskedForByName) {
  FakePlan plan;
  plan.chosen_by_auto = true;
  plan.unavailable_reason = "no driver";
  WithFake fake(plan);
  Bytes packed;
  EXPECT_EQ(status_of([&] { compress_with_fake(packed); }), Status::kDeviceUnavailable);
  EXPECT_EQ(compress_with_fake(packed, "auto").backend, "cpu");
}

TEST_F_WITH_THREADS(FakeBackendTest, WithoutAnotherBackendADeviceErrorIsAnError) {
  FakePlan plan;
  plan.inner = "fake-of-nothing";
  WithFake fake(plan);
  Bytes packed;
  EXPECT_EQ(status_of([&] { compress_with_fake(packed); }), Status::kUnknownBackend);
}

// Returns its content (again and again if it is endless) until the fake backend has worked. In the middle, or
// once enough bytes came to try a device, it waits until the device has started.
class WaitingSource : public Source {
 public:
  WaitingSource(std::span<const std::byte> content, std::shared_ptr<FakeCounts> counts, bool is_endless)
      : content_(content),
        counts_(std::move(counts)),
        is_endless_(is_endless),
        wait_at_(is_endless ? 8 << 20 : content.size() / 2) {}

  std::size_t read(std::span<std::byte> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      if (at_ == content_.size()) {
        if (!is_endless_ || counts_->calls > 0 || times_ == kMostTimes) break;
        at_ = 0, ++times_;
      }
      const std::size_t bytes = std::min(into.size() - filled, content_.size() - at_);
      std::copy_n(content_.begin() + at_, bytes, into.begin() + filled);
      filled += bytes, at_ += bytes;
    }
    given_ += filled;
    while (given_ > wait_at_ && counts_->starts == 0) std::this_thread::yield();
    // The thread that starts the device then needs less time than this, in most reads even on a busy machine.
    if (counts_->starts > 0 && counts_->calls == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return filled;
  }
  std::optional<std::uint64_t> total_bytes() const override {
    return is_endless_ ? std::nullopt : std::optional<std::uint64_t>(content_.size());
  }
  std::size_t times() const { return times_; }

 private:
  static constexpr std::size_t kMostTimes = 1000;
  std::span<const std::byte> content_;
  std::shared_ptr<FakeCounts> counts_;
  bool is_endless_;
  const std::size_t wait_at_;
  std::size_t given_ = 0, at_ = 0, times_ = 1;
};

Bytes repeated(const Bytes& content, std::size_t times) {
  Bytes all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), content.begin(), content.end());
  return all;
}

// A device that takes a while to start. It writes the project's own bytes, which differ from cpu's.
FakePlan late_plan() {
  FakePlan plan;
  plan.inner = "reference";
  plan.start = std::chrono::milliseconds(5);
  plan.chosen_by_auto = true;
  plan.counts = std::make_shared<FakeCounts>();
  return plan;
}

struct LateForm {
  Format format;
  bool linked;
  unsigned threads;
};

TEST_F_WITH_THREADS(FakeBackendTest, ADeviceStartsBesideTheRun) {
  const Bytes once = mixed_bytes(2500000, 12);
  for (const LateForm form : {LateForm{Format::kLz4, false, 1},
                              {Format::kLz4, true, 3},
                              {Format::kGzip, false, 3},
                              {Format::kBgzf, false, 3}})
    for (const bool is_pipe : {false, true}) {
      SCOPED_TRACE(fmt::format("format {} linked {} pipe {}", int(form.format), form.linked, is_pipe));
      const unsigned threads = form.threads;
      CompressOptions options;
      options.format = form.format;
      options.level = 1;
      options.linked_blocks = form.linked;
      options.threads = threads;
      if (form.format == Format::kLz4) options.block_bytes = 64 * kKB;
      if (!is_pipe) options.content_bytes = once.size();
      Bytes packed;
      std::size_t times = 1;
      {
        FakePlan plan = late_plan();
        if (is_pipe) plan.inner = "cpu";  // done sooner
        WithFake fake(plan);
        WaitingSource source(once, plan.counts, is_pipe);
        CollectSink sink;
        const StreamReport report = compress_stream(source, sink, options);
        times = source.times();
        EXPECT_EQ(report.backend, "fake");
        EXPECT_EQ(report.fallback_blocks, 0u);
        EXPECT_NE(report.choice_reason.find("blocks by cpu until it started"), std::string::npos)
            << report.choice_reason;
        packed = sink.content;
      }
      const Bytes content = repeated(once, times);
      EXPECT_EQ(restore(packed), content);
      if (form.linked || form.format == Format::kGzip) continue;

      FakePlan plan = late_plan();
      if (is_pipe) plan.inner = "cpu";  // done sooner
      WithFake fake(plan);
      WaitingSource source(packed, plan.counts, is_pipe);
      CollectSink sink;
      RestoreOptions restoring;
      restoring.threads = threads;
      EXPECT_EQ(restore_stream(source, sink, restoring).backend, "fake");
      EXPECT_TRUE(sink.content == repeated(content, source.times()));
    }
}

// Pushes the data of a WaitingSource; returns how many times it returned its content.
template <class Stream>
std::size_t push_all(Stream& stream, WaitingSource source) {
  Bytes piece(100000);
  for (std::size_t bytes = piece.size(); bytes == piece.size();) {
    bytes = source.read(piece);
    stream.write(std::span(piece).first(bytes));
  }
  stream.finish();
  return source.times();
}

TEST_F_WITH_THREADS(FakeBackendTest, ADeviceStartsBesideAStreamThatIsPushed) {
  for (const LateForm form :
       {LateForm{Format::kLz4, false, 1}, {Format::kLz4, true, 3}, {Format::kBgzf, false, 1}})
    for (const bool is_pipe : {false, true}) {
      SCOPED_TRACE(fmt::format("format {} linked {} pipe {}", int(form.format), form.linked, is_pipe));
      const Bytes once = mixed_bytes(is_pipe ? 2500000 : 12000000, 12);  // several rounds of slots
      FakePlan plan = late_plan();
      plan.inner = "cpu";  // done sooner
      CompressOptions options;
      options.format = form.format;
      options.level = 1;
      options.linked_blocks = form.linked;
      options.threads = form.threads;
      if (form.format == Format::kLz4) options.block_bytes = 64 * kKB;
      if (!is_pipe) options.content_bytes = once.size();
      Bytes packed;
      std::size_t times = 1;
      {
        WithFake fake(plan);
        Compressor compressor(options, [&](std::span<const std::byte> bytes) {
          packed.insert(packed.end(), bytes.begin(), bytes.end());
        });
        times = push_all(compressor, WaitingSource(once, plan.counts, is_pipe));
        EXPECT_GT(plan.counts->calls, 0u);
      }
      const Bytes content = repeated(once, times);
      EXPECT_EQ(restore(packed), content);
      if (!is_pipe || form.linked) continue;

      plan.counts = std::make_shared<FakeCounts>();
      WithFake fake(plan);
      Bytes restored;
      RestoreOptions restoring;
      restoring.threads = form.threads;
      Decompressor decompressor(restoring, [&](std::span<const std::byte> bytes) {
        restored.insert(restored.end(), bytes.begin(), bytes.end());
      });
      times = push_all(decompressor, WaitingSource(packed, plan.counts, true));
      EXPECT_GT(plan.counts->calls, 0u);
      EXPECT_TRUE(restored == repeated(content, times));
    }
}

TEST_F_WITH_THREADS(FakeBackendTest, ReproducibleBytesStayThoseOfTheReferenceWhileADeviceStarts) {
  CompressOptions options;
  options.backend = "reproducible";
  options.block_bytes = 64 * kKB;
  const FakePlan plan = late_plan();
  WithFake fake(plan);
  WaitingSource source(content_, plan.counts, true);
  CollectSink sink;
  EXPECT_EQ(compress_stream(source, sink, options).backend, "fake");
  options.backend = "reference";
  const Bytes all = repeated(content_, source.times());
  PipeSource pipe(all);
  CollectSink twin;
  compress_stream(pipe, twin, options);
  EXPECT_TRUE(sink.content == twin.content);
}

TEST_F_WITH_THREADS(FakeBackendTest, ADeviceThatFailsToStartBesideTheRunIsReplacedAndTold) {
  FakePlan plan = late_plan();
  plan.starts = false;
  WithFake fake(plan);
  CompressOptions options;
  options.block_bytes = 64 * kKB;
  options.content_bytes = content_.size();
  WaitingSource source(content_, plan.counts, false);
  CollectSink sink;
  const StreamReport report = compress_stream(source, sink, options);
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_EQ(report.fallback_backend, "cpu");
  EXPECT_GT(report.fallback_blocks, 0u);
  EXPECT_EQ(report.fallback_reason.find("fake does not start: fake device: it does not start"), 0u)
      << report.fallback_reason;
  EXPECT_EQ(restore(sink.content), content_);
}

TEST_F_WITH_THREADS(FakeBackendTest, ADeviceWithoutRoomIsNotTaken) {
  FakePlan plan = late_plan();
  plan.device_bytes_per_byte = 3;
  WithFake fake(plan);
  CompressOptions options;
  options.gpu_memory_limit_bytes = 1000;
  options.content_bytes = content_.size();
  options.block_bytes = 64 * kKB;
  WaitingSource source(content_, plan.counts, false);
  CollectSink sink;
  const StreamReport report = compress_stream(source, sink, options);
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_EQ(report.choice_reason.find("fake is not used: "), 0u) << report.choice_reason;
  EXPECT_EQ(restore(sink.content), content_);
}

// A run that ends during the start: the library waits, since a driver must not outlive main(); the tool does
// not wait.
TEST_F_WITH_THREADS(FakeBackendTest, ShortRunsLeaveDevicesThatStillStart) {
  const Bytes content = wordy_bytes(10 * kKB);  // for less, no device is tried
  CompressOptions options;
  options.content_bytes = content.size();
  const Bytes expected = compress(content, options);
  FakePlan plan = late_plan();
  plan.start = std::chrono::milliseconds(20);
  WithFake fake(plan);
  const auto run = [&] {
    MemorySource source(content);
    CollectSink sink;
    const StreamReport report = compress_stream(source, sink, options);
    if (report.backend != "cpu") return false;  // on a busy machine, the device may have started first
    EXPECT_EQ(sink.content, expected);
    return true;
  };
  EXPECT_TRUE(run());
  EXPECT_EQ(plan.counts->starts, 1u);
  EXPECT_EQ(left_starts().count, 0u);

  let_starts_outlive_runs();
  int by_cpu = 0;
  constexpr int kRuns = 2000;
  for (int i = 0; i < kRuns; ++i) by_cpu += run();
  let_starts_outlive_runs(false);
  EXPECT_GT(by_cpu, kRuns / 2);
  EXPECT_GT(left_starts().count, 0u);
  while (left_starts().unfinished > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(plan.counts->starts, 1u + kRuns);
}

}  // namespace
}  // namespace hemstitch::testing
