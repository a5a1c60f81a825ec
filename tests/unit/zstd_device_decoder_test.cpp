// One frame of Zstandard in pieces on a device, beside the reference restorer: the same content, verdict, place and message. Here the processor
// plays the device, with any trouble that devices make.
#include "format/zstd/stream/zstd_device_decoder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>

#include "backend_of.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "pipeline/stream.hpp"
#include "processor_zstd_pieces.hpp"
#include "restored_file.hpp"
#include "threads.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_block_by_block.hpp"
#include "zstd_device_reads.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

ZstdDeviceOfWindow with_trouble(const ZstdDeviceTrouble& trouble) {
  return [trouble](std::uint64_t window_bytes, const ZstdDeviceLimits& limits) {
    return std::make_unique<ProcessorZstdPieces>(window_bytes, limits, trouble);
  };
}
ReadByDevice read_with_trouble(std::span<const std::byte> frame, const DeviceOptions& options,
                               const ZstdDeviceTrouble& trouble = {}) {
  return read_by_device(frame, options, with_trouble(trouble));
}
ReadByDevice require_with_trouble(std::span<const std::byte> frame, const DeviceOptions& options,
                                  const ZstdDeviceTrouble& trouble = {}) {
  return require_by_reference(frame, options, with_trouble(trouble));
}

Bytes varied_content(std::size_t size) {
  return joined({wordy_bytes(size / 4), random_bytes(size / 8, 3, 40), equal_bytes(size / 8),
                 runs_bytes(size / 8, 5), random_bytes(size / 8, 9), wordy_bytes(size / 4, 2)});
}

TEST_WITH_THREADS(ZstdDevice, LevelsWindowsAndPieces) {
  for (const int window_log : {10, 14, 18}) {
    const Bytes content = varied_content(window_log == 18 ? 1'500'000 : window_log == 14 ? 200'000 : 30'000);
    for (const int level : {1, 3, 19}) {
      if (window_log == 18 && level == 19) continue;
      const Bytes frame = written_by_libzstd(content, {.level = level, .window_log = window_log});
      for (const PieceSize size : kPieceSizes)
        for (const bool settles : {false, true}) {
          SCOPED_TRACE(std::to_string(level) + " " + std::to_string(window_log));
          const ReadByDevice result = read_with_trouble(frame, {.size = size, .settles = settles});
          ASSERT_EQ(result.read.outcome, ZstdOutcome::kWhole) << result.read.why;
          ASSERT_TRUE(result.read.content == content);
          ASSERT_EQ(result.read.used_bytes, frame.size());
          ASSERT_EQ(result.device_bytes, content.size());
          ASSERT_GT(result.device_steps, 1);
          ASSERT_TRUE(result.failures.empty());
        }
    }
  }
}

TEST(ZstdDevice, InputAndRoomOfAnySize) {
  const Bytes content = varied_content(12'000);
  const Bytes frame = written_by_libzstd(content, {.window_log = 10});
  for (const std::size_t piece_bytes : {1, 2, 3, 4, 900, 1024, 1030, 3000, 1 << 20})
    for (const PieceSize size : kPieceSizes) {
      SCOPED_TRACE(piece_bytes);
      const ReadByDevice result = require_with_trouble(frame, {.size = size, .piece_bytes = piece_bytes});
      ASSERT_EQ(result.device_bytes, content.size());
    }
}

TEST(ZstdDevice, AShortFrameThatComesWholeIsTheProcessors) {
  const Bytes content = wordy_bytes(5000), frame = written_by_libzstd(content, {.window_log = 10});
  const std::size_t header_bytes = 4 + zstd_header_rest_bytes(frame[4]);
  DeviceDecoder made(1024, {}, with_trouble({}));
  Bytes room(10'000);
  const StreamStep step = made.decoder->restore(std::span(frame).subspan(header_bytes), room);
  EXPECT_EQ(step.output_bytes, content.size());
  EXPECT_EQ(made.decoder->device_bytes(), 0);
  EXPECT_EQ(step.input_bytes - made.decoder->ahead_bytes(), frame.size() - header_bytes - 4);

  ZstdDeviceDecoder none(1024, std::make_unique<ZstdReferenceDecoder>(1024, ZstdDictionary()),
                         [](ZstdDeviceLimits&) { return nullptr; }, {}, {});
  Bytes restored;
  const ZstdRead read =
      read_in_pieces(frame, {}, 100, [&](std::uint64_t, const ZstdDictionary&) { return &none; });
  EXPECT_EQ(read.outcome, ZstdOutcome::kWhole);
  EXPECT_TRUE(read.content == content);
}

// As from memory.
TEST(ZstdDevice, ALongFrameThatComesWholeIsTheDevices) {
  const Bytes content = random_bytes(9'000'000, 1), frame = written_by_libzstd(content, {.level = -5});
  const std::size_t header_bytes = 4 + zstd_header_rest_bytes(frame[4]);
  DeviceDecoder made(std::uint64_t{1} << 20, {.size = PieceSize::kMany}, with_trouble({}));
  Bytes room(content.size());
  std::size_t used = header_bytes, restored = 0;
  for (bool ended = false; !ended;) {
    const StreamStep step =
        made.decoder->restore(std::span(frame).subspan(used), std::span(room).subspan(restored));
    used += step.input_bytes;
    restored += step.output_bytes;
    ended = step.ended;
  }
  EXPECT_TRUE(room == content);
  EXPECT_EQ(made.decoder->device_bytes(), content.size());
}

TEST(ZstdDevice, RawRleAndEmptyBlocks) {
  const Bytes raw = random_bytes(1000);
  std::vector<Bytes> frames;
  frames.push_back(HandMadeFrame(1 << 17).raw({}).raw(raw).raw({}).rle(7, 131072).rle(9, 0).raw({}).end());
  frames.push_back(HandMadeFrame(1 << 10).raw(raw).compressed({}).raw(raw).end());  // damaged
  frames.push_back(HandMadeFrame(1 << 10).raw(raw).rle(1, 1025).raw(raw).end());    // too large
  frames.push_back(HandMadeFrame(1 << 10).raw(raw).block(ZstdBlockType::kReserved, 3, raw).end());
  frames.push_back(HandMadeFrame(1 << 10).block(ZstdBlockType::kRaw, 2000, raw).end());
  HandMadeFrame many(1 << 10);
  for (int i = 0; i < 3'000; ++i) many.raw({});
  frames.push_back(many.raw(raw).raw({}).end());
  for (std::size_t i = 0; i < frames.size(); ++i)
    for (const PieceSize size : kPieceSizes)
      for (const std::size_t piece_bytes : {3, 1 << 20}) {
        SCOPED_TRACE(i);
        require_with_trouble(frames[i],
                             {.size = size, .settles = piece_bytes != 3, .piece_bytes = piece_bytes});
        if (HasFatalFailure()) return;
      }
}

TEST(ZstdDevice, FramesThatNoEncoderWrites) {
  std::uint64_t content_bytes = 0, device_bytes = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    const ValidData made = valid_zstd_frame(seed, seed % 50 == 0 ? 300'000 : 5000);
    if (!made.dictionary.empty()) continue;
    SCOPED_TRACE(seed);
    const ReadByDevice result = require_with_trouble(
        made.data,
        {.size = kPieceSizes[seed % 3], .settles = seed % 2 == 0, .piece_bytes = 1 + seed * 7 % 3000});
    if (HasFatalFailure()) return;
    content_bytes += made.content.size();
    device_bytes += result.device_bytes;
  }
  EXPECT_EQ(device_bytes, content_bytes);
}

TEST(ZstdDevice, CutAtEachByteAndDamagedInEachByte) {
  const std::vector<Bytes> frames{
      written_by_libzstd(varied_content(5000), {.level = 1, .window_log = 10, .checksum = false}),
      written_by_libzstd(wordy_bytes(4000), {.level = 19, .window_log = 10, .content_size = false})};
  for (const Bytes& frame : frames)
    for (std::size_t i = 0; i < frame.size(); ++i) {
      SCOPED_TRACE(i);
      DeviceOptions options{
          .size = kPieceSizes[i % 3], .settles = i % 2 == 0, .piece_bytes = i % 5 == 0 ? 300u : 1u << 14};
      require_with_trouble(std::span(frame).first(i), options);
      Bytes damaged = frame;
      damaged[i] ^= static_cast<std::byte>(1U << i % 8);
      require_with_trouble(damaged, options);
      if (HasFatalFailure()) return;
    }
}

// Threads of the processor restore what the device does not.
TEST_WITH_THREADS(ZstdDevice, DamageInLargeFrames) {
  const Bytes content = varied_content(400'000);
  std::mt19937 random(7);
  for (const int window_log : {12, 14, 18}) {
    const Bytes frame = written_by_libzstd(content, {.level = 19, .window_log = window_log});
    for (unsigned round = 0; round < 6; ++round) {
      Bytes damaged = frame;
      damaged[20 + random() % (damaged.size() - 20)] ^= static_cast<std::byte>(1U << random() % 8);
      SCOPED_TRACE(round);
      require_with_trouble(
          damaged, {.size = kPieceSizes[round % 3], .settles = round % 2 == 0, .threads = 1 + round % 4});
      if (HasFatalFailure()) return;
    }
  }
}

// Where the device is in doubt, or has room for a few blocks alone.
TEST_WITH_THREADS(ZstdDevice, GoesOnWhereTheDeviceStops) {
  // At this level, matches reach into earlier blocks.
  const Bytes content = varied_content(60'000),
              frame = written_by_libzstd(content, {.level = 19, .window_log = 11});
  for (const unsigned threads : {1, 3}) {
    for (const unsigned call : {1, 2, 5, 9}) {
      SCOPED_TRACE(call);
      const ReadByDevice result =
          require_with_trouble(frame, {.size = PieceSize::kBlock, .threads = threads}, {.doubts = {call}});
      if (HasFatalFailure()) return;
      EXPECT_EQ(result.device_bytes == 0, call == 1);
      EXPECT_LT(result.device_bytes, content.size());
      EXPECT_TRUE(result.failures.empty());
    }
    for (const std::size_t blocks : {1, 2}) {
      const ReadByDevice result = require_with_trouble(frame, {.size = PieceSize::kMany, .threads = threads},
                                                       {.most_blocks = blocks});
      EXPECT_EQ(result.device_bytes, content.size());
    }
    const ReadByDevice none = require_with_trouble(frame, {.threads = threads}, {.most_blocks = 0});
    EXPECT_EQ(none.device_bytes, 0);
  }
}

TEST_WITH_THREADS(ZstdDevice, LosesNothingWhereTheDeviceFails) {
  const Bytes content = varied_content(50'000),
              frame = written_by_libzstd(content, {.level = 19, .window_log = 12});
  std::vector<ZstdDeviceTrouble> troubles;
  for (const unsigned call : {1, 2, 3, 7, 12}) {
    troubles.push_back({.uploads = {call}});
    troubles.push_back({.decodes = {call}});
    troubles.push_back({.places = {call}});
    troubles.push_back({.polls = {call}});
    troubles.push_back({.results = {call}});
    troubles.push_back({.resolves = {call}});
    troubles.push_back({.downloads = {call}});
    troubles.push_back({.waits = {call}});
    troubles.push_back({.waits = {call, call + 1, call + 3}});
    troubles.push_back({.nonsense = {call}});
    troubles.push_back({.lost_from_result = call});
  }
  for (std::size_t i = 0; i < troubles.size(); ++i)
    for (const PieceSize size : {PieceSize::kBlock, PieceSize::kSome})
      for (const bool settles : {false, true}) {
        SCOPED_TRACE(i);
        const ReadByDevice result = require_with_trouble(
            frame, {.size = size, .settles = settles, .piece_bytes = 1000, .threads = settles ? 1u : 3u},
            troubles[i]);
        if (HasFatalFailure()) return;
        // A large piece has fewer calls.
        ASSERT_LE(result.failures.size(), 1);
        if (size == PieceSize::kBlock) {
          ASSERT_EQ(result.failures.size(), 1);
          ASSERT_NE(result.failures[0].find(troubles[i].nonsense.empty() ? "injected" : "add up"),
                    std::string::npos)
              << result.failures[0];
        }
      }
}

// Content is settled late, by another thread, as slots of the pipeline are; and the device may be lost before.
TEST_WITH_THREADS(ZstdDevice, ContentArrivesLate) {
  const Bytes content = varied_content(150'000);
  const Bytes frame = written_by_libzstd(content, {.level = 19, .window_log = 13, .checksum = false});
  const std::size_t header_bytes = 4 + zstd_header_rest_bytes(frame[4]);
  std::set<unsigned> later_waits, some_waits, few_waits;
  for (unsigned call = 9; call < 1000; ++call) later_waits.insert(call);
  for (unsigned call = 3; call < 1000; call += 4) some_waits.insert(call);
  for (unsigned call = 2; call < 1000; call += 7) few_waits.insert(call);
  const std::vector<ZstdDeviceTrouble> troubles{{},
                                                {.doubts = {6}},
                                                {.waits = later_waits},
                                                {.waits = some_waits},
                                                {.waits = few_waits},
                                                {.lost_from_result = 5},
                                                {.downloads = {12}, .waits = some_waits}};
  for (const ZstdDeviceTrouble& trouble : troubles)
    for (const bool by_thread : {false, true}) {
      DeviceDecoder made(1 << 13, {.settles = true}, with_trouble(trouble));
      StreamDecoder& decoder = *made.decoder;
      std::atomic<bool> is_over = false;
      std::thread settler;
      if (by_thread)
        settler = std::thread([&] {
          while (!is_over) decoder.settle(decoder.under_way());
        });
      GuardedBuffer restored(content.size());
      std::span<const std::byte> left = std::span(frame).subspan(header_bytes);
      std::size_t done = 0;
      for (StreamStep step; !step.ended;) {
        step = decoder.restore(
            left.first(std::min<std::size_t>(left.size(), done == 0 ? 100 : 5000)),
            restored.bytes().subspan(done, std::min<std::size_t>(content.size() - done, 7000)));
        if (step.status != Status::kOk || (step.input_bytes == 0 && step.output_bytes == 0 && !step.ended))
          break;
        left = left.subspan(step.input_bytes);
        done += step.output_bytes;
      }
      is_over = true;
      if (by_thread) settler.join();
      decoder.settle(decoder.under_way());
      EXPECT_EQ(done, content.size());
      EXPECT_TRUE(std::ranges::equal(restored.bytes(), content));
      EXPECT_TRUE(left.empty());
    }
}

// From a pipe: what has come is restored, as far as blocks are whole, though more will come.
TEST_WITH_THREADS(ZstdDevice, BlocksThatHaveComeAreNotHeldBack) {
  const Bytes content = varied_content(40'000);
  const Bytes frame =
      written_by_libzstd(content, {.window_log = 11, .checksum = false, .content_size = false});
  for (const ZstdDeviceTrouble& trouble : {ZstdDeviceTrouble{}, ZstdDeviceTrouble{.lost_from_result = 9}})
    for (const PieceSize size : kPieceSizes) {
      DeviceDecoder made(1 << 11, {.size = size}, with_trouble(trouble));
      expect_block_by_block(*made.decoder, frame, content);
      EXPECT_GT(made.decoder->device_bytes(), 10'000);
    }
}

TEST(ZstdDevice, LimitsFitFrameAndMemory) {
  constexpr std::uint64_t kMb = 1 << 20;
  const auto limits_for = [](std::uint64_t window_bytes, std::optional<std::uint64_t> content_bytes,
                             const StreamMeans& means, std::uint64_t device_limit_bytes = 0) {
    FrameHeader header;
    header.history_bytes = static_cast<std::size_t>(window_bytes);
    header.content_bytes = content_bytes;
    return zstd_device_limits(header, means, device_limit_bytes, [&](const ZstdDeviceLimits& limits) {
      return 10 * std::uint64_t{limits.content_bytes} + 2 * window_bytes;
    });
  };
  EXPECT_FALSE(limits_for(8 * kMb, 10 * kMb, {}));
  EXPECT_FALSE(limits_for(8 * kMb, {}, {.input_bytes = kMb}));
  EXPECT_FALSE(limits_for(8 * kMb, {}, {.points = true}));
  EXPECT_FALSE(limits_for(8 * kMb, {}, {.dictionary_bytes = 1}));
  EXPECT_EQ(limits_for(8 * kMb, {}, {})->content_bytes, 768 * kMb);
  EXPECT_EQ(limits_for(8 * kMb, 100 * kMb, {})->content_bytes, 192 * kMb);
  EXPECT_EQ(limits_for(8 * kMb, {}, {.input_bytes = 40 * kMb})->input_bytes, 48 * kMb);
  EXPECT_EQ(limits_for(8 * kMb, {}, {}, 1000 * kMb)->content_bytes, 96 * kMb);
  EXPECT_FALSE(limits_for(8 * kMb, {}, {}, 50 * kMb));
  EXPECT_FALSE(limits_for(64 * kMb, {}, {}, 100 * kMb));
  // Places have 31 bits.
  EXPECT_EQ(limits_for(2000 * kMb, {}, {})->content_bytes, 24 * kMb);
  EXPECT_FALSE(limits_for(2048 * kMb, {}, {}));
  const auto some = limits_for(8 * kMb, {}, {.threads = 4, .memory_bytes = 100 * kMb});
  EXPECT_EQ(some->content_bytes, 48 * kMb);
  EXPECT_LE(some->memory_bytes(8 * kMb), 100 * kMb);
  EXPECT_FALSE(limits_for(64 * kMb, {}, {.memory_bytes = 100 * kMb}));
  EXPECT_EQ(limits_for(8 * kMb, {}, {.threads = 4})->processor.threads, 4);
}

// ---- Files, through the pipeline ----

struct EngineOfPieces {
  PieceSize size = PieceSize::kMany;
  ZstdDeviceTrouble trouble = {};
  std::atomic<std::uint64_t> devices = 0;
} engine_of_pieces;

class ZstdPiecesEngine : public BlockEngine {
 public:
  std::size_t preferred_batch_bytes() const override { return std::size_t{100} << 10; }
  unsigned preferred_batches_in_flight(unsigned threads) const override { return threads == 1 ? 1 : 4; }
  void compress(std::span<BlockTask>, const EncodeParameters&) override {}
  void restore(std::span<BlockTask>, Format) override {}
  StreamMemory stream_memory(Format, const FrameHeader& header, const StreamMeans&) const override {
    const ZstdDeviceLimits limits = device_limits_of(engine_of_pieces.size, header.history_bytes);
    return {limits.memory_bytes(header.history_bytes), 1, 2};
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, const FrameHeader& header,
                                                     std::span<const std::byte> dictionary,
                                                     const StreamMeans& means) override {
    const Codec& processor = *FormatTable::instance().codec(format, &FormatRow::processor);
    const auto make = [window_bytes = header.history_bytes](ZstdDeviceLimits& limits) {
      ++engine_of_pieces.devices;
      return std::make_unique<ProcessorZstdPieces>(window_bytes, limits, engine_of_pieces.trouble);
    };
    ZstdDeviceLimits limits = device_limits_of(engine_of_pieces.size, header.history_bytes);
    limits.processor = zstd_parallel_limits(means, header.history_bytes, {});
    return std::make_unique<ZstdDeviceDecoder>(
        header.history_bytes, processor.make_stream_decoder(header, dictionary, means), make, means, limits);
  }
};

class ZstdDeviceFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    BackendRegistry::instance().add(std::make_unique<BackendOf<ZstdPiecesEngine>>("zstd pieces"));
  }
  void SetUp() override {
    engine_of_pieces.size = PieceSize::kMany;
    engine_of_pieces.trouble = {};
    engine_of_pieces.devices = 0;
  }

  static RestoredFile restored(const Bytes& data, std::string_view backend, unsigned threads) {
    RestoreOptions options;
    options.backend = backend;
    options.threads = threads;
    return restored_file(data, options);
  }
};

TEST_F_WITH_THREADS(ZstdDeviceFiles, AreRestoredAsOnTheProcessor) {
  const Bytes frame = written_by_libzstd(varied_content(1'500'000), {.window_log = 14}),
              small = written_by_libzstd(wordy_bytes(10'000));
  Bytes wrong_checksum = frame, damaged = joined({frame, small});
  wrong_checksum.back() ^= std::byte{1};
  damaged[frame.size() / 2] ^= std::byte{4};
  const std::vector<Bytes> files{frame,
                                 joined({small, frame, small, frame, bytes_of("garbage behind")}),
                                 wrong_checksum,
                                 damaged,
                                 {frame.begin(), frame.end() - 2},
                                 {frame.begin(), frame.end() - 100'000}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const RestoredFile expected = restored(files[i], "reference", 1);
    for (const unsigned threads : {1u, 3u}) {
      SCOPED_TRACE(std::to_string(i) + ", " + std::to_string(threads) + " threads");
      engine_of_pieces.size = threads == 1 ? PieceSize::kSome : PieceSize::kMany;
      engine_of_pieces.devices = 0;
      const RestoredFile found = restored(files[i], "zstd pieces", threads);
      EXPECT_EQ(found.error, expected.error);
      EXPECT_TRUE(found.content == expected.content);
      EXPECT_EQ(found.report.trailing_garbage_at, expected.report.trailing_garbage_at);
      EXPECT_EQ(found.report.frame_count, expected.report.frame_count);
      EXPECT_EQ(engine_of_pieces.devices, i == 1 ? 2 : 1);
    }
  }
}

TEST_F_WITH_THREADS(ZstdDeviceFiles, TellWhatFailed) {
  const Bytes content = varied_content(1'500'000), data = written_by_libzstd(content, {.window_log = 14});
  engine_of_pieces.trouble.waits = {3};
  for (const unsigned threads : {1u, 3u}) {
    const RestoredFile found = restored(data, "zstd pieces", threads);
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(found.content == content);
    EXPECT_EQ(found.report.fallback_blocks, 1u);
    EXPECT_EQ(found.report.fallback_backend, "cpu");
    EXPECT_NE(found.report.fallback_reason.find("injected: wait"), std::string::npos);
    EXPECT_FALSE(found.report.dropped);
  }
  // A second frame that fails drops the device, which the third one does not try.
  engine_of_pieces.devices = 0;
  const RestoredFile thrice = restored(joined({data, data, data}), "zstd pieces", 3);
  EXPECT_EQ(thrice.error, "");
  EXPECT_TRUE(thrice.content == joined({content, content, content}));
  EXPECT_TRUE(thrice.report.dropped);
  EXPECT_EQ(engine_of_pieces.devices, 2);
}

}  // namespace
}  // namespace hemstitch::testing
