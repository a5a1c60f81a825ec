// Buffers of the caller's, progress, many inputs at once, and blocks without a frame, compared with
// compress(), restore() and liblz4.
#include "hemstitch/memory.hpp"

#include <gtest/gtest.h>
#include <lz4.h>

#include <algorithm>
#include <climits>
#include <random>
#include <stdexcept>
#include <utility>

#include "guarded_buffer.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

constexpr Format kFormats[] = {Format::kLz4,  Format::kGzip,    Format::kBgzf,
                               Format::kZlib, Format::kDeflate, Format::kZstd};

RestoreOptions restoring(Format format) {
  RestoreOptions options;
  options.format = format;
  return options;
}

std::vector<Bytes> contents() {
  std::vector<Bytes> contents;
  for (const Shape& shape : boundary_shapes(70000)) contents.push_back(shape.bytes);
  contents.push_back(mixed_bytes(1000000));
  return contents;
}

std::vector<std::span<const std::byte>> spans(const std::vector<Bytes>& inputs) {
  return {inputs.begin(), inputs.end()};
}

template <class Call>
Status status_thrown(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST_WITH_THREADS(Memory, RoomsOfTheCallersHoldWhatVectorsWould) {
  for (const Format format : kFormats) {
    for (const Bytes& content : {Bytes{}, bytes_of("a"), mixed_bytes(300000)}) {
      CompressOptions options;
      options.format = format;
      const Bytes frame = compress(content, options);
      Bytes room(compress_bound(content.size(), format));
      ASSERT_LE(frame.size(), room.size());
      room.resize(compress_into(content, room, options));
      EXPECT_TRUE(room == frame);
      Bytes restored(content.size());
      EXPECT_EQ(restore_into(frame, restored, restoring(format)), content.size());
      EXPECT_TRUE(restored == content);
      Bytes pieces;
      restore_to(
          frame,
          [&](std::span<const std::byte> piece) { pieces.insert(pieces.end(), piece.begin(), piece.end()); },
          restoring(format));
      EXPECT_TRUE(pieces == content);
    }
  }
}

TEST(Memory, ARoomThatIsTooSmallIsTold) {
  const Bytes content = mixed_bytes(300000), frame = compress(content);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, content.size() - 1}) {
    GuardedBuffer room(bytes);  // nothing may be written after it
    EXPECT_EQ(status_thrown([&] { restore_into(frame, room.bytes()); }), Status::kOutputTooSmall);
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{10}, frame.size() - 1}) {
    GuardedBuffer room(bytes);
    EXPECT_EQ(status_thrown([&] { compress_into(content, room.bytes()); }), Status::kOutputTooSmall);
  }
  EXPECT_EQ(status_thrown([&] { restore_to(frame, {}); }), Status::kInvalidOption);
  Bytes room(content.size());
  EXPECT_EQ(status_thrown([&] { restore_into(frame + bytes_of("more"), room); }), Status::kTrailingGarbage);
}

// Like zlib's total_in: who asks where the frames end gets the content and the place; who does not gets an error.
TEST_WITH_THREADS(Memory, WhatStandsBeforeOtherBytesIsGivenToWhoAsksForTheirPlace) {
  for (const Format format : kFormats)
    for (const Bytes& content : {Bytes{}, bytes_of("a"), wordy_bytes(300'000)}) {
      CompressOptions compressing;
      compressing.format = format;
      const Bytes frame = compress(content, compressing);
      for (const Bytes& rest :
           {Bytes{}, bytes_of("x"), bytes_of("some bytes after it"), Bytes(1000, std::byte{7})}) {
        const Bytes data = frame + rest;
        RestoreOptions options = restoring(format);
        const Status unasked = rest.empty() ? Status::kOk : Status::kTrailingGarbage;
        EXPECT_EQ(status_thrown([&] { restore(data, options); }), unasked);
        Bytes room(content.size()), passed;
        const Output pass = [&](std::span<const std::byte> bytes) {
          passed.insert(passed.end(), bytes.begin(), bytes.end());
        };
        EXPECT_EQ(status_thrown([&] { restore_to(data, pass, options); }), unasked);
        EXPECT_TRUE(passed == content);
        std::uint64_t used = 1;
        options.used_bytes = &used;
        EXPECT_TRUE(restore(data, options) == content);
        EXPECT_EQ(used, frame.size());
        used = 1;
        EXPECT_EQ(restore_into(data, room, options), content.size());
        EXPECT_TRUE(room == content);
        EXPECT_EQ(used, frame.size());
        used = 1;
        passed.clear();
        restore_to(data, pass, options);
        EXPECT_TRUE(passed == content);
        EXPECT_EQ(used, frame.size());
      }
      // Another error stays one.
      std::uint64_t used = 1;
      RestoreOptions options = restoring(format);
      options.used_bytes = &used;
      EXPECT_NE(status_thrown([&] { restore(std::span(frame).first(frame.size() - 1), options); }),
                Status::kOk);
      EXPECT_EQ(used, 1u);
      // Calls without one input to restore.
      const std::span<const std::byte> input = frame;
      EXPECT_EQ(status_thrown([&] { restore_many({&input, 1}, options); }), Status::kInvalidOption);
      EXPECT_EQ(status_thrown([&] { restore_lz4_blocks({}, options); }), Status::kInvalidOption);
      EXPECT_EQ(status_thrown([&] { Decompressor(options, [](auto) {}); }), Status::kInvalidOption);
    }
  // The zeros that a reader of gzip ignores are not part of a frame.
  CompressOptions gzip;
  gzip.format = Format::kGzip;
  const Bytes member = compress(wordy_bytes(1000), gzip);
  std::uint64_t used = 0;
  RestoreOptions options;
  options.used_bytes = &used;
  EXPECT_EQ(restore(member + Bytes(5000), options), wordy_bytes(1000));
  EXPECT_EQ(used, member.size());
}

TEST_WITH_THREADS(Memory, ManyGiveWhatStandsBeforeOtherBytes) {
  const Bytes small = wordy_bytes(1000), large = wordy_bytes(300'000);
  const std::vector<Bytes> inputs{compress(small), compress(small) + bytes_of("more"),
                                  compress(large) + bytes_of("x"), bytes_of("no frame")};
  const std::vector<OneOfMany> results = restore_many(spans(inputs));
  EXPECT_EQ(results[0].bytes, small);
  EXPECT_EQ(results[1].status, Status::kTrailingGarbage);
  EXPECT_EQ(results[1].bytes, small);
  EXPECT_EQ(results[1].place.byte_offset, inputs[1].size() - 4);
  EXPECT_EQ(results[2].status, Status::kTrailingGarbage);
  EXPECT_TRUE(results[2].bytes == large);
  EXPECT_EQ(results[3].status, Status::kUnknownFormat);
  EXPECT_TRUE(results[3].bytes.empty());
}

TEST_WITH_THREADS(Memory, ProgressIsToldAndEndsACall) {
  const Bytes content = mixed_bytes(3000000);
  Bytes frame(compress_bound(content.size()));
  std::uint64_t input_bytes = 0, output_bytes = 0;
  const Progress grows = [&](std::uint64_t input, std::uint64_t output) {
    EXPECT_GE(input, input_bytes);
    EXPECT_GE(output, output_bytes);
    input_bytes = input;
    output_bytes = output;
  };
  frame.resize(compress_into(content, frame, {}, grows));
  EXPECT_EQ(input_bytes, content.size());
  input_bytes = output_bytes = 0;
  Bytes restored(content.size());
  restore_into(frame, restored, {}, grows);
  EXPECT_EQ(output_bytes, content.size());
  const Progress stops = [](std::uint64_t, std::uint64_t) { throw std::logic_error("enough"); };
  EXPECT_THROW(compress_into(content, frame, {}, stops), std::logic_error);
  EXPECT_THROW(restore_into(frame, restored, {}, stops), std::logic_error);
}

struct StoppedByTheCaller : std::exception {};

TEST(Memory, TheSizeIsFoundOfTheFormatThatIsNamedAndInPieces) {
  const Bytes content(3'000'000);
  for (const Format format :
       {Format::kLz4, Format::kGzip, Format::kBgzf, Format::kZlib, Format::kDeflate, Format::kZstd}) {
    CompressOptions compressing;
    compressing.format = format;
    compressing.level = 1;
    Bytes packed;
    for (int i = 0; i < 20; ++i) {
      const Bytes frame = compress(content, compressing);
      packed.insert(packed.end(), frame.begin(), frame.end());
      if (format == Format::kZlib || format == Format::kDeflate) break;  // one stream, and no more
    }
    const std::uint64_t frames = packed.size() / compress(content, compressing).size();
    RestoreOptions options;
    options.format = format;
    int pieces = 0, most_pieces = INT_MAX;
    options.between_pieces = [&] {
      if (++pieces > most_pieces) throw StoppedByTheCaller();
    };
    EXPECT_EQ(restored_bytes(packed, options), frames * content.size());
    EXPECT_GT(pieces, 1);
    most_pieces = std::exchange(pieces, 0) / 2;
    EXPECT_THROW(restored_bytes(packed, options), StoppedByTheCaller);
    EXPECT_EQ(pieces, most_pieces + 1);
  }
}

TEST_WITH_THREADS(Memory, ManyAreWhatEachIsByItself) {
  for (const char* backend : {"cpu", "reference"}) {
    std::vector<Bytes> inputs = contents();
    // The twins are slow.
    if (std::string_view(backend) == "reference")
      inputs = {
          {}, bytes_of("a"), mixed_bytes(4096), random_bytes(5000), mixed_bytes(70000), mixed_bytes(300000)};
    for (const Format format : kFormats) {
      CompressOptions options;
      options.format = format;
      // No twin compresses to Zstandard.
      options.backend = format == Format::kZstd ? "cpu" : backend;
      const std::vector<OneOfMany> frames = compress_many(spans(inputs), options);
      ASSERT_EQ(frames.size(), inputs.size());
      std::vector<Bytes> packed;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        // (The frame of an empty input does not state its size.)
        EXPECT_TRUE(inputs[i].empty() || frames[i].bytes == compress(inputs[i], options)) << i;
        packed.push_back(frames[i].bytes);
      }
      RestoreOptions restore_options = restoring(format);
      restore_options.backend = backend;
      const std::vector<OneOfMany> restored = restore_many(spans(packed), restore_options);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(restored[i].status, Status::kOk) << restored[i].message;
        EXPECT_TRUE(restored[i].bytes == inputs[i]) << i;
      }
    }
  }
  EXPECT_TRUE(compress_many({}).empty());
  EXPECT_TRUE(restore_many({}).empty());
  const std::vector<Bytes> inputs(2);
  CompressOptions sized;
  sized.content_bytes = 5;
  EXPECT_EQ(status_thrown([&] { compress_many(spans(inputs), sized); }), Status::kInvalidOption);
}

TEST_WITH_THREADS(Memory, DataOfAnotherFormatThanTheNamedOneIsRefused) {
  for (const std::size_t bytes : {std::size_t{9}, std::size_t{2000}, std::size_t{300'000}}) {
    const Bytes content = wordy_bytes(bytes);
    for (const Format written : {Format::kLz4, Format::kBgzf, Format::kGzip, Format::kZstd}) {
      const std::vector<Bytes> packed(2, compress(content, {.format = written}));
      for (const Format named : {Format::kLz4, Format::kZstd, Format::kGzip}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(written)) + " " +
                     std::to_string(static_cast<int>(named)));
        const bool fits = written == named || (written == Format::kBgzf && named == Format::kGzip);
        const std::vector<OneOfMany> many = restore_many(spans(packed), restoring(named));
        for (const OneOfMany& one : many) {
          EXPECT_EQ(one.status, fits ? Status::kOk : Status::kUnknownFormat) << one.message;
          EXPECT_TRUE(!fits || one.bytes == content);
        }
        if (fits)
          EXPECT_TRUE(restore(packed[0], restoring(named)) == content);
        else
          EXPECT_EQ(status_thrown([&] { restore(packed[0], restoring(named)); }), Status::kUnknownFormat);
      }
    }
  }
}

TEST_WITH_THREADS(Memory, DamageOfOneIsItsOwn) {
  const Bytes content = mixed_bytes(30000), frame = compress(content);
  std::vector<Bytes> packed(200, frame);
  packed[7].resize(frame.size() - 5);
  packed[150] = random_bytes(1000);
  packed[151] = {};
  const std::vector<OneOfMany> restored = restore_many(spans(packed));
  for (std::size_t i = 0; i < packed.size(); ++i) {
    if (i == 7 || i == 150 || i == 151) {
      EXPECT_EQ(restored[i].status, status_thrown([&] { restore(packed[i]); }));
      EXPECT_FALSE(restored[i].message.empty());
      EXPECT_TRUE(restored[i].bytes.empty());
    } else {
      EXPECT_TRUE(restored[i].bytes == content);
    }
  }
}

TEST_WITH_THREADS(Memory, BlocksWithoutAFrameAreLiblz4s) {
  const std::vector<Bytes> inputs = contents();
  for (const int level : {0, 1, 3, 9, 12}) {
    std::vector<Bytes> rooms;
    std::vector<Lz4Block> blocks(inputs.size());
    for (const Bytes& input : inputs) rooms.emplace_back(lz4_block_bound(input.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) blocks[i] = {inputs[i], rooms[i]};
    CompressOptions options;
    options.level = level;
    compress_lz4_blocks(blocks, options);
    std::vector<Bytes> contents_again;
    std::vector<Lz4Block> back(inputs.size());
    for (const Bytes& input : inputs) contents_again.emplace_back(input.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(blocks[i].status, Status::kOk);
      Bytes by_liblz4(inputs[i].size() + 1);
      const int bytes = LZ4_decompress_safe(
          reinterpret_cast<const char*>(rooms[i].data()), reinterpret_cast<char*>(by_liblz4.data()),
          static_cast<int>(blocks[i].output_bytes), static_cast<int>(by_liblz4.size()));
      ASSERT_EQ(bytes, static_cast<int>(inputs[i].size()));
      EXPECT_TRUE(std::equal(inputs[i].begin(), inputs[i].end(), by_liblz4.begin()));
      back[i] = {std::span(rooms[i]).first(blocks[i].output_bytes), contents_again[i]};
    }
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions restore_options;
      restore_options.backend = backend;
      restore_lz4_blocks(back, restore_options);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(back[i].status, Status::kOk);
        EXPECT_EQ(back[i].output_bytes, inputs[i].size());
        EXPECT_TRUE(contents_again[i] == inputs[i]);
      }
    }
  }
}

TEST(Memory, BadBlocksHaveTheirStatus) {
  const Bytes content = mixed_bytes(5000);
  Bytes packed(lz4_block_bound(content.size()));
  Lz4Block block{content, packed};
  compress_lz4_blocks({&block, 1});
  packed.resize(block.output_bytes);
  GuardedBuffer small(block.output_bytes - 1);
  Lz4Block tight{content, small.bytes()};
  compress_lz4_blocks({&tight, 1});
  EXPECT_EQ(tight.status, Status::kOutputTooSmall);
  EXPECT_EQ(tight.output_bytes, 0u);

  std::mt19937 random(3);
  GuardedBuffer room(content.size());
  for (int i = 0; i < 2000; ++i) {
    Bytes bad = packed;
    if (i % 2 == 0) bad.resize(random() % bad.size());
    for (unsigned changes = random() % 4; changes > 0 && !bad.empty(); --changes)
      bad[random() % bad.size()] = static_cast<std::byte>(random());
    GuardedBuffer guarded(bad);
    Lz4Block damaged{guarded.bytes(), room.bytes()};
    restore_lz4_blocks({&damaged, 1});
    if (damaged.status == Status::kOk) {
      EXPECT_LE(damaged.output_bytes, content.size());
    } else {
      EXPECT_EQ(damaged.status, Status::kCorruptBlock);
      EXPECT_EQ(damaged.output_bytes, 0u);
    }
  }
  EXPECT_EQ(status_thrown([&] {
              RestoreOptions options;
              options.backend = "nobody";
              restore_lz4_blocks({&block, 1}, options);
            }),
            Status::kUnknownBackend);
}

}  // namespace
}  // namespace hemstitch::testing
