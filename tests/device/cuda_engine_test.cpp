// The `cuda` engine, compared with the `reference` engine task by task; and whole frames, compared with
// liblz4 and every other backend in both directions.
#include "engine/cuda/cuda_engine.hpp"

#include <lz4.h>
#include <lz4hc.h>

#include <exception>
#include <thread>

#include "collect_sink.hpp"
#include "cuda_test.hpp"
#include "engine/reference/reference_backend.hpp"
#include "engine/registry.hpp"
#include "engine/several_engines.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "gpu/cuda/device_pool.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/pinned_pool.hpp"
#include "lz4f_oracle.hpp"
#include "pipeline/stream.hpp"
#include "restored_ranges.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

class CudaEngineTest : public EngineTest {};

// Tasks with rooms of their own, so that two engines can get the same tasks.
class TaskSet {
 public:
  void add(std::span<const std::byte> input, std::span<const std::byte> history, std::size_t room) {
    rooms_.emplace_back(room, std::byte{0xA5});
    tasks_.push_back({.input = input, .history = history, .output = {}});
  }
  std::vector<BlockTask>& tasks() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) tasks_[i].output = rooms_[i];
    return tasks_;
  }
  std::span<const std::byte> result(std::size_t i) const {
    return std::span(rooms_[i]).first(tasks_[i].output_bytes);
  }

 private:
  std::vector<Bytes> rooms_;
  std::vector<BlockTask> tasks_;
};

void expect_same(TaskSet& ours, TaskSet& theirs, const std::string& what) {
  for (std::size_t i = 0; i < theirs.tasks().size(); ++i) {
    ASSERT_EQ(ours.tasks()[i].status, theirs.tasks()[i].status)
        << what << ", task " << i << " of " << ours.tasks()[i].input.size() << " bytes";
    ASSERT_EQ(ours.tasks()[i].output_bytes, theirs.tasks()[i].output_bytes) << what << ", task " << i;
    const auto left = ours.result(i), right = theirs.result(i);
    const auto wrong = std::mismatch(left.begin(), left.end(), right.begin());
    ASSERT_EQ(wrong.first, left.end())
        << what << ", task " << i << ", byte " << wrong.first - left.begin() << ": "
        << static_cast<int>(*wrong.first) << ", should be " << static_cast<int>(*wrong.second);
  }
}

// Blocks of all kinds: neighbours, neighbours with the bytes before them as history, a dictionary, single
// bytes, and rooms of every size from none to too much.
TaskSet compress_tasks(const Bytes& text, const Bytes& noise, const Bytes& dictionary) {
  TaskSet set;
  const std::span<const std::byte> all(text);
  for (std::size_t i = 0; i < 6; ++i) set.add(all.subspan(i * 65'536, 65'536), {}, 65'535);
  for (std::size_t i = 1; i < 6; ++i)
    set.add(all.subspan(i * 65'536, 65'536),
            all.subspan(i * 65'536 - 65'536 / (i % 3 + 1), 65'536 / (i % 3 + 1)), 65'535);
  for (std::size_t i = 0; i < 5; ++i) set.add(all.subspan(i * 40'001, 40'001), dictionary, 40'000);
  for (const std::size_t bytes : {1, 2, 5, 12, 13, 14, 100, 4096, 300'000}) {
    set.add(all.first(bytes), {}, bytes - 1);
    set.add(all.subspan(777, bytes), {}, bytes + bytes / 255 + 16);
    set.add(std::span(noise).first(bytes), {}, bytes - 1);
    set.add(std::span(noise).first(bytes), {}, bytes + bytes / 255 + 16);
    set.add(all.first(bytes), {}, bytes / 3);
    set.add(all.first(bytes), {}, 0);
  }
  return set;
}

TEST_F(CudaEngineTest, CompressesAsTheReferenceDoes) {
  const Bytes text = wordy_bytes(400'000, 1), noise = random_bytes(300'000, 2),
              dictionary = wordy_bytes(70'000, 1);
  cuda::CudaEngine engine(cuda::open_device({}));
  const auto reference = make_reference_backend()->make_engine({});
  for (const int level : {1, 3, 6, 9, 12})
    for (const std::size_t block_bytes : {std::size_t{65'536}, std::size_t{4} << 20}) {
      const EncodeParameters parameters{.level = level, .block_bytes = block_bytes};
      TaskSet ours = compress_tasks(text, noise, dictionary),
              theirs = compress_tasks(text, noise, dictionary);
      engine.compress(ours.tasks(), parameters);
      reference->compress(theirs.tasks(), parameters);
      ASSERT_NO_FATAL_FAILURE(expect_same(ours, theirs, "level " + std::to_string(level)));
    }
}

TEST_F(CudaEngineTest, SeveralEnginesDoWhatOneDoes) {
  std::vector<std::unique_ptr<BlockEngine>> engines;
  for (cuda::Device* device : cuda::open_devices("all"))
    for (int twice = 0; twice < 2; ++twice) engines.push_back(std::make_unique<cuda::CudaEngine>(*device));
  SeveralEngines several(std::move(engines));
  const auto reference = make_reference_backend()->make_engine({});
  const EncodeParameters parameters{.level = 1, .block_bytes = 65'536};
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const Bytes text = wordy_bytes(400'000, seed), noise = random_bytes(300'000, seed),
                dictionary = wordy_bytes(70'000, seed);
    TaskSet ours = compress_tasks(text, noise, dictionary), theirs = compress_tasks(text, noise, dictionary);
    several.compress(ours.tasks(), parameters);
    reference->compress(theirs.tasks(), parameters);
    ASSERT_NO_FATAL_FAILURE(expect_same(ours, theirs, "seed " + std::to_string(seed)));
  }
  const Bytes whole = mixed_bytes(150'000'000, 9);
  CompressOptions options;
  options.backend = "cuda";
  const std::vector<std::byte> by_one = compress(whole, options);
  options.device = "all";
  ASSERT_EQ(compress(whole, options), by_one);
  RestoreOptions back;
  back.backend = "cuda";
  back.device = "all";
  ASSERT_EQ(restore(by_one, back), whole);
}

Bytes lz4_block(std::span<const std::byte> raw, std::span<const std::byte> history, int level) {
  Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  LZ4_streamHC_t* const stream = LZ4_createStreamHC();
  LZ4_resetStreamHC_fast(stream, level);
  LZ4_loadDictHC(stream, reinterpret_cast<const char*>(history.data()), static_cast<int>(history.size()));
  block.resize(static_cast<std::size_t>(LZ4_compress_HC_continue(
      stream, reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(block.data()),
      static_cast<int>(raw.size()), static_cast<int>(block.size()))));
  LZ4_freeStreamHC(stream);
  return block;
}

TEST_F(CudaEngineTest, RestoresAsTheReferenceDoes) {
  const Bytes text = mixed_bytes(3'000'000, 3), dictionary = wordy_bytes(70'000, 1);
  const std::span<const std::byte> all(text);
  struct Sample {
    Bytes block;
    std::span<const std::byte> history;
    std::size_t raw_bytes;
  };
  std::vector<Sample> samples;
  for (const std::size_t bytes : {0, 1, 13, 100, 4096, 65'536, 300'000, 2'000'000})
    for (const int history : {0, 1, 2}) {
      const std::span<const std::byte> before = history == 0   ? std::span<const std::byte>()
                                                : history == 1 ? std::span(dictionary).last(65'536)
                                                               : all.subspan(100'000, 50'000);
      samples.push_back({lz4_block(all.subspan(150'000, bytes), before, 9), before, bytes});
    }
  std::vector<Bytes> damaged;
  const auto add_tasks = [&](TaskSet& set) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples[i];
      const std::span<const std::byte> block(sample.block);
      set.add(block, sample.history, sample.raw_bytes);
      set.add(block, sample.history, sample.raw_bytes + 1000);
      if (sample.raw_bytes > 0) set.add(block, sample.history, sample.raw_bytes - 1);
      set.add(block, {}, sample.raw_bytes);  // without the history that it needs
      set.add(block.first(block.size() / 2), sample.history, sample.raw_bytes);
      set.add(damaged[i], sample.history, sample.raw_bytes);
    }
    set.add({}, {}, 100);
  };
  for (std::size_t i = 0; i < samples.size(); ++i) {
    damaged.push_back(samples[i].block);
    damaged.back()[damaged.back().size() / 3] ^= std::byte{0x55};
  }
  TaskSet ours, theirs;
  add_tasks(ours);
  add_tasks(theirs);
  cuda::CudaEngine engine(cuda::open_device({}));
  engine.restore(ours.tasks(), Format::kLz4);
  make_reference_backend()->make_engine({})->restore(theirs.tasks(), Format::kLz4);
  ASSERT_NO_FATAL_FAILURE(expect_same(ours, theirs, "restoring"));
}

// Whole streams of DEFLATE, with and without the history that they need: valid, cut off, damaged, and
// followed by more.
TEST_F(CudaEngineTest, RestoresDeflateAsTheReferenceDoes) {
  const Bytes text = mixed_bytes(1'000'000, 3);
  const std::span<const std::byte> all(text);
  const auto reference = make_reference_backend()->make_engine({});
  std::vector<Bytes> blocks;
  std::vector<std::span<const std::byte>> histories;
  std::vector<std::size_t> sizes;
  for (const std::size_t bytes : {0, 1, 100, 4096, 65'280, 65'536, 300'000})
    for (const std::size_t history : {0, 20'000, 32'768, 65'536}) {
      TaskSet made;
      made.add(all.subspan(100'000, bytes), all.subspan(100'000 - history, history),
               deflate_data_room(bytes));
      reference->compress(made.tasks(), {.format = Format::kBgzf, .level = 6, .block_bytes = 1 << 20});
      ASSERT_EQ(made.tasks()[0].status, Status::kOk);
      const Bytes block(made.result(0).begin(), made.result(0).end());
      Bytes damaged = block, longer = block;
      damaged[damaged.size() / 3] ^= std::byte{0x55};
      longer.push_back(std::byte{0});
      for (const Bytes& one :
           {block, Bytes(block.begin(), block.begin() + std::ssize(block) / 2), damaged, longer})
        for (const bool with_history : {true, false}) {
          blocks.push_back(one);
          histories.push_back(with_history ? made.tasks()[0].history : std::span<const std::byte>());
          sizes.push_back(bytes);
        }
    }
  TaskSet ours, theirs;
  for (TaskSet* const set : {&ours, &theirs})
    for (std::size_t i = 0; i < blocks.size(); ++i)
      for (const std::size_t room : {sizes[i], sizes[i] + 1000, sizes[i] - (sizes[i] == 0 ? 0 : 1)})
        set->add(blocks[i], histories[i], room);
  cuda::CudaEngine engine(cuda::open_device({}));
  engine.restore(ours.tasks(), Format::kGzip);
  reference->restore(theirs.tasks(), Format::kGzip);
  std::size_t sound = 0;
  for (std::size_t i = 0; i < theirs.tasks().size(); ++i) {
    ASSERT_EQ(ours.tasks()[i].status, theirs.tasks()[i].status) << i;
    if (ours.tasks()[i].status != Status::kOk) continue;
    ASSERT_TRUE(std::ranges::equal(ours.result(i), theirs.result(i))) << i;
    ++sound;
  }
  EXPECT_GT(sound, 50u);
}

// BGZF block by block, and a part of it. The engine's decoder restores streams that are as short as these on
// the processor. Every format is verified by the engine that made it.
TEST_F(CudaEngineTest, FramesOfDeflateGoRound) {
  const Bytes text = mixed_bytes(3'000'000, 8);
  for (const Format format : {Format::kBgzf, Format::kGzip, Format::kZlib, Format::kDeflate}) {
    CompressOptions options;
    options.format = format;
    options.backend = "reference";
    const Bytes expected = compress(text, options);
    options.backend = "cuda";
    options.verify = true;
    MemorySource content(text);
    CollectSink packed;
    EXPECT_EQ(compress_stream(content, packed, options).fallback_blocks, 0u);
    ASSERT_TRUE(packed.content == expected) << static_cast<int>(format);
    RestoreOptions back;
    back.backend = "cuda";
    if (format == Format::kZlib || format == Format::kDeflate) back.format = format;
    MemorySource source(expected);
    CollectSink sink;
    const StreamReport report = restore_stream(source, sink, back);
    EXPECT_TRUE(sink.content == text) << static_cast<int>(format);
    EXPECT_EQ(report.backend, "cuda");
    EXPECT_EQ(report.fallback_blocks, 0u) << report.fallback_reason;
    if (format != Format::kBgzf) continue;
    for (int turn = 0; turn < 20; ++turn) {
      Bytes damaged = expected;
      damaged[100 + static_cast<std::size_t>(turn) * 10'007 % (expected.size() - 100)] ^= std::byte{0x11};
      const auto outcome = [&](const char* backend) {
        RestoreOptions by;
        by.backend = backend;
        try {
          return std::string(restore(damaged, by) == text ? "right" : "other bytes");
        } catch (const Error& error) {
          return std::string(error.what());
        }
      };
      EXPECT_EQ(outcome("cuda"), outcome("cpu")) << turn;
    }
  }
}

TEST_F(CudaEngineTest, ManyRangesAreThoseOfTheContent) {
  testing::expect_ranges_of_content("cuda", 20'000'000, 70'001);
}

TEST_F(CudaEngineTest, NothingToDoIsDone) {
  cuda::CudaEngine engine(cuda::open_device({}));
  engine.compress({}, {});
  engine.restore({}, Format::kLz4);
}

TEST_F(CudaEngineTest, ManyThreadsShareItsSlots) {
  const Bytes text = mixed_bytes(4'000'000, 5);
  cuda::CudaEngine engine(cuda::open_device({}));
  const auto round_trip = [&](std::size_t turn) {
    TaskSet set, back;
    for (std::size_t at = turn * 1000; at + 65'536 <= text.size(); at += 65'536)
      set.add(std::span(text).subspan(at, 65'536), {}, 65'535);
    engine.compress(set.tasks(), {.level = 1, .block_bytes = 65'536});
    std::vector<std::size_t> compressed;
    for (std::size_t i = 0; i < set.tasks().size(); ++i) {
      if (set.tasks()[i].status == Status::kOutputTooSmall) continue;
      if (set.tasks()[i].status != Status::kOk) return false;
      compressed.push_back(i);
      back.add(set.result(i), {}, 65'536);
    }
    engine.restore(back.tasks(), Format::kLz4);
    for (std::size_t i = 0; i < compressed.size(); ++i)
      if (back.tasks()[i].status != Status::kOk ||
          !std::ranges::equal(back.result(i), set.tasks()[compressed[i]].input))
        return false;
    return !compressed.empty();
  };
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::size_t thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      try {
        for (std::size_t turn = 0; turn < 5; ++turn)
          if (!round_trip(thread * 5 + turn)) wrong++;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaEngineTest, WhereMemoryRunsOutBatchesAreHalved) {
  const Bytes text = wordy_bytes(2'000'000, 6), dictionary;
  const EncodeParameters parameters{.level = 6, .block_bytes = 65'536};
  const auto fill = [&](TaskSet& set) {
    for (std::size_t at = 0; at + 65'536 <= text.size(); at += 65'536)
      set.add(std::span(text).subspan(at, 65'536), {}, 65'535);
  };
  TaskSet theirs;
  fill(theirs);
  make_reference_backend()->make_engine({})->compress(theirs.tasks(), parameters);
  for (const bool pinned : {false, true}) {
    // Enough memory for some blocks, but not for thirty.
    cuda::Device::Limits limits;
    (pinned ? limits.pinned_bytes : limits.memory_bytes) = pinned ? 1 << 20 : 16 << 20;
    cuda::Device device(cuda::open_device({}).facts(), limits);
    cuda::CudaEngine engine(device);
    for (int run = 0; run < 2; ++run) {
      TaskSet ours;
      fill(ours);
      engine.compress(ours.tasks(), parameters);
      ASSERT_NO_FATAL_FAILURE(expect_same(ours, theirs, pinned ? "pinned" : "device"));
    }
  }
}

TEST_F(CudaEngineTest, WithoutMemoryForOneBlockItSaysSoAndGoesOn) {
  const Bytes text = wordy_bytes(1'000'000, 7);
  cuda::Device device(cuda::open_device({}).facts(), {.memory_bytes = 4 << 20});
  cuda::CudaEngine engine(device);
  TaskSet large, small;
  large.add(text, {}, text.size() - 1);
  small.add(std::span(text).first(10'000), {}, 9'999);
  const EncodeParameters parameters{.level = 12, .block_bytes = std::size_t{1} << 20};
  try {
    engine.compress(large.tasks(), parameters);
    FAIL() << "compressed in less memory than it says it needs";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kDeviceOutOfMemory) << error.what();
  }
  engine.compress(small.tasks(), parameters);
  EXPECT_EQ(small.tasks()[0].status, Status::kOk);
}

// ---- Whole frames ----

std::vector<CompressOptions> frame_options(const Bytes& dictionary) {
  std::vector<CompressOptions> all;
  for (const std::size_t block_bytes : {64 << 10, 256 << 10, 1 << 20, 4 << 20})
    for (const bool linked_blocks : {false, true})
      for (const bool with_dictionary : {false, true}) {
        CompressOptions options;
        options.block_bytes = block_bytes;
        options.linked_blocks = linked_blocks;
        options.content_checksum = with_dictionary != linked_blocks;
        options.level = linked_blocks ? 3 : 1;
        if (with_dictionary) options.dictionary = dictionary;
        all.push_back(options);
      }
  return all;
}

TEST_F(CudaEngineTest, FramesAreThoseOfTheReferenceAndEveryBackendReadsThem) {
  const Bytes text = mixed_bytes(3'000'000, 8), dictionary = wordy_bytes(70'000, 9);
  for (CompressOptions options : frame_options(dictionary)) {
    const std::string what = std::to_string(options.block_bytes) + (options.linked_blocks ? " linked" : "") +
                             (options.dictionary.empty() ? "" : " dictionary");
    options.backend = "reference";
    const Bytes expected = compress(text, options);
    options.backend = "cuda";
    ASSERT_TRUE(compress(text, options) == expected) << what;
    options.backend = "cpu";
    const Bytes from_cpu = compress(text, options);
    RestoreOptions restore_options;
    restore_options.dictionary = options.dictionary;
    for (const char* reader : {"cuda", "cpu", "reference"}) {
      restore_options.backend = reader;
      EXPECT_TRUE(restore(expected, restore_options) == text) << what << " by " << reader;
      EXPECT_TRUE(restore(from_cpu, restore_options) == text) << what << " from cpu by " << reader;
    }
    if (options.dictionary.empty()) {
      EXPECT_EQ(lz4f_restore(expected), text) << what;
    }
  }
}

TEST_F(CudaEngineTest, FramesOfLiblz4AreRestored) {
  const Bytes text = mixed_bytes(5'000'000, 10);
  RestoreOptions options;
  options.backend = "cuda";
  for (const int level : {1, 9, 12})
    for (const LZ4F_blockSizeID_t block_size : {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB})
      for (const LZ4F_blockMode_t mode : {LZ4F_blockLinked, LZ4F_blockIndependent}) {
        if (mode == LZ4F_blockLinked && level == 9) continue;  // one block after the other is slow
        LZ4F_preferences_t preferences{};
        preferences.compressionLevel = level;
        preferences.frameInfo.blockSizeID = block_size;
        preferences.frameInfo.blockMode = mode;
        preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
        preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
        EXPECT_TRUE(restore(lz4f_compress(text, preferences), options) == text)
            << "level " << level << ", block size " << block_size << ", mode " << mode;
      }
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  EXPECT_TRUE(restore(lz4f_compress_flushed(text, 12'345, preferences), options) == text);
}

TEST_F(CudaEngineTest, MemoryIsBoundedAndTheBytesAreTheSame) {
  const Bytes text = mixed_bytes(6'000'000, 12);
  CompressOptions options;
  options.backend = "cuda";
  options.block_bytes = 64 << 10;
  const Bytes expected = compress(text, options);
  RestoreOptions restore_options;
  restore_options.backend = "cuda";
  for (const std::uint64_t limit : {4 << 20, 40 << 20}) {
    options.memory_limit_bytes = restore_options.memory_limit_bytes = limit;
    testing::CollectSink frame, content;
    options.content_bytes = text.size();
    MemorySource source(text);
    const StreamReport compressed = compress_stream(source, frame, options);
    EXPECT_LE(compressed.planned_bytes, limit);
    EXPECT_EQ(compressed.fallback_blocks, 0u) << compressed.fallback_reason;
    EXPECT_TRUE(frame.content == expected) << limit;
    MemorySource back(frame.content);
    const StreamReport restored = restore_stream(back, content, restore_options);
    EXPECT_LE(restored.planned_bytes, limit);
    EXPECT_EQ(restored.fallback_blocks, 0u) << restored.fallback_reason;
    EXPECT_TRUE(content.content == text) << limit;
  }
}

TEST_F(CudaEngineTest, DeviceMemoryIsBoundedAndTheBytesAreTheSame) {
  const Bytes text = mixed_bytes(30'000'000, 13);
  CompressOptions options;
  options.backend = "cuda";
  options.block_bytes = 256 << 10;
  options.verify = true;
  options.content_bytes = text.size();
  const Bytes expected = compress(text, options);
  for (const std::uint64_t limit : {std::uint64_t{64} << 20, std::uint64_t{1} << 30}) {
    options.gpu_memory_limit_bytes = limit;
    testing::CollectSink frame, content;
    MemorySource source(text);
    const StreamReport compressed = compress_stream(source, frame, options);
    EXPECT_GT(compressed.planned_device_bytes, 0u);
    EXPECT_LE(compressed.planned_device_bytes, limit);
    EXPECT_EQ(compressed.fallback_blocks, 0u) << compressed.fallback_reason;
    EXPECT_TRUE(frame.content == expected) << limit;
    RestoreOptions back;
    back.backend = "cuda";
    back.gpu_memory_limit_bytes = limit;
    MemorySource packed(frame.content);
    const StreamReport restored = restore_stream(packed, content, back);
    EXPECT_LE(restored.planned_device_bytes, limit);
    EXPECT_TRUE(content.content == text) << limit;
  }
  options.gpu_memory_limit_bytes = 100'000;
  try {
    compress(text, options);
    FAIL() << "compressed in less memory than a block needs";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kMemoryLimit) << error.what();
  }
}

// According to the device's own clock.
TEST_F(CudaEngineTest, ABatchIsUploadedWhileAnotherIsComputed) {
  const Bytes text = mixed_bytes(400'000'000, 14);
  CompressOptions options;
  options.backend = "cuda";
  options.level = 9;  // kernels then take longer than uploads
  options.threads = 8;
  MemorySource source(text);
  NullSink sink;
  const TimeReport times = compress_stream(source, sink, options).times;
  bool overlap = false;
  for (const StageInterval& upload : times.intervals)
    for (const StageInterval& kernel : times.intervals)
      overlap |= upload.stage == Stage::kUpload && kernel.stage == Stage::kKernel &&
                 upload.batch != kernel.batch && kernel.begin <= upload.begin && upload.end <= kernel.end;
  EXPECT_TRUE(overlap) << times.text();
  for (const Stage stage : {Stage::kUpload, Stage::kKernel, Stage::kDownload}) {
    EXPECT_GT(times.of(stage).wall_seconds, 0) << stage_name(stage);
    EXPECT_LE(times.of(stage).wall_seconds, times.wall_seconds) << stage_name(stage);
  }
}

TEST_F(CudaEngineTest, DamageIsReportedAsByTheOtherBackends) {
  const Bytes text = wordy_bytes(1'000'000, 11);
  CompressOptions options;
  options.block_bytes = 64 << 10;
  options.block_checksums = false;
  Bytes frame = compress(text, options);
  std::mt19937 random(1);
  for (int turn = 0; turn < 40; ++turn) {
    Bytes damaged = frame;
    damaged[100 + random() % (frame.size() - 100)] ^= static_cast<std::byte>(1 + random() % 255);
    const auto outcome = [&](const char* backend) {
      RestoreOptions restore_options;
      restore_options.backend = backend;
      try {
        const Bytes content = restore(damaged, restore_options);
        return std::string(content == text ? "right" : "other bytes");
      } catch (const Error& error) {
        return std::string(error.what());
      }
    };
    EXPECT_EQ(outcome("cuda"), outcome("reference")) << turn;
  }
}

TEST_F(CudaEngineTest, RealFilesGoRound) {
  const auto folder = corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  for (const char* name : {"dickens", "nci", "x-ray"}) {
    const Bytes text = read_file(*folder / "silesia" / name, 8 << 20);
    for (const int level : {1, 3, 12}) {
      CompressOptions options;
      options.level = level;
      options.backend = "cuda";
      const Bytes frame = compress(text, options);
      EXPECT_EQ(lz4f_restore(frame), text) << name;
      RestoreOptions restore_options;
      restore_options.backend = "cuda";
      EXPECT_TRUE(restore(frame, restore_options) == text) << name;
    }
  }
}

TEST_F(CudaEngineTest, ItsBackendIsUsable) {
  const Backend& backend = BackendRegistry::instance().find_usable("cuda");
  EXPECT_EQ(backend.fallback_name(), "reference");
  EXPECT_FALSE(backend.unavailable_reason({}).has_value());
}

}  // namespace
}  // namespace hemstitch
