// A reader for ranges: what it gives is what restore() gives, whatever frames and blocks look like, and it
// reads no more of the input than that takes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/block_table.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "hemstitch/ranges.h"
#include "hemstitch/ranges.hpp"
#include "lz4f_oracle.hpp"
#include "shapes.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

struct Input {
  std::string name;
  Bytes bytes, content;
};

Bytes joined(std::initializer_list<Bytes> all) {
  Bytes bytes;
  for (const Bytes& one : all) bytes.insert(bytes.end(), one.begin(), one.end());
  return bytes;
}

// As a stream writes it, which does not know the content's size.
Bytes streamed(const Bytes& content, std::size_t block_bytes) {
  CompressOptions options;
  options.block_bytes = block_bytes;
  Bytes frame;
  Compressor compressor(options, [&](std::span<const std::byte> piece) {
    frame.insert(frame.end(), piece.begin(), piece.end());
  });
  compressor.write(content);
  compressor.finish();
  return frame;
}

Bytes sized(const Bytes& content, std::size_t block_bytes = 64 << 10) {
  CompressOptions options;
  options.block_bytes = block_bytes;
  return compress(content, options);
}

Bytes flushed(const Bytes& content, std::size_t piece_bytes, bool with_size) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.frameInfo.contentSize = with_size ? 1 : 0;
  return lz4f_compress_flushed(content, piece_bytes, preferences);
}

Bytes bgzf(const Bytes& content) {
  CompressOptions options;
  options.format = Format::kBgzf;
  return compress(content, options);
}

Bytes repeated(const Bytes& bytes, std::size_t count) {
  Bytes all;
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

const std::vector<Input>& inputs() {
  static const std::vector<Input> all = [] {
    const Bytes mixed = mixed_bytes(400'000), words = wordy_bytes(300'001), some = random_bytes(70'000);
    std::vector<Input> made;
    made.push_back({"sized", sized(mixed), mixed});
    made.push_back({"streamed", streamed(mixed, 64 << 10), mixed});
    made.push_back({"large blocks", sized(mixed, 256 << 10), mixed});
    made.push_back({"short blocks, sized", flushed(words, 20'000, true), words});
    made.push_back({"short blocks", flushed(mixed, 20'000, false), mixed});
    made.push_back({"very short blocks", flushed(some, 7, true), some});
    made.push_back({"several frames",
                    joined({sized(words), streamed(some, 64 << 10), skippable_frame(100'000),
                            flushed(mixed, 3000, true), sized({}), sized(words)}),
                    joined({words, some, mixed, words})});
    made.push_back(
        {"many frames", repeated(sized(Bytes(10, std::byte{'x'})), 5000), Bytes(50'000, std::byte{'x'})});
    made.push_back({"skippable frames", joined({repeated(skippable_frame(0), 30'000), sized(words)}), words});
    made.push_back({"skippable frames, bgzf",
                    joined({skippable_frame(0), skippable_frame(100'000), bgzf(mixed)}), mixed});
    made.push_back({"bgzf", joined({bgzf(mixed), bgzf(words)}), joined({mixed, words})});
    made.push_back({"empty", sized({}), {}});
    return made;
  }();
  return all;
}

Bytes read_all(const RangeReader& reader, std::uint64_t at, std::size_t bytes) {
  Bytes room(bytes);
  room.resize(reader.read(at, room));
  return room;
}

Bytes part(const Bytes& content, std::uint64_t at, std::size_t bytes) {
  const std::size_t begin = std::min<std::size_t>(at, content.size()),
                    end = begin + std::min(bytes, content.size() - begin);
  return {content.begin() + static_cast<std::ptrdiff_t>(begin),
          content.begin() + static_cast<std::ptrdiff_t>(end)};
}

void expect_parts(const RangeReader& reader, const Bytes& content) {
  EXPECT_EQ(reader.content_bytes(), content.size());
  EXPECT_TRUE(read_all(reader, 0, content.size() + 1) == content);
  EXPECT_TRUE(read_all(reader, content.size() + 5, 10).empty());
  std::mt19937 random(3);
  std::vector<ContentBytes> ranges;
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t at = random() % (content.size() + 1);
    const std::size_t bytes = random() % (i % 10 == 0 ? 150'000 : 300);
    if (i % 4 == 0) {
      EXPECT_TRUE(read_all(reader, at, bytes) == part(content, at, bytes)) << at << " " << bytes;
    }
    ranges.push_back({at, at + bytes});
  }
  const std::vector<RestoredRange> restored = reader.restore(ranges);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(restored[i].status, Status::kOk) << i;
    EXPECT_TRUE(restored[i].bytes ==
                part(content, ranges[i].begin, static_cast<std::size_t>(ranges[i].end - ranges[i].begin)))
        << i;
  }
}

ReadAt reading(const Bytes& bytes, std::atomic<std::uint64_t>& count) {
  return [&bytes, &count](std::uint64_t at, std::span<std::byte> into) {
    const Bytes read = part(bytes, at, into.size());
    std::copy(read.begin(), read.end(), into.begin());
    count += read.size();
    return read.size();
  };
}

TEST_WITH_THREADS(RangeReader, GivesWhatRestoreGives) {
  for (const Input& input : inputs()) {
    SCOPED_TRACE(input.name);
    RestoreOptions options;
    options.threads = 1;
    expect_parts(RangeReader(input.bytes, options), input.content);
    options.threads = 3;
    std::atomic<std::uint64_t> count = 0;
    expect_parts(RangeReader(reading(input.bytes, count), input.bytes.size(), options), input.content);
  }
}

TEST(RangeReader, ReadsFilesByPathAndByDescriptor) {
  const Input& input = inputs().front();
  const auto path = std::filesystem::temp_directory_path() / "hemstitch-range-reader-test";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.bytes.data()),
             static_cast<std::streamsize>(input.bytes.size()));
  expect_parts(RangeReader::open(path.string()), input.content);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(lseek(descriptor, 100, SEEK_SET), 100);
  const RangeReader reader = RangeReader::open(descriptor);
  EXPECT_EQ(lseek(descriptor, 0, SEEK_CUR), 100);
  close(descriptor);
  std::filesystem::remove(path);
  expect_parts(reader, input.content);
  EXPECT_THROW(RangeReader::open(path.string()), Error);
  EXPECT_THROW(RangeReader::open("/"), Error);
  EXPECT_THROW(RangeReader::open("/dev/null"), Error);
}

TEST_WITH_THREADS(RangeReader, SeveralThreadsShareOne) {
  for (const Input& input : inputs()) {
    if (input.content.empty()) continue;
    SCOPED_TRACE(input.name);
    std::atomic<std::uint64_t> count = 0;
    const RangeReader reader(reading(input.bytes, count), input.bytes.size());
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        std::mt19937 random(i);
        for (int j = 0; j < 30; ++j) {
          const std::uint64_t at = random() % input.content.size();
          if (read_all(reader, at, 1000) != part(input.content, at, 1000)) ++wrong;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

// Nothing is timed: a block's tokens cannot be walked without reading them.
TEST(RangeReader, ReadsHeadersOnceAndThenOnlyWhatARangeNeeds) {
  constexpr std::size_t kBlockBytes = 256 << 10, kBlocks = 40, kHeaderRead = 4096;
  const Bytes content = wordy_bytes(kBlocks * kBlockBytes - 1000);
  CompressOptions gzip;
  gzip.format = Format::kBgzf;
  for (const Bytes& frame : {sized(content, kBlockBytes), compress(content, gzip)}) {
    const bool lz4 = frame[0] == std::byte{4};
    ASSERT_GT(frame.size(), lz4 ? 2'000'000u : 1'000'000u);
    std::atomic<std::uint64_t> count = 0;
    const RangeReader reader(reading(frame, count), frame.size());
    const std::size_t blocks = lz4 ? kBlocks : content.size() / 65'280 + 1;
    // For LZ4, the last two blocks are measured at most. BGZF has a header and a trailer at each block.
    EXPECT_LE(count, (lz4 ? 1 : 2) * (blocks + 2) * kHeaderRead + (lz4 ? 2 * kBlockBytes : 0));
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{7'000'000}, content.size() - 100}) {
      count = 0;
      EXPECT_TRUE(read_all(reader, at, 100) == part(content, at, 100));
      EXPECT_LE(count, kBlockBytes + 12 * kHeaderRead) << at;
    }
  }
}

// Neighbours of a range are in the block that was restored for it.
TEST(RangeReader, KeepsTheLastBlock) {
  const Bytes content = wordy_bytes(3'000'000), frame = sized(content, 1 << 20);
  std::atomic<std::uint64_t> count = 0;
  const RangeReader reader(reading(frame, count), frame.size());
  EXPECT_TRUE(read_all(reader, 1'500'000, 100) == part(content, 1'500'000, 100));
  count = 0;
  for (const std::uint64_t at : {1'500'100, 1'499'000, 1 << 20, (2 << 20) - 100})
    EXPECT_TRUE(read_all(reader, at, 100) == part(content, at, 100)) << at;
  EXPECT_EQ(count, 0u);
  // A range that begins there and goes on reads only what is missing, and the next one what follows that.
  EXPECT_TRUE(read_all(reader, (2 << 20) - 100, 200) == part(content, (2 << 20) - 100, 200));
  EXPECT_GT(count, 0u);
  count = 0;
  EXPECT_TRUE(read_all(reader, (2 << 20) + 100, 200) == part(content, (2 << 20) + 100, 200));
  EXPECT_EQ(count, 0u);
}

TEST_WITH_THREADS(RangeReader, SeveralThreadsReadNeighbours) {
  const Bytes content = wordy_bytes(600'000), frame = sized(content, 256 << 10);
  std::atomic<std::uint64_t> count = 0;
  const RangeReader reader(reading(frame, count), frame.size());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (std::uint64_t j = 0; j < 40; ++j) {
        const std::uint64_t at = j % 10 * 60'000 + i;
        if (read_all(reader, at, 300) != part(content, at, 300)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// As for restore(): who asks where the last frame ends gets the content; who does not gets an error.
TEST(RangeReader, GivesWhatStandsBeforeOtherBytesToWhoAsksForTheirPlace) {
  for (const Input& input : inputs()) {
    if (input.name == "very short blocks" || input.name == "many frames") continue;
    for (const Bytes& rest : {Bytes{}, Bytes{std::byte{'x'}}, wordy_bytes(100'000)}) {
      SCOPED_TRACE(input.name + ", " + std::to_string(rest.size()));
      const Bytes data = joined({input.bytes, rest});
      std::optional<Error> refused;
      try {
        RangeReader{data};
      } catch (const Error& error) {
        refused.emplace(error);
      }
      ASSERT_EQ(refused.has_value(), !rest.empty());
      if (refused) {
        EXPECT_EQ(refused->status(), Status::kTrailingGarbage);
        EXPECT_EQ(refused->place().byte_offset, input.bytes.size());
      }
      std::uint64_t used = 1;
      RestoreOptions options;
      options.used_bytes = &used;
      const RangeReader reader(data, options);
      EXPECT_EQ(used, input.bytes.size());
      EXPECT_EQ(reader.content_bytes(), input.content.size());
      const std::uint64_t end = input.content.size() - std::min<std::uint64_t>(input.content.size(), 500);
      EXPECT_TRUE(read_all(reader, end, 1000) == part(input.content, end, 1000));
      used = 1;
      const ContentBytes range{end, UINT64_MAX};
      EXPECT_TRUE(restore_ranges(data, {&range, 1}, options).front().bytes == part(input.content, end, 1000));
      EXPECT_EQ(used, input.bytes.size());

      hemstitch_restore_options in_c{};
      in_c.size = sizeof in_c;
      hemstitch_range_reader* reader_in_c = nullptr;
      EXPECT_EQ(hemstitch_range_reader_new(&in_c, data.data(), data.size(), &reader_in_c),
                rest.empty() ? HEMSTITCH_OK : HEMSTITCH_TRAILING_GARBAGE);
      hemstitch_range_reader_free(reader_in_c);
      std::uint64_t used_in_c = 1;
      in_c.used_bytes = &used_in_c;
      ASSERT_EQ(hemstitch_range_reader_new(&in_c, data.data(), data.size(), &reader_in_c), HEMSTITCH_OK);
      hemstitch_range_reader_free(reader_in_c);
      EXPECT_EQ(used_in_c, input.bytes.size());
      Bytes room(500);
      hemstitch_range range_in_c{end, UINT64_MAX, room.data(), room.size(), 0, HEMSTITCH_INTERNAL, {}};
      used_in_c = 1;
      EXPECT_EQ(hemstitch_restore_ranges(&in_c, data.data(), data.size(), &range_in_c, 1), HEMSTITCH_OK);
      EXPECT_EQ(range_in_c.output_bytes, input.content.size() - end);
      EXPECT_EQ(used_in_c, input.bytes.size());
    }
  }
}

// A member of BGZF that states a size which it does not have is believed until it is restored.
TEST(RangeReader, FindsAFalseSizeInTheMemberThatStatesIt) {
  const Bytes content = wordy_bytes(200'000), file = bgzf(content);
  const auto member_bytes = [&](std::size_t at) { return (load_le32(file.data() + at + 16) & 0xFFFF) + 1; };
  const std::size_t second_at = member_bytes(0), size_at = second_at + member_bytes(second_at) - 4;
  const std::uint32_t size = load_le32(file.data() + size_at);
  for (const std::uint32_t told : {size - 1, size + 1, std::uint32_t{65'536}, std::uint32_t{0}}) {
    Bytes data = file;
    store_le32(data.data() + size_at, told);
    const RangeReader reader(data);
    EXPECT_EQ(reader.content_bytes(), content.size() - size + told);
    EXPECT_TRUE(read_all(reader, 0, size) == part(content, 0, size));
    if (told == 0) continue;  // no byte of the content is said to be there
    try {
      read_all(reader, size, 10);
      ADD_FAILURE() << told;
    } catch (const Error& error) {
      EXPECT_EQ(status_family(error.status()), StatusFamily::kCorrupt) << told;
      EXPECT_EQ(error.place().byte_offset, second_at);
      EXPECT_EQ(error.place().block, 2u);
    }
  }
}

TEST(RangeReader, KeepsATableThatDoesNotGrowWithTheNumberOfFramesOrBlocks) {
  for (const Input& input : inputs()) {
    const MemoryAccess access(input.bytes);
    EXPECT_LE(BlockTable(access, nullptr, true).part_count(), input.bytes.size() / (64 << 10) + 1)
        << input.name;
  }
}

TEST(RangeReader, TellsDamageToThoseThatItConcerns) {
  for (const Input& input : inputs()) {
    if (input.name != "sized" && input.name != "streamed" && input.name != "many frames" &&
        input.name != "bgzf")
      continue;  // without checksums, damage may give other bytes
    SCOPED_TRACE(input.name);
    const MemoryAccess access(input.bytes);
    const BlockTable table(access, nullptr, true);
    const PlacedBlock block = table.blocks_of(table.part_count() / 2).front();
    Bytes damaged = input.bytes;
    damaged[static_cast<std::size_t>(block.block.at) + block.block.data_bytes / 2] ^= std::byte{0x55};
    const RangeReader reader(damaged);
    const std::uint64_t end = block.content_at + block.content_bytes;
    const std::vector<RestoredRange> restored = reader.restore(std::vector<ContentBytes>{
        {0, block.content_at}, {end, UINT64_MAX}, {end - 1, end + 5}, {0, UINT64_MAX}});
    EXPECT_TRUE(restored[0].bytes == part(input.content, 0, static_cast<std::size_t>(block.content_at)));
    EXPECT_TRUE(restored[1].bytes == part(input.content, end, input.content.size()));
    for (const std::size_t i : {2u, 3u}) {
      EXPECT_EQ(status_family(restored[i].status), StatusFamily::kCorrupt);
      EXPECT_TRUE(restored[i].bytes.empty());
      EXPECT_EQ(restored[i].place.text(), block.place.text());
    }
    try {
      read_all(reader, end - 1, 2);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.place().text(), block.place.text());
      // The stream names the same place.
      try {
        restore(damaged);
      } catch (const Error& whole) {
        EXPECT_EQ(whole.place().text(), block.place.text());
      }
    }
  }
}

// The header's size is believed only as far as blocks can have it, and a range that it makes wrong is an
// error.
TEST(RangeReader, DoesNotBelieveAWrongContentSize) {
  const Bytes content = wordy_bytes(100'000), intact = sized(content);
  for (const std::int64_t wrong_by : {-70'000, -1, 1, 30'000}) {
    Bytes frame = intact;
    store_le64(frame.data() + 6, content.size() + static_cast<std::uint64_t>(wrong_by));
    RestoreOptions options;
    options.verify_checksums = false;  // of the header
    const RangeReader reader(frame, options);
    EXPECT_EQ(reader.restore(std::vector<ContentBytes>{{0, UINT64_MAX}})[0].status == Status::kOk, false)
        << wrong_by;
  }
  Bytes frame = intact;
  store_le64(frame.data() + 6, UINT64_MAX - 5);
  RestoreOptions options;
  options.verify_checksums = false;
  EXPECT_THROW(RangeReader(frame, options), Error);
}

// Whatever bytes are given: content of the right size, or an error. Where all of it can be restored, the
// content is the same.
TEST(RangeReader, TakesAnyBytes) {
  std::mt19937 random(11);
  RestoreOptions options;
  options.threads = 1;
  for (const Input& input : inputs()) {
    if (input.name == "skippable frames") continue;
    SCOPED_TRACE(input.name);
    for (int i = 0; i < 60; ++i) {
      Bytes bytes = input.bytes;
      // Mostly near the beginning, where headers are.
      for (int change = 0; change < 3; ++change)
        bytes[random() % (i % 2 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 40))] =
            static_cast<std::byte>(random());
      if (i % 7 == 0) bytes.resize(random() % bytes.size());
      options.verify_checksums = i % 3 != 0;
      try {
        const RangeReader reader(bytes, options);
        // A frame that lies may promise what its blocks could hold at most.
        const std::uint64_t at = reader.content_bytes() == 0 ? 0 : random() % reader.content_bytes();
        for (const RestoredRange& range : reader.restore(std::vector<ContentBytes>{{at, at + 1000}}))
          if (range.status == Status::kOk) {
            EXPECT_EQ(range.bytes.size(), std::min<std::uint64_t>(1000, reader.content_bytes() - at));
          }
        const Bytes whole = restore(bytes, options);
        EXPECT_TRUE(read_all(reader, 0, whole.size() + 1) == whole);
      } catch (const Error&) {
      }
    }
  }
}

// The input is not what it was when the table was made: any outcome but wrong memory.
TEST(RangeReader, SurvivesAnInputThatChanges) {
  std::mt19937 random(5);
  for (const Input& input : inputs()) {
    SCOPED_TRACE(input.name);
    Bytes bytes = input.bytes;
    std::atomic<std::uint64_t> count = 0;
    const RangeReader reader(reading(bytes, count), bytes.size());
    for (int i = 0; i < 30; ++i) {
      for (int change = 0; change < 50; ++change)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      if (i == 20) bytes.resize(bytes.size() / 2);
      try {
        const std::uint64_t at = random() % (input.content.size() + 1);
        reader.restore(std::vector<ContentBytes>{{at, at + 1000}, {0, 5000}});
      } catch (const Error&) {
      }
    }
  }
}

TEST(RangeReader, SaysWhatItCannotDo) {
  const auto status_of = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  const Bytes content = wordy_bytes(100'000), frame = sized(content);
  RestoreOptions options;
  options.backend = "no such one";
  EXPECT_EQ(status_of([&] { RangeReader(frame, options); }), Status::kUnknownBackend);
  options = {};
  options.format = Format::kGzip;
  EXPECT_EQ(status_of([&] { RangeReader(frame, options); }), Status::kUnknownFormat);
  EXPECT_EQ(status_of([&] { RangeReader(ReadAt(), 5); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { RangeReader{std::span<const std::byte>()}; }), Status::kTruncated);
  RangeReader reader(frame);
  const RangeReader moved = std::move(reader);
  EXPECT_EQ(status_of([&] { reader.content_bytes(); }), Status::kWrongState);
  EXPECT_EQ(status_of([&] {
              moved.restore(std::vector<ContentBytes>{{0, 1}, {2, 1}});
            }),
            Status::kInvalidOption);
  const RangeReader failing(
      [&](std::uint64_t at, std::span<std::byte> into) -> std::size_t {
        if (into.size() > 4096) throw std::runtime_error("the wire is cut");
        std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(at), std::min(into.size(), frame.size() - at),
                    into.begin());
        return std::min(into.size(), frame.size() - at);
      },
      frame.size());
  Bytes room(10);
  EXPECT_THROW(failing.read(0, room), std::runtime_error);
}

int read_bytes_at(void* context, std::uint64_t at, void* into, std::size_t bytes, std::size_t* read_bytes) {
  if (context == nullptr) return 7;
  const Bytes read = part(*static_cast<const Bytes*>(context), at, bytes);
  std::copy(read.begin(), read.end(), static_cast<std::byte*>(into));
  *read_bytes = read.size();
  return 0;
}

TEST(RangeReader, FromC) {
  Input input = inputs().front();
  const auto path = std::filesystem::temp_directory_path() / "hemstitch-range-reader-c-test";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.bytes.data()),
             static_cast<std::streamsize>(input.bytes.size()));
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<hemstitch_range_reader*> readers(4);
  EXPECT_EQ(hemstitch_range_reader_new(nullptr, input.bytes.data(), input.bytes.size(), &readers[0]),
            HEMSTITCH_OK);
  EXPECT_EQ(
      hemstitch_range_reader_new_from(nullptr, read_bytes_at, &input.bytes, input.bytes.size(), &readers[1]),
      HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_range_reader_open(nullptr, path.c_str(), &readers[2]), HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_range_reader_open_descriptor(nullptr, descriptor, &readers[3]), HEMSTITCH_OK);
  close(descriptor);
  std::filesystem::remove(path);
  for (hemstitch_range_reader* const reader : readers) {
    std::uint64_t content_bytes = 0;
    EXPECT_EQ(hemstitch_range_reader_content_bytes(reader, &content_bytes), HEMSTITCH_OK);
    EXPECT_EQ(content_bytes, input.content.size());
    Bytes room(1000);
    std::size_t bytes = 0;
    EXPECT_EQ(hemstitch_range_reader_read(reader, 350'000, room.data(), room.size(), &bytes), HEMSTITCH_OK);
    EXPECT_EQ(bytes, room.size());
    EXPECT_TRUE(room == part(input.content, 350'000, 1000));
    hemstitch_range range{399'990, 2'000'000, room.data(), room.size(), 0, HEMSTITCH_INTERNAL, {}};
    EXPECT_EQ(hemstitch_range_reader_restore(reader, &range, 1), HEMSTITCH_OK);
    EXPECT_EQ(range.status, HEMSTITCH_OK);
    EXPECT_EQ(range.output_bytes, 10u);
    EXPECT_EQ(hemstitch_range_reader_read(reader, 0, nullptr, 1, &bytes), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(hemstitch_range_reader_read(reader, 0, room.data(), 1, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(hemstitch_range_reader_content_bytes(reader, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(hemstitch_range_reader_restore(reader, nullptr, 1), HEMSTITCH_INVALID_OPTION);
    hemstitch_range_reader_free(reader);
  }
  std::uint64_t content_bytes = 0;
  EXPECT_EQ(hemstitch_range_reader_content_bytes(nullptr, &content_bytes), HEMSTITCH_INVALID_OPTION);
  hemstitch_range_reader* reader = nullptr;
  EXPECT_EQ(hemstitch_range_reader_new(nullptr, input.bytes.data(), input.bytes.size(), nullptr),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_range_reader_open(nullptr, nullptr, &reader), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_range_reader_open(nullptr, path.c_str(), &reader), HEMSTITCH_READ_FAILED);
  EXPECT_NE(std::strstr(hemstitch_last_error_message(), path.c_str()), nullptr);
  EXPECT_EQ(hemstitch_range_reader_open_descriptor(nullptr, -1, &reader), HEMSTITCH_READ_FAILED);
  EXPECT_EQ(hemstitch_range_reader_new_from(nullptr, nullptr, nullptr, 5, &reader), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_range_reader_new_from(nullptr, read_bytes_at, nullptr, 5, &reader),
            HEMSTITCH_READ_FAILED);
  EXPECT_NE(std::strstr(hemstitch_last_error_message(), "returned 7"), nullptr);
  EXPECT_EQ(reader, nullptr);
  hemstitch_range_reader_free(nullptr);
}

}  // namespace
}  // namespace hemstitch::testing
