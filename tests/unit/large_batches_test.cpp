// Batches of many megabytes in the engine's memory, as for a device: many threads read and write them, and
// the engine moves their outputs together. Here the engine runs on the processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backend_of.hpp"
#include "core/parallel.hpp"
#include "engine/registry.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

using namespace testing;

std::atomic<int> buffers_made{0}, moved_blocks{0};
std::atomic<bool> fails{false}, is_wrong{false};
std::atomic<std::size_t> batch_bytes{std::size_t{8} << 20};

class LargeBatchEngine : public BlockEngine {
 public:
  LargeBatchEngine() : inner_(BackendRegistry::instance().find_usable("cpu").make_engine({})) {}
  std::size_t preferred_batch_bytes() const override { return batch_bytes; }
  unsigned preferred_batches_in_flight(unsigned threads) const override { return threads == 1 ? 1 : 3; }
  LargeBuffer make_buffer(std::size_t bytes) const override {
    ++buffers_made;
    return LargeBuffer(std::shared_ptr<std::byte>(new std::byte[bytes], std::default_delete<std::byte[]>()));
  }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    inner_->compress(tasks, parameters);
    if (!parameters.movable_outputs) return;
    if (fails) {  // by then, the outputs may be anywhere
      for (BlockTask& task : tasks) task.output = {tasks[0].output.data(), task.output.size()};
      throw Error(Status::kDeviceFault, "injected");
    }
    std::byte* at = tasks[0].output.data();
    for (BlockTask& task : tasks) {
      EXPECT_EQ(task.output.size(), task.input.size() - 1);
      if (at != task.output.data()) ++moved_blocks;
      const bool stored = task.status == Status::kOutputTooSmall;
      if (!stored) std::memmove(at, task.output.data(), task.output_bytes);
      task.output = {at, task.output.size()};
      if (!stored && is_wrong.exchange(false)) at[task.output_bytes / 2] ^= std::byte{0x40};
      at += (stored ? task.input.size() : task.output_bytes) + parameters.behind_block_bytes +
            parameters.before_block_bytes;
    }
  }
  void restore(std::span<BlockTask> tasks, Format format) override { inner_->restore(tasks, format); }

 private:
  std::unique_ptr<BlockEngine> inner_;
};

class CountingSink : public Sink {
 public:
  void write(std::span<const std::byte> piece) override {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  void write_in_parallel(std::span<const std::byte> piece) override {
    const std::size_t at = bytes.size();
    bytes.resize(at + piece.size());
    copy_in_parallel(bytes.data() + at, piece.data(), piece.size());
    ++parallel_writes;
  }
  Bytes bytes;
  int parallel_writes = 0;
};

// Returns other bytes, or fewer, once it is read in large pieces.
class ChangingSource : public MemorySource {
 public:
  ChangingSource(std::span<const std::byte> seen, std::span<const std::byte> later)
      : MemorySource(seen), later_(later) {}
  std::size_t read_in_parallel(std::span<std::byte> into) override { return read(into); }
  std::size_t read(std::span<std::byte> into) override {
    changed_ = changed_ || into.size() > kBlockBytes;
    std::size_t bytes = MemorySource::read(into);
    if (changed_) {
      const std::span<const std::byte> rest = later_.subspan(std::min(at_, later_.size()));
      bytes = std::min(bytes, rest.size());
      std::ranges::copy(rest.first(bytes), into.begin());
    }
    at_ += bytes;
    return bytes;
  }
  bool seek(std::uint64_t position) override {
    at_ = position;
    return MemorySource::seek(position);
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{64} << 10;  // as in the frames

  std::span<const std::byte> later_;
  std::size_t at_ = 0;
  bool changed_ = false;
};

class LargeBatches : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    BackendRegistry::instance().add(std::make_unique<BackendOf<LargeBatchEngine>>("large-batches"));
  }

  // Its parts repeat, farther apart than a match reaches, since so much new content would take long to make.
  static Bytes content() {
    const Bytes words = wordy_bytes(3'000'000);
    Bytes bytes;
    while (bytes.size() < 30'000'000) bytes.insert(bytes.end(), words.begin(), words.end());
    const Bytes noise = periodic_bytes(13'000'000, 1'000'003);  // some blocks are stored
    std::ranges::copy(noise, bytes.begin() + 14'000'000);
    return bytes;
  }
  static CompressOptions writing(std::string backend, std::size_t block_bytes) {
    CompressOptions options;
    options.backend = std::move(backend);
    options.block_bytes = block_bytes;
    options.threads = 4;
    return options;
  }
  static Bytes written(std::span<const std::byte> content, const CompressOptions& options) {
    MemorySource source(content);
    CountingSink sink;
    compress_stream(source, sink, options);
    return std::move(sink.bytes);
  }
  static RestoreOptions reading(std::string backend = "large-batches") {
    RestoreOptions options;
    options.backend = std::move(backend);
    options.threads = 4;
    return options;
  }
};

TEST_F_WITH_THREADS(LargeBatches, WriteTheBytesOfSmallOnes) {
  const Bytes text = content();
  for (const bool small_blocks : {false, true}) {
    const std::size_t block_bytes = small_blocks ? std::size_t{64} << 10 : std::size_t{4} << 20;
    CompressOptions options = writing("cpu", block_bytes);
    options.block_checksums = small_blocks;
    const Bytes frame = written(text, options);
    options.backend = "large-batches";
    moved_blocks = buffers_made = 0;
    EXPECT_EQ(written(text, options), frame) << block_bytes;
    EXPECT_GT(moved_blocks, 0);
    EXPECT_EQ(buffers_made, 6) << "each slot has its input and its output";

    MemorySource source(frame);
    CountingSink sink;
    const StreamReport report = restore_stream(source, sink, reading());
    EXPECT_EQ(sink.bytes, text);
    EXPECT_GT(sink.parallel_writes, 0);
    EXPECT_EQ(report.input_bytes, frame.size());
  }
}

TEST_F_WITH_THREADS(LargeBatches, ABatchThatFailedWhileItWasMovedIsRedone) {
  const Bytes text = content();
  CompressOptions options = writing("cpu", 64 << 10);
  const Bytes frame = written(text, options);
  options.backend = "large-batches";
  fails = true;
  const Bytes redone = written(text, options);
  fails = false;
  EXPECT_EQ(redone, frame);
}

TEST_F_WITH_THREADS(LargeBatches, ABatchThatWasMovedIsRedoneWhereABlockIsWrong) {
  const Bytes text = content();
  CompressOptions options = writing("cpu", 64 << 10);
  const Bytes frame = written(text, options);
  options.backend = "large-batches";
  options.verify = true;
  for (const bool wrong : {false, true}) {
    is_wrong = wrong;
    MemorySource source(text);
    CountingSink sink;
    const StreamReport report = compress_stream(source, sink, options);
    EXPECT_EQ(sink.bytes, frame);
    EXPECT_EQ(report.fallback_blocks, wrong ? 128u : 0u);
  }
}

TEST_F_WITH_THREADS(LargeBatches, ManyFramesAndWhatFollowsThem) {
  const Bytes text = content();
  Bytes frames = written(text, writing("cpu", 256 << 10));
  const Bytes small = written(std::span(text).first(100'000), writing("cpu", 64 << 10));
  frames.insert(frames.end(), small.begin(), small.end());
  frames.insert(frames.end(), 7, std::byte{1});
  MemorySource source(frames);
  CountingSink sink;
  const StreamReport report = restore_stream(source, sink, reading());
  Bytes both = text;
  both.insert(both.end(), text.begin(), text.begin() + 100'000);
  EXPECT_EQ(sink.bytes, both);
  EXPECT_EQ(report.frame_count, 2u);
  EXPECT_EQ(report.trailing_garbage_at, frames.size() - 7);
}

TEST_F_WITH_THREADS(LargeBatches, DamageIsToldAsInSmallOnes) {
  const Bytes text = content();
  CompressOptions options = writing("cpu", 64 << 10);
  options.block_checksums = true;
  const Bytes frame = written(text, options);
  const auto outcome = [](std::span<const std::byte> damaged, const RestoreOptions& how) {
    MemorySource source(damaged);
    CountingSink sink;
    std::string said = "restored";
    try {
      restore_stream(source, sink, how);
    } catch (const Error& error) {
      said = error.what();
    }
    return std::pair{said, std::move(sink.bytes)};
  };
  for (const std::size_t at : {std::size_t{15}, frame.size() / 3, frame.size() / 2, frame.size() - 6}) {
    Bytes damaged = frame;
    damaged[at] ^= std::byte{0x40};
    EXPECT_EQ(outcome(damaged, reading()), outcome(damaged, reading("cpu"))) << at;
    const auto truncated = std::span(frame).first(at);
    EXPECT_EQ(outcome(truncated, reading()), outcome(truncated, reading("cpu"))) << at;
  }
}

// The file is not what was seen ahead: it ends early, or has other blocks.
TEST_F_WITH_THREADS(LargeBatches, ASourceThatChangesIsReadAsItIsThen) {
  const Bytes text = content();
  const Bytes frame = written(text, writing("cpu", 64 << 10));
  for (const std::size_t bytes : {std::size_t{20}, frame.size() / 3, frame.size() - 4}) {
    ChangingSource source(frame, std::span(frame).first(bytes));
    CountingSink sink;
    EXPECT_THROW(restore_stream(source, sink, reading()), Error) << bytes;
    EXPECT_TRUE(std::ranges::equal(sink.bytes, std::span(text).first(sink.bytes.size())));
  }
  const Bytes noise = periodic_bytes(30'000'000, 1'000'003);
  const Bytes stored = written(noise, writing("cpu", 64 << 10)), zeros(frame.size());
  const Bytes much = written(Bytes(30'000'000), writing("cpu", 64 << 10));
  for (const Bytes& other : {stored, much, zeros}) {  // fewer blocks, more, and none
    ChangingSource source(frame, other);
    CountingSink sink;
    try {
      restore_stream(source, sink, reading());
    } catch (const Error& error) {
      const StatusFamily family = status_family(error.status());
      EXPECT_TRUE(family == StatusFamily::kFormat || family == StatusFamily::kCorrupt) << error.what();
    }
  }
}

class CountingSource : public MemorySource {
 public:
  using MemorySource::MemorySource;
  std::size_t read_in_parallel(std::span<std::byte> into) override {
    ++parallel_reads;
    return read(into);
  }
  int parallel_reads = 0;
};

// Members are read ahead from any place of the reader, even after a header that it has taken.
TEST_F_WITH_THREADS(LargeBatches, BgzfIsReadInLargePieces) {
  const Bytes noise = random_bytes(20'000'000), words = wordy_bytes(1'000'000);
  // Blocks are a little smaller than their rooms, and what is read ahead must be a large piece.
  batch_bytes = std::size_t{9} << 20;
  CompressOptions options = writing("cpu", 0);
  options.level = 1;
  options.format = Format::kBgzf;
  const Bytes large = written(noise, options), small = written(words, options);
  options.format = Format::kGzip;
  const Bytes stream = written(words, options);
  const Bytes cut(large.begin(), large.end() - 28);  // without its end marker
  for (const auto& [file, content] :
       {std::pair(large, noise), std::pair(large + large + small, noise + noise + words),
        std::pair(stream + large + stream, words + noise + words), std::pair(cut + stream, noise + words),
        std::pair(cut + large + Bytes(100), noise + noise)}) {
    RestoreOptions back;
    back.backend = "large-batches";
    back.threads = 4;
    CountingSource source(file);
    CountingSink sink;
    EXPECT_FALSE(restore_stream(source, sink, back).trailing_garbage_at);
    EXPECT_TRUE(sink.bytes == content);
    EXPECT_GE(source.parallel_reads, 1);
  }
  batch_bytes = std::size_t{8} << 20;
}

}  // namespace
}  // namespace hemstitch
