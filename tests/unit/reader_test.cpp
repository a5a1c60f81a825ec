// The reader that pulls content: whatever a frame looks like, read(), seek() and tell() are those of a file that holds the
// content.
#include "hemstitch/reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "core/bytes.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/reader.h"
#include "shapes.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"
#include "tried_one_of.hpp"

namespace hemstitch::testing {
namespace {

struct PulledInput {
  std::string name;
  Bytes bytes, content;
  bool has_places = true;  // or an index can be made
};

Bytes text_like_bytes(std::size_t count) {
  Bytes bytes = random_bytes(count, 7, 4);
  for (std::size_t i = 0; i + 4096 < count; i += 3 * 4096)
    std::copy_n(bytes.begin(), 2048, bytes.begin() + static_cast<std::ptrdiff_t>(i));
  return bytes;
}

Bytes packed(const Bytes& content, CompressOptions options) { return compress(content, options); }

// Contents are longer than what is near, so that places are looked for.
const std::vector<PulledInput>& pulled_inputs() {
  static const auto* const inputs = [] {
    auto* const all = new std::vector<PulledInput>;
    const Bytes content = text_like_bytes(9'000'001);
    all->push_back({"lz4", packed(content, {.block_bytes = 64 << 10}), content});
    all->push_back({"lz4 linked", packed(content, {.linked_blocks = true}), content, false});
    all->push_back({"lz4 legacy", packed(content, {.legacy = true}), content});
    all->push_back({"gzip", packed(content, {.format = Format::kGzip, .level = 1}), content});
    all->push_back({"bgzf", packed(content, {.format = Format::kBgzf, .level = 1}), content});
    all->push_back({"zlib", packed(content, {.format = Format::kZlib, .level = 1}), content, false});
    all->push_back({"zstd", packed(content, {.format = Format::kZstd}), content});
    all->push_back(
        {"zstd seekable", packed(content, {.format = Format::kZstd, .seekable_bytes = 1 << 20}), content});
    all->push_back({"stored", packed(content, {.format = Format::kGzip, .stored = true}), content});
    PulledInput several{"several", skippable_frame(5), content};
    for (std::size_t at = 0; at < content.size(); at += 3'000'000) {
      const Bytes frame = packed(
          Bytes(content.begin() + static_cast<std::ptrdiff_t>(at),
                content.begin() + static_cast<std::ptrdiff_t>(std::min(content.size(), at + 3'000'000))),
          {});
      several.bytes.insert(several.bytes.end(), frame.begin(), frame.end());
    }
    all->push_back(several);
    const Bytes one(1, std::byte{'x'});
    all->push_back({"one byte", compress(one), one});
    all->push_back({"empty", compress({}), {}});
    all->push_back({"empty gzip", packed({}, {.format = Format::kGzip}), {}});
    return all;
  }();
  return *inputs;
}

RestoreOptions options_for(const PulledInput& input) {
  return input.name == "zlib" ? RestoreOptions{.format = Format::kZlib} : RestoreOptions{};
}

Bytes read_all(Reader& reader, std::size_t piece_bytes) {
  Bytes all;
  GuardedBuffer piece(piece_bytes);
  for (;;) {
    const std::size_t bytes = reader.read(piece.bytes());
    const auto got = piece.bytes().first(bytes);
    all.insert(all.end(), got.begin(), got.end());
    EXPECT_EQ(reader.tell(), all.size());
    if (bytes == 0) return all;
  }
}

// Gives at most so many bytes at once, as a pipe does.
ReadNext in_order(const Bytes& bytes, std::size_t most) {
  return [&bytes, most, at = std::size_t{0}](std::span<std::byte> into) mutable {
    const std::size_t count = std::min({most, into.size(), bytes.size() - at});
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, into.begin());
    at += count;
    return count;
  };
}

void expect_at(Reader& reader, const Bytes& content, std::uint64_t at, std::size_t bytes) {
  ASSERT_EQ(reader.tell(), at);
  Bytes got(bytes);
  got.resize(reader.read(got));
  const std::size_t begin = static_cast<std::size_t>(std::min<std::uint64_t>(at, content.size()));
  const std::size_t wanted = std::min(bytes, content.size() - begin);
  ASSERT_EQ(got.size(), wanted) << at;
  ASSERT_TRUE(std::equal(got.begin(), got.end(), content.begin() + static_cast<std::ptrdiff_t>(begin))) << at;
  ASSERT_EQ(reader.tell(), at + wanted);
}

Status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST_WITH_THREADS(Reader, ReadsAllInOrder) {
  for (const PulledInput& input : pulled_inputs()) {
    SCOPED_TRACE(input.name);
    constexpr std::size_t kAllAtOnce = 1 << 24;
    for (const std::size_t piece : {kAllAtOnce, std::size_t{100'003}}) {
      if (kTriedOneOf > 1 && piece == kAllAtOnce) continue;
      Reader memory(std::span<const std::byte>(input.bytes), options_for(input));
      EXPECT_EQ(read_all(memory, piece), input.content);
    }
    Reader pipe(in_order(input.bytes, 65'537), options_for(input));
    EXPECT_EQ(read_all(pipe, 1 << 20), input.content);
  }
}

TEST_WITH_THREADS(Reader, SeeksAnywhere) {
  for (const PulledInput& input : pulled_inputs()) {
    SCOPED_TRACE(input.name);
    Reader reader(std::span<const std::byte>(input.bytes), options_for(input));
    const std::uint64_t end = input.content.size();
    std::mt19937 random(5);
    std::vector<std::uint64_t> places{
        0, end, end + 1, UINT64_MAX, 0, end / 2, end - std::min<std::uint64_t>(end, 1), 1, 0};
    // Where all before a place is restored each time, few places will do.
    for (unsigned i = 0; i < (input.has_places ? 30 / kTriedOneOf : 3); ++i)
      places.push_back(random() % (end + 1));
    for (const std::uint64_t place : places) {
      reader.seek(place);
      expect_at(reader, input.content, place, 1 + random() % 200'000);
      if (reader.tell() < end) expect_at(reader, input.content, reader.tell(), 10);
    }
    reader.seek(0);
    EXPECT_EQ(read_all(reader, 1 << 22), input.content);
  }
}

// How much of the input a seek reads shows whether the places are kept.
TEST(Reader, KeepsWhereTheBlocksAre) {
  const std::string path = ::testing::TempDir() + "hemstitch_reader_test";
  for (const PulledInput& input : pulled_inputs()) {
    if (!input.has_places || input.content.size() < 1000 || input.name == "lz4 legacy") continue;
    SCOPED_TRACE(input.name);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.bytes.data()),
               static_cast<std::streamsize>(input.bytes.size()));
    Reader reader = Reader::open(path);
    reader.seek(8'000'000);
    expect_at(reader, input.content, 8'000'000, 100);
    // The first half of the file is gone. What lies in its second half is still read, since its place is known.
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const Bytes zeros(input.bytes.size() * 4 / 10);
    file.write(reinterpret_cast<const char*>(zeros.data()), static_cast<std::streamsize>(zeros.size()));
    file.close();
    reader.seek(6'000'000);
    expect_at(reader, input.content, 6'000'000, 100);
    reader.seek(7'000'000);
    expect_at(reader, input.content, 7'000'000, 100);
  }
  std::filesystem::remove(path);
}

TEST(Reader, GivesWhatStandsBeforeDamage) {
  const PulledInput& input = pulled_inputs().front();
  Bytes damaged = input.bytes;
  damaged[damaged.size() / 2] ^= std::byte{0x55};
  damaged[damaged.size() / 2 + 1] ^= std::byte{0x55};
  for (const bool sought : {false, true}) {
    Reader reader{std::span<const std::byte>(damaged)};
    if (sought) {
      reader.seek(8'500'000);  // which is sound
      expect_at(reader, input.content, 8'500'000, 100);
      reader.seek(1'000'000);
    }
    const std::uint64_t begin = reader.tell();
    Bytes got(9'000'001);
    got.resize(reader.read(got));
    ASSERT_LT(begin + got.size(), 9'000'000u);
    ASSERT_GT(begin + got.size(), 4'000'000u);
    EXPECT_TRUE(
        std::equal(got.begin(), got.end(), input.content.begin() + static_cast<std::ptrdiff_t>(begin)));
    std::byte one;
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(status_of([&] { reader.read({&one, 1}); }), Status::kBlockChecksumMismatch);
    EXPECT_EQ(reader.tell(), begin + got.size());
    reader.seek(100);
    expect_at(reader, input.content, 100, 1000);
    reader.seek(8'500'000);
    expect_at(reader, input.content, 8'500'000, 1000);
  }
}

TEST(Reader, TellsOfEndsThatAreWrong) {
  const Bytes content = text_like_bytes(300'000);
  for (const Format format : {Format::kLz4, Format::kGzip, Format::kZstd}) {
    const Bytes whole = packed(content, {.format = format});
    for (const std::size_t cut : {std::size_t{1}, std::size_t{5}, whole.size() / 2}) {
      Bytes shorter = whole;
      shorter.resize(whole.size() - cut);
      Reader reader(in_order(shorter, 1000));
      Bytes all(content.size() + 1);
      EXPECT_EQ(status_of([&] {
                  while (reader.read(all) != 0) {
                  }
                }),
                Status::kTruncated);
    }
    Bytes longer = whole;
    for (const char letter : std::string("no frame at all")) longer.push_back(static_cast<std::byte>(letter));
    Reader reader{std::span<const std::byte>(longer)};
    Bytes all(content.size());
    EXPECT_EQ(reader.read(all), content.size());
    EXPECT_EQ(all, content);
    EXPECT_EQ(status_of([&] { reader.read(all); }), Status::kTrailingGarbage);
  }
  Reader nothing{std::span<const std::byte>()};
  std::byte one;
  EXPECT_EQ(status_of([&] { nothing.read({&one, 1}); }), Status::kTruncated);
  EXPECT_EQ(status_of([&] {
              const Bytes noise = random_bytes(1000);
              Reader reader{std::span<const std::byte>(noise)};
              reader.read({&one, 1});
            }),
            Status::kUnknownFormat);
}

TEST(Reader, ReadsPipesAsTheyCome) {
  const Bytes content = text_like_bytes(1'000'000);
  const Bytes packed_bytes = compress(content);
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  std::thread writer([&] {
    for (std::size_t at = 0; at < packed_bytes.size();) {
      const ssize_t done = write(ends[1], packed_bytes.data() + at, packed_bytes.size() - at);
      if (done <= 0) break;
      at += static_cast<std::size_t>(done);
    }
    close(ends[1]);
  });
  Reader reader = Reader::open(ends[0]);
  close(ends[0]);  // it has its own
  reader.seek(500'000);
  expect_at(reader, content, 500'000, 100'000);
  EXPECT_EQ(status_of([&] { reader.seek(10); }), Status::kWrongState);
  reader.seek(999'990);
  expect_at(reader, content, 999'990, 100);
  writer.join();
}

TEST(Reader, RefusesWhatItCannotHave) {
  EXPECT_EQ(status_of([] { Reader::open("/no/such/file"); }), Status::kReadFailed);
  EXPECT_EQ(status_of([] { Reader::open(-1); }), Status::kReadFailed);
  EXPECT_EQ(status_of([] { Reader(std::span<const std::byte>(), {.threads = 5000}); }),
            Status::kInvalidOption);
  std::uint64_t used = 0;
  EXPECT_EQ(status_of([&] { Reader(std::span<const std::byte>(), {.used_bytes = &used}); }),
            Status::kInvalidOption);
  Reader too_many([](std::span<std::byte> into) { return into.size() + 1; });
  std::byte one;
  EXPECT_EQ(status_of([&] { too_many.read({&one, 1}); }), Status::kReadFailed);
  const Bytes frame = compress(Bytes(10));
  Reader first{std::span<const std::byte>(frame)};
  Reader second = std::move(first);
  EXPECT_EQ(status_of([&] { first.read({&one, 1}); }), Status::kWrongState);
  EXPECT_EQ(second.read({&one, 1}), 1u);
  // An index that is not this file's is an error, and not passed over.
  const Bytes wrong = random_bytes(100);
  Reader indexed(std::span<const std::byte>(pulled_inputs()[3].bytes), {.index = wrong});
  EXPECT_EQ(status_of([&] { indexed.seek(8'000'000); }), Status::kInvalidOption);
}

TEST(Reader, UsesADictionary) {
  const Bytes dictionary = text_like_bytes(50'000), content = text_like_bytes(6'000'000);
  const Bytes frame = packed(content, {.dictionary = dictionary});
  Bytes gone = dictionary;
  Reader reader(std::span<const std::byte>(frame), {.dictionary = gone});
  std::fill(gone.begin(), gone.end(), std::byte{0});  // it was copied
  reader.seek(5'900'000);
  expect_at(reader, content, 5'900'000, 1000);
  reader.seek(3);
  expect_at(reader, content, 3, 1000);
}

extern "C" int give_in_order(void* context, void* into, size_t bytes, size_t* read_bytes) {
  ReadNext& next = *static_cast<ReadNext*>(context);
  *read_bytes = next({static_cast<std::byte*>(into), bytes});
  return 0;
}

extern "C" int give_failure(void*, void*, size_t, size_t*) { return 7; }

TEST(Reader, InC) {
  const PulledInput& input = pulled_inputs().front();
  const std::string path = ::testing::TempDir() + "hemstitch_reader_c_test";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.bytes.data()),
             static_cast<std::streamsize>(input.bytes.size()));
  const int descriptor = open(path.c_str(), O_RDONLY);
  ReadNext next = in_order(input.bytes, 100'000);
  std::array<hemstitch_reader*, 4> readers{};
  ASSERT_EQ(hemstitch_reader_open_path(nullptr, path.c_str(), &readers[0]), HEMSTITCH_OK);
  ASSERT_EQ(hemstitch_reader_open_descriptor(nullptr, descriptor, &readers[1]), HEMSTITCH_OK);
  ASSERT_EQ(hemstitch_reader_open_memory(nullptr, input.bytes.data(), input.bytes.size(), &readers[2]),
            HEMSTITCH_OK);
  ASSERT_EQ(hemstitch_reader_open_callback(nullptr, give_in_order, &next, &readers[3]), HEMSTITCH_OK);
  close(descriptor);
  for (hemstitch_reader* const reader : readers) {
    Bytes got(1'000'000);
    std::size_t bytes = 0;
    std::uint64_t at = 0;
    ASSERT_EQ(hemstitch_reader_read(reader, got.data(), got.size(), &bytes), HEMSTITCH_OK);
    ASSERT_EQ(bytes, got.size());
    ASSERT_EQ(hemstitch_reader_seek(reader, 7'000'000), HEMSTITCH_OK);
    ASSERT_EQ(hemstitch_reader_read(reader, got.data(), 5000, &bytes), HEMSTITCH_OK);
    ASSERT_EQ(std::memcmp(got.data(), input.content.data() + 7'000'000, 5000), 0);
    ASSERT_EQ(hemstitch_reader_tell(reader, &at), HEMSTITCH_OK);
    EXPECT_EQ(at, 7'005'000u);
    EXPECT_EQ(hemstitch_reader_seek(reader, 3), reader == readers[3] ? HEMSTITCH_WRONG_STATE : HEMSTITCH_OK);
    EXPECT_EQ(hemstitch_reader_read(reader, nullptr, 0, &bytes), HEMSTITCH_OK);
    EXPECT_EQ(hemstitch_reader_read(reader, nullptr, 1, &bytes), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(hemstitch_reader_read(reader, got.data(), 1, nullptr), HEMSTITCH_INVALID_OPTION);
    hemstitch_reader_close(reader);
  }
  hemstitch_reader_close(nullptr);
  hemstitch_reader* reader = nullptr;
  EXPECT_EQ(hemstitch_reader_open_path(nullptr, nullptr, &reader), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_reader_open_path(nullptr, "/no/such", &reader), HEMSTITCH_READ_FAILED);
  EXPECT_EQ(hemstitch_reader_open_path(nullptr, path.c_str(), nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_reader_open_callback(nullptr, nullptr, nullptr, &reader), HEMSTITCH_INVALID_OPTION);
  hemstitch_report report{};
  hemstitch_restore_options watched{};
  watched.size = sizeof watched;
  watched.report = &report;
  EXPECT_EQ(hemstitch_reader_open_path(&watched, path.c_str(), &reader), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(reader, nullptr);
  ASSERT_EQ(hemstitch_reader_open_callback(nullptr, give_failure, nullptr, &reader), HEMSTITCH_OK);
  std::size_t bytes = 0;
  char one;
  EXPECT_EQ(hemstitch_reader_read(reader, &one, 1, &bytes), HEMSTITCH_READ_FAILED);
  EXPECT_NE(std::string(hemstitch_last_error_message()).find("returned 7"), std::string::npos);
  EXPECT_EQ(hemstitch_reader_tell(nullptr, nullptr), HEMSTITCH_INVALID_OPTION);
  hemstitch_reader_close(reader);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hemstitch::testing
