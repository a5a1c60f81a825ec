// Seekable files of Zstandard: what is written, what libzstd reads of it, and ranges and damage of such files and of
// frames in a row.
#include <gtest/gtest.h>

#include <random>

#include "collect_sink.hpp"
#include "core/random_access.hpp"
#include "core/source.hpp"
#include "format/frame_reader.hpp"
#include "format/zstd/frame/zstd_places.hpp"
#include "hemstitch/hemstitch.h"
#include "hemstitch/ranges.hpp"
#include "pipeline/frame_batch.hpp"
#include "pipeline/stream.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::size_t kFrameBytes = 64 << 10;

CompressOptions seekable(std::size_t frame_bytes = kFrameBytes) {
  CompressOptions options;
  options.format = Format::kZstd;
  options.seekable_bytes = frame_bytes;
  return options;
}

// All frames, one after the other, as libzstd's stream restores them; nothing if it refuses any.
std::optional<Bytes> all_by_libzstd(std::span<const std::byte> data) {
  Bytes content;
  while (!data.empty()) {
    const ZstdRead read = read_by_libzstd(data);
    if (read.outcome != ZstdOutcome::kWhole) return std::nullopt;
    content.insert(content.end(), read.content.begin(), read.content.end());
    data = data.subspan(read.used_bytes);
  }
  return content;
}

std::optional<ZstdPlaces> places_in(const Bytes& file) {
  MemorySource source(file);
  return places_of_seek_table(source);
}

// A table in any state: of these frames, with the checksums if there are any.
Bytes table_of(const ZstdPlaces& frames, bool checksums) {
  std::vector<FrameWriter::BlockBytes> sizes;
  for (const ZstdPlace& one : frames) sizes.push_back({one.bytes, one.content_bytes});
  Bytes table(zstd_seek_table_bytes(sizes.size()));
  write_zstd_seek_table(sizes, table.data());
  if (!checksums) return table;
  Bytes with(8);
  store_le32(with.data(), 0x184D2A5E);
  store_le32(with.data() + 4, static_cast<std::uint32_t>(frames.size() * 12 + 9));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    with.insert(with.end(), table.begin() + 8 + static_cast<std::ptrdiff_t>(8 * i),
                table.begin() + 16 + static_cast<std::ptrdiff_t>(8 * i));
    with.resize(with.size() + 4);
    store_le32(&with[with.size() - 4], frames[i].checksum.value());
  }
  with.insert(with.end(), table.end() - 9, table.end());
  with[with.size() - 5] = std::byte{0x80};
  return with;
}

// Frames as contrib's writer and others make them: without the sizes of contents, and with or without checksums.
Bytes frame_without_size(std::span<const std::byte> content, bool checksum) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, checksum ? 1 : 0);
  Bytes frame(ZSTD_compressBound(content.size()));
  frame.resize(ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size()));
  return frame;
}

TEST_WITH_THREADS(ZstdSeekable, IsReadByLibzstdAndByUs) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kFrameBytes - 1, kFrameBytes,
                                  kFrameBytes + 1, 5 * kFrameBytes, std::size_t{1'000'000}}) {
    SCOPED_TRACE(bytes);
    const Bytes content = wordy_bytes(bytes);
    const Bytes file = compress(content, seekable());
    EXPECT_EQ(all_by_libzstd(file) == content, true);
    EXPECT_TRUE(restore(file) == content);
    const auto places = places_in(file);
    ASSERT_TRUE(places);
    EXPECT_EQ(places->size(), std::max<std::size_t>(1, (bytes + kFrameBytes - 1) / kFrameBytes));
    for (const ZstdPlace& place : *places) {
      const auto frame = std::span(file).subspan(place.at, place.bytes);
      EXPECT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), place.content_bytes);
      EXPECT_EQ(ZSTD_findFrameCompressedSize(frame.data(), file.size() - place.at), place.bytes);
      EXPECT_EQ(read_by_libzstd(frame).outcome, ZstdOutcome::kWhole);
    }
    MemorySource source(file);
    const FrameIndex index = index_stream(source);
    ASSERT_EQ(index.frames.size(), 2u);
    EXPECT_EQ(index.frames[0].block_count, places->size());
    EXPECT_EQ(index.content_bytes(), bytes);
    EXPECT_LE(file.size(), hemstitch_compress_bound_of(HEMSTITCH_FORMAT_ZSTD, bytes));
  }
}

TEST(ZstdSeekable, TheSameBytesHoweverTheyCome) {
  const Bytes content = wordy_bytes(500'000) + random_bytes(100'000);
  const Bytes file = compress(content, seekable());
  EXPECT_LE(file.size(), hemstitch_compress_bound_of(HEMSTITCH_FORMAT_ZSTD, content.size()));
  for (const unsigned threads : {1u, 2u, 8u}) {
    CompressOptions options = seekable();
    options.threads = threads;
    EXPECT_TRUE(compress(content, options) == file);
    options.verify = true;
    EXPECT_TRUE(compress(content, options) == file);
    Bytes pushed;
    Compressor stream(options, [&](std::span<const std::byte> piece) {
      pushed.insert(pushed.end(), piece.begin(), piece.end());
    });
    for (std::size_t at = 0; at < content.size(); at += 7'777)
      stream.write(std::span(content).subspan(at, std::min<std::size_t>(7'777, content.size() - at)));
    stream.finish();
    EXPECT_TRUE(pushed == file);
    FrameCompressor batch(options);
    const std::size_t most = std::min(content.size(), batch.input_bytes() - 1);
    const std::span<const std::byte> inputs[] = {
        std::span(content).first(most), {}, std::span(content).first(1)};
    LargeBuffer output = batch.make_output();
    const auto frames = batch.compress(inputs, output);
    for (std::size_t i = 0; i < 3; ++i) {
      const Bytes alone = compress(inputs[i], options);
      EXPECT_TRUE(std::ranges::equal(frames[i], alone)) << i;
    }
  }
  hemstitch_compress_options given{};
  given.size = sizeof given;
  given.format = HEMSTITCH_FORMAT_ZSTD;
  given.seekable_bytes = kFrameBytes;
  Bytes room(file.size());
  std::size_t bytes = 0;
  ASSERT_EQ(hemstitch_compress_with(&given, content.data(), content.size(), room.data(), room.size(), &bytes),
            HEMSTITCH_OK);
  EXPECT_TRUE(room == file);
  // A flush ends a frame.
  Bytes flushed;
  Compressor stream(seekable(), [&](std::span<const std::byte> piece) {
    flushed.insert(flushed.end(), piece.begin(), piece.end());
  });
  stream.write(std::span(content).first(1000));
  stream.flush();
  stream.write(std::span(content).first(100));
  stream.finish();
  const auto places = places_in(flushed);
  ASSERT_TRUE(places);
  ASSERT_EQ(places->size(), 2u);
  EXPECT_EQ((*places)[0].content_bytes, 1000u);
}

TEST(ZstdSeekable, Options) {
  const auto refused = [](const CompressOptions& options) {
    try {
      compress({}, options);
    } catch (const Error& error) {
      return error.status() == Status::kInvalidOption;
    }
    return false;
  };
  EXPECT_TRUE(refused(seekable(kFrameBytes - 1)));
  EXPECT_TRUE(refused(seekable((64 << 20) + 1)));
  CompressOptions options = seekable();
  options.block_bytes = 1 << 20;
  EXPECT_TRUE(refused(options));
  options = seekable();
  options.format = Format::kLz4;
  EXPECT_TRUE(refused(options));
}

TEST(ZstdSeekable, EveryFrameHasTheDictionary) {
  const Bytes raw = random_bytes(20'000);
  const Bytes content = raw + wordy_bytes(kFrameBytes) + raw + wordy_bytes(100'000) + raw;
  for (const Bytes& dictionary : {raw, trained_dictionary()}) {
    CompressOptions options = seekable();
    options.dictionary = dictionary;
    const Bytes file = compress(content, options);
    if (dictionary == raw) {
      EXPECT_LT(file.size() + 55'000, compress(content, seekable()).size());
    }
    RestoreOptions restoring;
    restoring.dictionary = dictionary;
    EXPECT_TRUE(restore(file, restoring) == content);
    std::span<const std::byte> rest = file;
    Bytes theirs;
    while (!rest.empty()) {
      const ZstdRead read = read_by_libzstd(rest, dictionary);
      ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
      theirs.insert(theirs.end(), read.content.begin(), read.content.end());
      rest = rest.subspan(read.used_bytes);
    }
    EXPECT_TRUE(theirs == content);
    EXPECT_THROW(restore(file), Error);
  }
}

// Files whose frames are blocks: ours; others' with each kind of table; without a table, and skippable frames between.
std::vector<std::pair<std::string, Bytes>> files_of(const Bytes& content) {
  std::vector<std::pair<std::string, Bytes>> files{{"ours", compress(content, seekable())}};
  for (const int kind : {0, 1, 2, 3}) {
    const bool sizes = kind == 3, own_checksums = kind != 1, table_checksums = kind == 1 || kind == 2;
    Bytes file;
    ZstdPlaces places;
    for (std::size_t at = 0; at < content.size();) {
      const auto part =
          std::span(content).subspan(at, std::min<std::size_t>(30'000 + at / 3, content.size() - at));
      at += part.size();
      CompressOptions options;
      options.format = Format::kZstd;
      const Bytes frame = sizes ? compress(part, options) : frame_without_size(part, own_checksums);
      places.push_back({file.size(), static_cast<std::uint32_t>(frame.size()),
                        static_cast<std::uint32_t>(part.size()),
                        static_cast<std::uint32_t>(XXH64(part.data(), part.size(), 0))});
      file.insert(file.end(), frame.begin(), frame.end());
      if (kind == 3) file = file + skippable_frame(at % 5);
    }
    if (kind == 3)
      files.emplace_back("no table, skippable frames before, between and behind", skippable_frame(3) + file);
    else
      files.emplace_back("table of kind " + std::to_string(kind), file + table_of(places, table_checksums));
  }
  return files;
}

TEST_WITH_THREADS(ZstdSeekable, Ranges) {
  const Bytes content = wordy_bytes(700'000);
  const std::vector<ContentBytes> ranges{
      {0, 1}, {0, 700'000}, {65'535, 65'537}, {300'000, 431'000}, {699'999, UINT64_MAX}, {700'000, 700'001},
      {5, 5}};
  for (const auto& [name, file] : files_of(content)) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(restore(file) == content);
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions options;
      options.backend = backend;
      const auto restored = restore_ranges(file, ranges, options);
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::uint64_t end = std::min<std::uint64_t>(ranges[i].end, content.size());
        EXPECT_EQ(restored[i].status, Status::kOk);
        EXPECT_TRUE(std::ranges::equal(restored[i].bytes,
                                       std::span(content).subspan(ranges[i].begin, end - ranges[i].begin)));
        MemorySource source(file);
        CollectSink sink;
        restore_range(source, sink, ranges[i].begin, ranges[i].end, options);
        EXPECT_TRUE(sink.content == restored[i].bytes);
      }
    }
    RangeReader reader(file);
    EXPECT_EQ(reader.content_bytes(), content.size());
    Bytes piece(1000);
    for (std::size_t at = 0; at < content.size(); at += 9'999) {
      const std::size_t bytes = reader.read(at, piece);
      EXPECT_TRUE(std::ranges::equal(std::span(piece).first(bytes), std::span(content).subspan(at, bytes)));
    }
    EXPECT_THROW(restore_ranges(file, std::vector<ContentBytes>{{2, 1}}), Error);
    EXPECT_EQ(restore_ranges(file, std::vector<ContentBytes>{{700'001, 700'002}})[0].status,
              Status::kRangeOutsideContent);
  }
}

// Counts what is read.
TEST(ZstdSeekable, ARangeReadsNoOtherFrames) {
  const Bytes content = random_bytes(64 * kFrameBytes);
  const Bytes file = compress(content, seekable());
  std::uint64_t bytes_read = 0;
  std::size_t reads = 0;
  const RangeReader reader(
      [&](std::uint64_t at, std::span<std::byte> into) {
        const std::size_t bytes = std::min<std::size_t>(into.size(), file.size() - at);
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at), bytes, into.begin());
        bytes_read += bytes;
        ++reads;
        return bytes;
      },
      file.size());
  EXPECT_LE(reads, 32) << "the table and few headers";
  bytes_read = 0;
  Bytes piece(100);
  EXPECT_EQ(reader.read(50 * kFrameBytes - 50, piece), piece.size());
  EXPECT_TRUE(std::ranges::equal(piece, std::span(content).subspan(50 * kFrameBytes - 50, 100)));
  EXPECT_LT(bytes_read, 5 * kFrameBytes);
}

TEST(ZstdSeekable, DamageStaysInItsFrame) {
  const Bytes content = wordy_bytes(5 * kFrameBytes);
  const Bytes file = compress(content, seekable());
  const ZstdPlaces places = places_in(file).value();
  std::vector<ContentBytes> ranges;
  for (std::size_t i = 0; i < 5; ++i) ranges.push_back({i * kFrameBytes, (i + 1) * kFrameBytes});
  for (const std::size_t beyond : {std::size_t{40}, std::size_t{places[2].bytes - 1}}) {
    Bytes bad = file;
    bad[places[2].at + beyond] ^= std::byte{0x10};
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions options;
      options.backend = backend;
      const auto restored = restore_ranges(bad, ranges, options);
      for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(restored[i].status == Status::kOk, i != 2);
      EXPECT_EQ(restored[2].place.block, 3u);
      EXPECT_EQ(restored[2].place.byte_offset, places[2].at);
      MemorySource source(bad);
      CollectSink sink;
      EXPECT_THROW(restore_stream(source, sink, options), Error);
      EXPECT_TRUE(sink.content == Bytes(content.begin(), content.begin() + 2 * kFrameBytes));
    }
    RestoreOptions options;
    options.verify_checksums = false;
    if (beyond != 40) {
      EXPECT_TRUE(restore(bad, options) == content);
    }
  }
}

TEST(ZstdSeekable, DamageOfALateFrameHasItsNumber) {
  const Bytes content = random_bytes(40 * kFrameBytes);
  Bytes bad = compress(content, seekable());
  const ZstdPlace place = places_in(bad).value()[30];
  bad[place.at + place.bytes - 1] ^= std::byte{1};
  const auto restored =
      restore_ranges(bad, std::vector<ContentBytes>{{29 * kFrameBytes, 30 * kFrameBytes},
                                                    {30 * kFrameBytes + 5, 30 * kFrameBytes + 6}});
  EXPECT_EQ(restored[0].status, Status::kOk);
  EXPECT_EQ(restored[1].status, Status::kBlockChecksumMismatch);
  EXPECT_EQ(restored[1].place.block, 31u);
  MemorySource source(bad);
  CollectSink sink;
  try {
    restore_range(source, sink, 30 * kFrameBytes + 5, 30 * kFrameBytes + 6, {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.place().block, 31u);
  }
}

// Of a table of many frames only a few are compared before a range needs them: what is not as listed is an error of those
// ranges that need it.
TEST(ZstdSeekable, AFrameThatIsNotAsListedIsFoundWhereARangeNeedsIt) {
  constexpr std::size_t kFrames = 40;
  const Bytes content = wordy_bytes(kFrames * kFrameBytes);
  const Bytes file = compress(content, seekable());
  const ZstdPlaces places = places_in(file).value();
  std::vector<ContentBytes> ranges;
  for (std::size_t i = 0; i < kFrames; ++i)
    ranges.push_back({i * kFrameBytes + 10, (i + 1) * kFrameBytes - 10});
  Bytes other_magic = file, other_size = file, listed_otherwise = file;
  other_magic[places[17].at] ^= std::byte{1};
  other_size[places[17].at + 6] ^= std::byte{1};
  const std::size_t entry = places.back().at + places.back().bytes + 8 + 16 * 8;
  store_le32(&listed_otherwise[entry], places[16].bytes + 1);
  store_le32(&listed_otherwise[entry + 8], places[17].bytes - 1);
  for (const Bytes* bad : {&other_magic, &other_size, &listed_otherwise}) {
    EXPECT_FALSE(places_in(*bad)) << "whoever reads all of the file compares all";
    const auto restored = restore_ranges(*bad, ranges);
    const auto expected = [&](std::size_t i) {
      return std::span(content).subspan(ranges[i].begin, ranges[i].end - ranges[i].begin);
    };
    for (std::size_t i = 0; i < kFrames; ++i) {
      if (restored[i].status == Status::kOk)
        EXPECT_TRUE(std::ranges::equal(restored[i].bytes, expected(i)));
      else  // and behind it, up to where the next headers are compared
        EXPECT_TRUE(i >= 17 ? restored[i].status == Status::kCorruptHeader && i < 25
                            : bad == &listed_otherwise && i == 16)
            << i;
    }
    EXPECT_EQ(restored[17].status, Status::kCorruptHeader);
    EXPECT_GE(restored[17].place.byte_offset.value(), places[17].at);
    for (const std::size_t i : {std::size_t{3}, std::size_t{17}, std::size_t{30}}) {
      MemorySource source(*bad);
      CollectSink sink;
      const auto range = [&] { restore_range(source, sink, ranges[i].begin, ranges[i].end, {}); };
      if (i == 17) {
        EXPECT_THROW(range(), Error);
      } else {
        range();
        EXPECT_TRUE(std::ranges::equal(sink.content, expected(i)));
      }
    }
  }
}

// A table that cannot be true is not used: the whole file is restored all the same, as libzstd does.
TEST(ZstdSeekable, TablesThatLieAreNotUsed) {
  const Bytes content = wordy_bytes(3 * kFrameBytes + 10);
  const Bytes file = compress(content, seekable());
  const ZstdPlaces places = places_in(file).value();
  const std::size_t table_at = places.back().at + places.back().bytes;
  const auto lying = [&](std::size_t at, std::uint32_t word) {
    Bytes bad = file;
    store_le32(&bad[at], word);
    return bad;
  };
  const std::size_t first = table_at + 8, count_at = file.size() - 9;
  Bytes swapped = file;  // the sums stay
  std::swap_ranges(&swapped[first], &swapped[first + 8], &swapped[first + 24]);
  Bytes reserved = file;
  reserved[file.size() - 5] = std::byte{4};
  for (const Bytes& bad :
       {lying(first, 0xFFFFFFFF), lying(first, places[0].bytes + 1), lying(first + 4, kFrameBytes + 1),
        lying(first + 4, 0xFFFFFFFF), lying(first + 4, 0), lying(count_at, 3), lying(count_at, 5),
        lying(count_at, 0), lying(count_at, 0xFFFFFFFF), lying(file.size() - 4, 0), reserved, swapped}) {
    EXPECT_FALSE(places_in(bad));
    EXPECT_TRUE(restore(bad) == content);
    // Headers say the same, so that ranges are restored nevertheless.
    const auto restored = restore_ranges(bad, std::vector<ContentBytes>{{kFrameBytes - 5, kFrameBytes + 5}});
    EXPECT_TRUE(std::ranges::equal(restored[0].bytes, std::span(content).subspan(kFrameBytes - 5, 10)));
  }
  EXPECT_THROW(restore(lying(table_at + 4, 0xFFFFFFF0)), Error) << "the skippable frame is cut off";
  for (std::size_t bytes = table_at; bytes < file.size(); ++bytes) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_FALSE(places_in(cut));
    if (bytes == table_at)
      EXPECT_TRUE(restore(cut) == content);
    else
      EXPECT_THROW(restore(cut), Error) << bytes;
  }
}

// What no frame states is believed until the frame is restored, and then compared.
TEST(ZstdSeekable, WhatTheTableAloneSaysIsCompared) {
  const Bytes content = wordy_bytes(200'000);
  const Bytes one = frame_without_size(std::span(content).first(100'000), false),
              two = frame_without_size(std::span(content).subspan(100'000), false);
  const auto size = [](const Bytes& bytes) { return static_cast<std::uint32_t>(bytes.size()); };
  const auto file = [&](std::uint32_t first_bytes, std::uint32_t checksum_bits) {
    const auto checksum = [&](std::size_t at) {
      return static_cast<std::uint32_t>(XXH64(content.data() + at, 100'000, 0)) ^ checksum_bits;
    };
    return one + two +
           table_of({{0, size(one), first_bytes, checksum(0)},
                     {one.size(), size(two), 100'000, checksum(100'000)}},
                    true);
  };
  EXPECT_TRUE(restore(file(100'000, 0)) == content);
  for (const Bytes& bad : {file(99'999, 0), file(100'001, 0), file(100'000, 1)}) {
    EXPECT_THROW(restore(bad), Error);
    const auto restored = restore_ranges(bad, std::vector<ContentBytes>{{0, 10}});
    EXPECT_NE(restored[0].status, Status::kOk);
    EXPECT_NE(restored[0].place.byte_offset, std::nullopt);
  }
}

TEST(ZstdSeekable, LargeFramesAndSmallWindowsAreStreams) {
  // A block of 128 KB is not allowed with a window of 1 KB, which only a stream's decoder knows.
  const Bytes content = wordy_bytes(2000);
  const Bytes frame = HandMadeFrame(1 << 10).raw(content).end();
  const Bytes file = frame + table_of({{0, static_cast<std::uint32_t>(frame.size()), 2000, 0}}, false);
  EXPECT_FALSE(places_in(file));
  EXPECT_THROW(restore(file), Error);
  const Bytes zeros(65 << 20);
  const Bytes large = frame_without_size(zeros, true);
  const Bytes large_file =
      large + table_of({{0, static_cast<std::uint32_t>(large.size()), 65 << 20, 0}}, false);
  EXPECT_FALSE(places_in(large_file));
  EXPECT_EQ(restore(large_file).size(), zeros.size());
}

// Whoever reads ahead goes back to the first byte that the reader has not taken, wherever that is.
TEST(ZstdSeekable, TheReaderKnowsWhatItHasTaken) {
  const Bytes frame = written_by_libzstd(wordy_bytes(300));
  for (const Bytes& file : {compress(wordy_bytes(300'000), seekable()), frame + skippable_frame(9) + frame}) {
    MemorySource source(file);
    FrameStream frames(true);
    frames.know_file(source, FrameSearch::kQuickly);
    std::size_t at = 0, steps = 0;
    for (auto event = FrameReader::Event::kMore; event != FrameReader::Event::kEnd; ++steps) {
      const auto given = std::span(file).subspan(at).first(std::min(frames.wanted_bytes(), file.size() - at));
      event = frames.step(given);
      at += given.size();
      ASSERT_EQ(frames.taken_bytes(), at) << steps;
      if (event != FrameReader::Event::kSkip) continue;
      const std::size_t skipped = frames.reader().skip_bytes();
      frames.reader().skipped(skipped);
      at += skipped;
      ASSERT_EQ(frames.taken_bytes(), at) << steps;
    }
    EXPECT_EQ(at, file.size());
    EXPECT_GT(steps, 10);
  }
}

// Without a table, too, if there are several and all say how much content they have.
TEST(ZstdSeekable, FramesInARowAreRestoredByThemselves) {
  const Bytes content = wordy_bytes(30'000), frame = written_by_libzstd(content);
  const Bytes unsized = written_by_libzstd(content, {.content_size = false});
  const auto blocks_of = [](const Bytes& file, FrameSearch search) {
    MemorySource source(file);
    FrameStream frames(true);
    frames.know_file(source, search);
    for (std::size_t at = 0;;) {
      const std::size_t wanted = frames.wanted_bytes();
      const auto event = frames.step(std::span(file).subspan(at, wanted));
      at += wanted;
      if (event == FrameReader::Event::kFrameBegin) break;
    }
    return frames.reader().known_blocks().size();
  };
  const Bytes row = frame + frame + skippable_frame(10) + frame;
  EXPECT_EQ(blocks_of(row, FrameSearch::kQuickly), 3);
  EXPECT_EQ(blocks_of(row, FrameSearch::kTable), 0);
  EXPECT_EQ(blocks_of(frame, FrameSearch::kQuickly), 0);
  EXPECT_EQ(blocks_of(frame, FrameSearch::kParts), 1);
  EXPECT_EQ(blocks_of(frame + unsized, FrameSearch::kQuickly), 0);
  EXPECT_EQ(blocks_of(row + bytes_of("garbage"), FrameSearch::kQuickly), 0);
}

TEST(ZstdSeekable, MutationsNeverGiveOtherBytes) {
  std::mt19937 random(5);
  const Bytes content = wordy_bytes(4 * kFrameBytes);
  const auto files = files_of(content);
  for (int i = 0; i < 600; ++i) {
    const Bytes& whole = files[static_cast<std::size_t>(i) % files.size()].second;
    Bytes file = whole;
    const std::size_t most = random() % 2 == 0 ? file.size() : 200;
    for (auto changes = random() % 3 + 1; changes > 0; --changes)
      file[file.size() - 1 - random() % most] ^= static_cast<std::byte>(1 << random() % 8);
    const auto theirs = all_by_libzstd(file);
    std::optional<Bytes> ours;
    try {
      ours = restore(file);
    } catch (const Error&) {
    }
    if (ours) {
      EXPECT_EQ(theirs == ours, true) << i;
    }
    try {
      for (const RestoredRange& range : restore_ranges(file, std::vector<ContentBytes>{{70'000, 140'000}})) {
        // A size that only a table states is believed.
        const bool states_sizes = &whole == &files.front().second || &whole == &files.back().second;
        if (states_sizes && range.status == Status::kOk && theirs == content) {
          EXPECT_TRUE(std::ranges::equal(range.bytes, std::span(content).subspan(70'000, 70'000))) << i;
        }
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace hemstitch::testing
