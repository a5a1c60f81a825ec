// Frames of Zstandard through the library: written ones are read by libzstd, and libzstd's are read, on every
// backend that has the format.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "collect_sink.hpp"
#include "core/options.hpp"
#include "format/zstd/compress/zstd_compress_cpu.hpp"
#include "format/zstd/compress/zstd_join.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "pipeline/stream.hpp"
#include "threads.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

constexpr const char* kBackends[] = {"cpu", "reference"};

CompressOptions writing(int level = 0, std::size_t part_bytes = 1 << 20) {
  CompressOptions options;
  options.format = Format::kZstd;
  options.level = level;
  options.block_bytes = part_bytes;
  return options;
}

// The error of a call, and its message; kOk if there is none.
template <class Call>
std::pair<Status, std::string> error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, {}};
}

std::pair<Status, std::string> restoring_error(std::span<const std::byte> data,
                                               const RestoreOptions& options = {}) {
  return error_of([&] { restore(data, options); });
}

// Text, noise and runs, also runs of short periods where parts begin, which repeat the offsets 1, 4 and 8.
Bytes long_content(std::size_t bytes) {
  Bytes content = wordy_bytes(bytes);
  const auto put = [&](std::size_t at, const Bytes& part) {
    std::copy_n(part.begin(), std::min(part.size(), content.size() - std::min(at, content.size())),
                content.begin() + static_cast<std::ptrdiff_t>(std::min(at, content.size())));
  };
  put(200'000, random_bytes(50'000));
  for (std::size_t part = 1; part << 20 < bytes; ++part)
    put((part << 20) + part % 2, periodic_bytes(300'000 / part, part % 3 == 0 ? 1 : part % 3 == 1 ? 4 : 8));
  return content;
}

TEST(ZstdFormat, LevelsAreReadByLibzstdAndByUs) {
  const Bytes content = long_content(1'300'000);
  for (const int level : {-7, 1, 3, 9, 13, 22}) {
    SCOPED_TRACE(level);
    const Bytes frame = compress(content, writing(level));
    EXPECT_LT(frame.size(), content.size() / 2);
    const ZstdRead read = read_by_libzstd(frame);
    ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    EXPECT_TRUE(read.content == content);
    EXPECT_EQ(read.used_bytes, frame.size());
    EXPECT_TRUE(restore(frame) == content);
  }
  const Bytes frame = compress(content, writing());
  for (const char* backend : kBackends) {
    RestoreOptions options;
    options.backend = backend;
    EXPECT_TRUE(restore(frame, options) == content) << backend;
  }
}

TEST(ZstdFormat, SizesAndThreads) {
  for (const std::size_t bytes : {0, 1, 2, 100, 1 << 17, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5'000'000}) {
    SCOPED_TRACE(bytes);
    const Bytes content = long_content(bytes);
    std::map<std::size_t, Bytes> frames;
    for (const unsigned threads : {1, 2, 8})
      for (const bool known : {false, true}) {
        CompressOptions options = writing();
        options.threads = threads;
        options.verify = threads == 2;
        if (known) options.content_bytes = bytes;
        MemorySource source(content);
        CollectSink sink;
        compress_stream(source, sink, options);
        const Bytes& first = frames.try_emplace(known ? 1 : 0, sink.content).first->second;
        EXPECT_TRUE(first == sink.content) << threads;
        const ZstdRead read = read_by_libzstd(sink.content);
        ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
        EXPECT_TRUE(read.content == content);
        EXPECT_TRUE(restore(sink.content) == content);
      }
  }
  const Bytes noise = random_bytes(1'300'000);
  const Bytes frame = compress(noise, writing());
  EXPECT_LT(frame.size(), noise.size() + 100);
  EXPECT_TRUE(restore(frame) == noise);
}

TEST(ZstdFormat, FlushedParts) {
  const Bytes content = long_content(60'000), dictionary = trained_dictionary();
  for (const bool with_dictionary : {false, true}) {
    Bytes frame;
    CompressOptions options = writing();
    if (with_dictionary) options.dictionary = dictionary;
    Compressor compressor(options, [&](std::span<const std::byte> piece) {
      frame.insert(frame.end(), piece.begin(), piece.end());
    });
    RestoreOptions restoring;
    if (with_dictionary) restoring.dictionary = dictionary;
    Bytes restored;
    Decompressor decompressor(restoring, [&](std::span<const std::byte> piece) {
      restored.insert(restored.end(), piece.begin(), piece.end());
    });
    std::size_t passed = 0;
    for (std::size_t at = 0; at < content.size(); at += 7000) {
      compressor.write(std::span(content).subspan(at, std::min<std::size_t>(7000, content.size() - at)));
      compressor.flush();
      decompressor.write(std::span(frame).subspan(passed));
      passed = frame.size();
      EXPECT_EQ(restored.size(), std::min(at + 7000, content.size()));
    }
    compressor.finish();
    decompressor.write(std::span(frame).subspan(passed));
    decompressor.finish();
    EXPECT_TRUE(restored == content);
    const ZstdRead read = read_by_libzstd(frame, with_dictionary ? dictionary : Bytes());
    EXPECT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    EXPECT_TRUE(read.content == content);
  }
}

// A part restores to the same behind anything: blocks that leave other offsets and other tables.
TEST(ZstdFormat, PartsFitBehindAnything) {
  ZstdCompressorCpu compressor;
  std::mt19937 random(3);
  unsigned rewritten = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const std::size_t bytes = 1 + random() % (round % 10 == 0 ? 600'000 : 5000);
    Bytes content =
        random() % 2 == 0 ? periodic_bytes(bytes, std::size_t{1} << random() % 4) : wordy_bytes(bytes);
    if (random() % 2 == 0) {
      const Bytes noise = random_bytes(random() % 100, static_cast<std::uint32_t>(round));
      content.insert(content.begin() + static_cast<std::ptrdiff_t>(random() % content.size()), noise.begin(),
                     noise.end());
    }
    const Bytes history =
        round % 3 == 0
            ? Bytes(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(
                                                           std::min<std::size_t>(content.size(), 3000)))
            : wordy_bytes(1000 + random() % 3000);
    Bytes room(zstd_data_room(content.size()));
    BlockTask task;
    task.input = content;
    task.history = history;
    task.output = room;
    const int levels[] = {-5, 1, 3, 6, 9, 12, 15, 19};
    const std::size_t part_bytes = compressor.compress(task, levels[round % 8]);
    const Bytes part(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(part_bytes));

    // The history as blocks: raw ones, and a last one whose sequences leave the offsets 7, 6 and 5.
    HandMadeFrame frame(8 << 20);
    Bytes whole = history;
    frame.raw(history);
    const Bytes literals = random_bytes(9, 77);
    const std::vector<ZstdSequence> sequences{{9, 3, 5 + 3}, {0, 3, 6 + 3}, {0, 3, 7 + 3}};
    frame.compressed(joined({plain_literals(literals, 1), sequences_section(sequences)}));
    Bytes data = frame.end();
    const ZstdRead before = read_by_libzstd(data);
    ASSERT_EQ(before.outcome, ZstdOutcome::kWhole);
    // Matches of the part reach into the history as it was given, without these bytes.
    Bytes again(zstd_data_room(content.size()));
    task.history = before.content;
    task.output = again;
    const std::size_t again_bytes = compressor.compress(task, levels[round % 8]);
    unmark_last_zstd_block(std::span(data).subspan(6));
    data.insert(data.end(), again.begin(), again.begin() + static_cast<std::ptrdiff_t>(again_bytes));
    data.insert(data.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
    const ZstdRead read = read_by_libzstd(data);
    ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    Bytes expected = before.content;
    expected.insert(expected.end(), content.begin(), content.end());
    ASSERT_TRUE(read.content == expected);

    // How often that took writing blocks again.
    Bytes marked = part;
    marked.insert(marked.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
    EXPECT_FALSE(join_zstd_blocks(marked).has_value());
    Bytes alone = written_by_libzstd(content, {.level = levels[round % 8], .checksum = false});
    const std::size_t head_bytes = 4 + zstd_header_rest_bytes(alone[4]);
    if (join_zstd_blocks(std::span(alone).subspan(head_bytes))) ++rewritten;
  }
  EXPECT_GT(rewritten, 20u);
}

TEST(ZstdFormat, Dictionaries) {
  const Bytes trained = trained_dictionary(), raw = wordy_bytes(5000, 9);
  for (const Bytes& dictionary : {trained, raw})
    for (const std::size_t bytes : {0, 50, 3000, 2'500'000})
      for (const char* backend : kBackends) {
        SCOPED_TRACE(bytes);
        const Bytes content = wordy_bytes(bytes, 9);
        CompressOptions options = writing();
        options.dictionary = dictionary;
        options.verify = true;
        const Bytes frame = compress(content, options);
        const ZstdRead read = read_by_libzstd(frame, dictionary);
        ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
        EXPECT_TRUE(read.content == content);
        RestoreOptions restoring;
        restoring.backend = backend;
        restoring.dictionary = dictionary;
        EXPECT_TRUE(restore(frame, restoring) == content);
        EXPECT_TRUE(restore(written_by_libzstd(content, {.dictionary = dictionary}), restoring) == content);
      }
  CompressOptions options = writing();
  options.dictionary = trained;
  const Bytes content = wordy_bytes(300, 9), frame = compress(content, options);
  EXPECT_EQ(restoring_error(frame).first, Status::kDictionaryNeeded);
  RestoreOptions other;
  other.dictionary = raw;
  EXPECT_EQ(restoring_error(frame, other).first, Status::kDictionaryMismatch);
  Bytes damaged = trained;
  damaged[9] ^= std::byte{0xFF};
  options.dictionary = damaged;
  EXPECT_EQ(error_of([&] { compress(content, options); }).first, Status::kInvalidOption);
  // Of a long frame, several threads have the dictionary.
  const Bytes noise = random_bytes(3'000'000);
  options.dictionary = trained;
  const Bytes long_frame = compress(noise, options);
  for (const char* backend : kBackends)
    for (const unsigned threads : {1, 3}) {
      other.backend = backend;
      other.threads = threads;
      other.dictionary = trained;
      EXPECT_TRUE(restore(long_frame, other) == noise) << backend;
      other.dictionary = damaged;
      EXPECT_EQ(restoring_error(frame, other).first, Status::kInvalidOption) << backend;
      EXPECT_EQ(restoring_error(long_frame, other).first, Status::kInvalidOption) << backend;
    }
}

// What `zstd -d --patch-from` makes of a frame.
Bytes patched_by_libzstd(const Bytes& old, const Bytes& frame, std::size_t content_bytes) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZSTD_DCtx_refPrefix(context.get(), old.data(), old.size());
  Bytes content(content_bytes);
  const std::size_t bytes =
      ZSTD_decompressDCtx(context.get(), content.data(), content.size(), frame.data(), frame.size());
  content.resize(ZSTD_isError(bytes) != 0 ? 0 : bytes);
  return content;
}

TEST_WITH_THREADS(ZstdFormat, LargeDictionaries) {
  const Bytes old = random_bytes(12'000'000, 4);
  // Another beginning, then what the old version has at its end, at its beginning and in its middle.
  Bytes content = random_bytes(1000, 5);
  for (const std::size_t at : {11'000'000, 0, 3'000'000})
    content.insert(content.end(), old.begin() + at, old.begin() + at + 900'000);
  const std::size_t part_bytes = content.size();
  while (content.size() < 9'000'000)
    content.insert(content.end(), old.begin() + static_cast<std::ptrdiff_t>(content.size()),
                   old.begin() + static_cast<std::ptrdiff_t>(content.size()) + 500'000);
  const auto expect_restored = [&](const Bytes& frame, std::span<const std::byte> whole,
                                   std::span<const std::byte> dictionary) {
    RestoreOptions restoring;
    restoring.dictionary = dictionary;
    for (const char* backend : kBackends)
      for (const unsigned threads : {1, 3}) {
        restoring.backend = backend;
        restoring.threads = threads;
        EXPECT_TRUE(std::ranges::equal(restore(frame, restoring), whole)) << backend << threads;
      }
  };
  CompressOptions options = writing(3, 4 << 20);
  options.dictionary = old;
  const Bytes part(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(part_bytes));
  const Bytes of_part = compress(part, options);
  EXPECT_LT(of_part.size(), 20'000U);
  EXPECT_TRUE(patched_by_libzstd(old, of_part, part.size()) == part);
  expect_restored(of_part, part, old);

  options.window_log = 24;
  const Bytes of_all = compress(content, options);
  EXPECT_LT(of_all.size(), 20'000U);
  EXPECT_TRUE(patched_by_libzstd(old, of_all, content.size()) == content);
  expect_restored(of_all, content, old);

  // With tables, and damaged.
  Bytes trained = trained_dictionary();
  trained.insert(trained.end(), old.begin(), old.end());
  options.window_log = 0;
  options.dictionary = trained;
  expect_restored(compress(part, options), part, trained);
  Bytes damaged = of_all;
  damaged[damaged.size() / 2] ^= std::byte{1};
  RestoreOptions restoring;
  restoring.dictionary = old;
  EXPECT_THROW(restore(damaged, restoring), Error);

  options.memory_limit_bytes = restoring.memory_limit_bytes = 4 << 20;
  EXPECT_EQ(error_of([&] { compress(part, options); }).first, Status::kMemoryLimit);
  EXPECT_EQ(restoring_error(of_part, restoring).first, Status::kMemoryLimit);
}

TEST(ZstdFormat, FramesInARow) {
  const Bytes first = wordy_bytes(5000), second = random_bytes(100);
  Bytes data;
  const auto add = [&](const Bytes& bytes) { data.insert(data.end(), bytes.begin(), bytes.end()); };
  const Bytes skippable = joined({numbers({0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0}), Bytes(3)});
  add(written_by_libzstd(first));
  add(skippable);
  add(written_by_libzstd({}));
  add(compress(second, writing()));
  add(written_by_libzstd(first, {.checksum = false, .content_size = false}));
  add(skippable);
  const Bytes content = joined({first, second, first});
  for (const char* backend : kBackends) {
    RestoreOptions options;
    options.backend = backend;
    EXPECT_TRUE(restore(data, options) == content);
    // A skippable frame at the beginning belongs to no format.
    EXPECT_TRUE(restore(joined({skippable, skippable, data}), options) == content);
    // In pieces of every small size.
    for (const std::size_t piece_bytes : {1, 2, 3, 5, 1000}) {
      Bytes restored;
      Decompressor decompressor(options, [&](std::span<const std::byte> piece) {
        restored.insert(restored.end(), piece.begin(), piece.end());
      });
      for (std::size_t at = 0; at < data.size(); at += piece_bytes)
        decompressor.write(std::span(data).subspan(at, std::min(piece_bytes, data.size() - at)));
      decompressor.finish();
      EXPECT_TRUE(restored == content) << piece_bytes;
      EXPECT_EQ(decompressor.report().frame_count, 4u);
    }
  }
  MemorySource source(data);
  const FrameIndex index = index_stream(source, std::nullopt, {});
  ASSERT_EQ(index.frames.size(), 6u);
  EXPECT_EQ(index.content_bytes(), content.size());
  EXPECT_TRUE(index.frames[1].skippable);
  EXPECT_EQ(index.frames[4].content_bytes, first.size());
  EXPECT_EQ(index.frames[4].header.content_checksum, false);
}

TEST(ZstdFormat, CutAndDamaged) {
  const Bytes content = wordy_bytes(3000);
  const Bytes frame = written_by_libzstd(content);
  for (const char* backend : kBackends) {
    RestoreOptions options;
    options.backend = backend;
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
      EXPECT_EQ(restoring_error(std::span(frame).first(bytes), options).first,
                bytes > 0 && bytes < 4 ? Status::kUnknownFormat : Status::kTruncated)
          << bytes;
    // A second frame that is cut off, also in its magic number.
    for (std::size_t bytes = 1; bytes < frame.size(); ++bytes)
      EXPECT_EQ(restoring_error(
                    joined({frame, Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes))}),
                    options)
                    .first,
                Status::kTruncated)
          << bytes;
    EXPECT_EQ(restoring_error(joined({frame, Bytes(5)}), options).first, Status::kTrailingGarbage);
    Bytes wrong = frame;
    wrong.back() ^= std::byte{1};
    EXPECT_EQ(restoring_error(wrong, options).first, Status::kContentChecksumMismatch);
    options.verify_checksums = false;
    EXPECT_TRUE(restore(wrong, options) == content);
    options.verify_checksums = true;
    // A content that is not as large as the header says.
    Bytes said = compress(content, writing());
    said[6] ^= std::byte{1};
    EXPECT_EQ(restoring_error(said, options).first, Status::kContentSizeMismatch);
    Bytes reserved = frame;
    reserved[4] |= std::byte{8};
    EXPECT_EQ(restoring_error(reserved, options).first, Status::kCorruptHeader);
    // The place: the second frame's second block.
    const Bytes five = random_bytes(5);
    const auto [status, message] = restoring_error(
        joined({frame, HandMadeFrame().raw(five).block(ZstdBlockType::kReserved, 0, {}).end()}), options);
    EXPECT_EQ(status, Status::kCorruptBlock);
    EXPECT_NE(message.find("frame 2, byte " + std::to_string(frame.size() + 6 + 8)), std::string::npos)
        << message;
    EXPECT_NE(message.find("block 2: "), std::string::npos) << message;
  }
}

TEST(ZstdFormat, Windows) {
  const Bytes five = random_bytes(5);
  for (const char* backend : kBackends) {
    RestoreOptions options;
    options.backend = backend;
    EXPECT_TRUE(restore(HandMadeFrame(128 << 20).raw(five).end(), options) == five);
    const Bytes large = HandMadeFrame(256 << 20).raw(five).end();
    const auto [status, message] = restoring_error(large, options);
    EXPECT_EQ(status, Status::kMemoryLimit);
    EXPECT_NE(message.find("268435456 bytes"), std::string::npos) << message;
    options.memory_limit_bytes = std::uint64_t{300} << 20;
    EXPECT_TRUE(restore(large, options) == five);
    EXPECT_EQ(restoring_error(HandMadeFrame(std::uint64_t{3} << 40).raw(five).end(), options).first,
              Status::kUnsupportedFeature);
  }
}

TEST(ZstdFormat, WhatItRefuses) {
  for (const int level : {-8, 23})
    EXPECT_EQ(error_of([&] { compress({}, writing(level)); }).first, Status::kInvalidOption);
  const auto refused = [](CompressOptions options) {
    return error_of([&] { compress({}, options); }).first == Status::kInvalidOption;
  };
  CompressOptions options = writing();
  options.linked_blocks = true;
  EXPECT_TRUE(refused(options));
  options = writing();
  options.stored_name = "name";
  EXPECT_TRUE(refused(options));
  EXPECT_TRUE(refused(writing(0, 64 << 10)));
  for (unsigned version : {0x1Eu, 0x22u, 0x27u}) {
    const auto [status, message] = restoring_error(numbers({version, 0xB5, 0x2F, 0xFD, 0, 0, 0}));
    EXPECT_EQ(status, Status::kForeignFormat);
    EXPECT_NE(message.find("zstd 0."), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace hemstitch::testing
