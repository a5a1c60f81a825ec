// Chunks, frames and arrays of Blosc 2, put together by hand. What its own library writes is compared in bindings/python/tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "arrays/blosclz.hpp"
#include "core/bytes.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/arrays.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::size_t kHeader1 = 16, kHeader2 = 32;

void append(Bytes& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void append_number(Bytes& bytes, std::uint64_t number, std::size_t width) {
  while (width-- > 0) bytes.push_back(static_cast<std::byte>(number >> 8 * width));
}

Bytes bytes_of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// What Blosc 1 would write, under Blosc 2's header.
Bytes blosc2_chunk(std::span<const std::byte> content, const ChunkCoding& coding) {
  Bytes chunk(chunk_bound(content.size(), coding));
  ArrayChunk one{.input = content, .output = chunk};
  CompressOptions options;
  options.threads = 1;
  compress_chunks({&one, 1}, coding, options);
  chunk.resize(one.output_bytes);
  const auto flags = static_cast<unsigned>(chunk[2]);
  Bytes more(kHeader2 - kHeader1);
  more[5] = static_cast<std::byte>((flags & 1) != 0 ? 1 : (flags & 4) != 0 ? 2 : 0);
  chunk.insert(chunk.begin() + kHeader1, more.begin(), more.end());
  chunk[0] = std::byte{5};
  chunk[2] = static_cast<std::byte>(flags | 5);
  store_le32(chunk.data() + 12, static_cast<std::uint32_t>(chunk.size()));
  const std::size_t blocks =
      (flags & 2) != 0 || content.empty() ? 0 : (content.size() - 1) / load_le32(chunk.data() + 8) + 1;
  for (std::size_t i = 0; i < blocks; ++i) {
    std::byte* const place = chunk.data() + kHeader2 + 4 * i;
    store_le32(place, load_le32(place) + kHeader2 - kHeader1);
  }
  return chunk;
}

// Of which all elements are one value: 1 zeros, 2 NaN, 3 `value`, 4 not set.
Bytes special_chunk(std::uint32_t content_bytes, unsigned element_bytes, unsigned special,
                    std::span<const std::byte> value = {}) {
  Bytes chunk(kHeader2);
  chunk[0] = std::byte{5};
  chunk[2] = std::byte{5};
  chunk[3] = static_cast<std::byte>(element_bytes);
  store_le32(chunk.data() + 4, content_bytes);
  store_le32(chunk.data() + 8, content_bytes);
  store_le32(chunk.data() + 12, static_cast<std::uint32_t>(kHeader2 + value.size()));
  chunk[31] = static_cast<std::byte>(special << 4);
  append(chunk, value);
  return chunk;
}

struct Array {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint32_t> chunk, block;
};

constexpr std::uint64_t kIndexed = std::uint64_t{1} << 63;

// A frame of chunks; one that is empty is, in the index, one of zeros. The index is stored as it is.
Bytes frame_of(const std::vector<Bytes>& chunks, std::uint64_t content_bytes, std::uint32_t chunk_bytes,
               std::uint32_t item_bytes, const Array& array = {}) {
  Bytes layers;
  if (!array.shape.empty()) {
    layers = bytes_of_text("\x93\xCD");
    append_number(layers, 17, 2);
    append(layers, bytes_of_text(std::string_view("\xDE\0\1\xA4"
                                                  "b2nd\xD2",
                                                  9)));
    append_number(layers, 107, 4);
    append(layers, bytes_of_text(std::string_view("\xDC\0\1", 3)));
    Bytes layer = bytes_of_text(std::string_view("\x97\0", 2));
    const auto axes = array.shape.size();
    append_number(layer, axes, 1);
    append_number(layer, 0x90 + axes, 1);
    for (const std::uint64_t extent : array.shape) {
      append_number(layer, 0xD3, 1);
      append_number(layer, extent, 8);
    }
    for (const auto& of : {array.chunk, array.block}) {
      append_number(layer, 0x90 + axes, 1);
      for (const std::uint32_t extent : of) {
        append_number(layer, 0xD2, 1);
        append_number(layer, extent, 4);
      }
    }
    append_number(layers, 0xC6, 1);
    append_number(layers, layer.size(), 4);
    append(layers, layer);
  } else {
    layers = bytes_of_text(std::string_view("\x93\xCD\0\7\xDE\0\0\xDC\0\0", 10));
  }
  Bytes data, places;
  for (const Bytes& chunk : chunks) {
    places.resize(places.size() + 8);
    store_le64(places.data() + places.size() - 8,
               chunk.empty() ? kIndexed | std::uint64_t{1} << 56 : data.size());
    append(data, chunk);
  }
  Bytes index = special_chunk(static_cast<std::uint32_t>(places.size()), 8, 0);
  index[2] = std::byte{7};
  store_le32(index.data() + 12, static_cast<std::uint32_t>(kHeader2 + places.size()));
  append(index, places);

  Bytes frame =
      bytes_of_text(std::string_view("\x9E\xA8"
                                     "b2frame\0\xD2",
                                     11));
  const std::size_t header_bytes = 87 + layers.size();
  append_number(frame, header_bytes, 4);
  append_number(frame, 0xCF, 1);
  append_number(frame, header_bytes + data.size() + index.size(), 8);
  append(frame, bytes_of_text(std::string_view("\xA4\x12\0\x51\2\xD3", 6)));
  append_number(frame, content_bytes, 8);
  append_number(frame, 0xD3, 1);
  append_number(frame, data.size(), 8);
  for (const std::uint32_t number : {item_bytes, 0U, chunk_bytes}) {
    append_number(frame, 0xD2, 1);
    append_number(frame, number, 4);
  }
  frame.resize(87);
  append(frame, layers);
  append(frame, data);
  append(frame, index);
  return frame;
}

ArrayChunk restored2(std::span<const std::byte> data, std::span<std::byte> output, unsigned threads = 1) {
  ArrayChunk chunk{.input = data, .output = output};
  RestoreOptions options;
  options.threads = threads;
  restore_chunks({&chunk, 1}, {}, options);
  return chunk;
}

void expect_content(std::span<const std::byte> data, std::span<const std::byte> content,
                    const std::string& what, unsigned threads = 1) {
  for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
    GuardedBuffer input(data, against), output(content.size(), against);
    ASSERT_EQ(chunk_content_bytes(input.bytes(), {}), content.size());
    const ArrayChunk chunk = restored2(input.bytes(), output.bytes(), threads);
    ASSERT_EQ(chunk.status, Status::kOk) << what << ": " << chunk.message;
    ASSERT_TRUE(std::ranges::equal(output.bytes(), content)) << what;
  }
}

std::vector<ChunkCoding> codings2() {
  std::vector<ChunkCoding> all;
  for (const Format format : {Format::kLz4, Format::kZlib, Format::kZstd})
    for (const ChunkFilter filter : {ChunkFilter::kNone, ChunkFilter::kShuffle, ChunkFilter::kBitshuffle})
      all.push_back({.format = format, .filter = filter, .element_bytes = 4, .block_bytes = 4096});
  return all;
}

TEST(Blosc2, ChunksAndFramesComeBack) {
  for (const ChunkCoding& coding : codings2())
    for (const std::size_t size : {0U, 1U, 100U, 20'000U})
      for (const Bytes& content : {random_bytes(size), wordy_bytes(size)}) {
        if (coding.filter == ChunkFilter::kBitshuffle && size % 32 != 0 && size > 4)
          continue;  // Blosc 1 has no rest of bits
        const Bytes chunk = blosc2_chunk(content, coding);
        expect_content(chunk, content, "a chunk");
        if (size == 0) continue;
        expect_content(frame_of({chunk}, size, static_cast<std::uint32_t>(size), 1), content, "a frame");
        Bytes more = content;
        more.resize(2 * size);  // zeros, in the index alone
        append(more, content);
        expect_content(frame_of({chunk, {}, chunk}, 3 * size, static_cast<std::uint32_t>(size), 1), more,
                       "a frame of three");
      }
}

TEST(Blosc2, DifferencesAreFromTheFirstBlock) {
  const Bytes content = wordy_bytes(10'000);
  for (const std::uint32_t word : {1U, 2U, 4U, 8U}) {
    Bytes differences = content;
    for (std::size_t i = 0; i < content.size(); ++i)
      if (i >= 4096)
        differences[i] ^= content[i % 4096];
      else if (i >= word)
        differences[i] ^= content[i - word];
    Bytes chunk =
        blosc2_chunk(differences, {.format = Format::kZstd, .element_bytes = word, .block_bytes = 4096});
    ASSERT_LT(chunk.size(), content.size());
    chunk[16] = std::byte{3};
    expect_content(chunk, content, "differences", 2);
  }
}

TEST(Blosc2, AllElementsAreOneValue) {
  const Bytes value = bytes_of_text("abc");
  expect_content(special_chunk(7, 3, 3, value), bytes_of_text("abcabca"), "a value");
  expect_content(special_chunk(9, 1, 1), Bytes(9), "zeros");
  expect_content(special_chunk(9, 1, 4), Bytes(9), "not set");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double wide = std::numeric_limits<double>::quiet_NaN();
  Bytes nans(12), wide_nans(16);
  for (std::size_t i = 0; i < 3; ++i) std::memcpy(nans.data() + 4 * i, &nan, 4);
  for (std::size_t i = 0; i < 2; ++i) std::memcpy(wide_nans.data() + 8 * i, &wide, 8);
  expect_content(special_chunk(12, 4, 2), nans, "NaNs");
  expect_content(special_chunk(16, 8, 2), wide_nans, "NaNs of 8 bytes");
  Bytes room(9);
  EXPECT_EQ(restored2(special_chunk(9, 1, 2), room).status, Status::kCorruptHeader);
  EXPECT_EQ(restored2(special_chunk(9, 1, 3), room).status, Status::kCorruptHeader);
  EXPECT_EQ(restored2(special_chunk(9, 1, 6), room).status, Status::kUnsupportedFeature);
}

// A chunk of one block in one part.
Bytes chunk_of_part(std::uint32_t content_bytes, std::int32_t size, std::span<const std::byte> data) {
  Bytes chunk = special_chunk(content_bytes, 1, 0);
  chunk[2] = std::byte{0x15};
  chunk.resize(kHeader2 + 8);
  store_le32(chunk.data() + kHeader2, kHeader2 + 4);
  store_le32(chunk.data() + kHeader2 + 4, static_cast<std::uint32_t>(size));
  append(chunk, data);
  store_le32(chunk.data() + 12, static_cast<std::uint32_t>(chunk.size()));
  return chunk;
}

TEST(Blosc2, PartsMayBeRuns) {
  expect_content(chunk_of_part(50, 0, {}), Bytes(50), "zeros");
  const Bytes run = {std::byte{1}}, other = {std::byte{2}};
  expect_content(chunk_of_part(50, -7, run), Bytes(50, std::byte{7}), "sevens");
  expect_content(chunk_of_part(50, -255, run), Bytes(50, std::byte{255}), "the highest");
  Bytes room(50);
  for (const Bytes& bad :
       {chunk_of_part(50, -7, {}), chunk_of_part(50, -256, run), chunk_of_part(50, -7, other),
        chunk_of_part(50, std::numeric_limits<std::int32_t>::min(), run), chunk_of_part(50, 2, run)}) {
    GuardedBuffer input(bad);
    EXPECT_EQ(restored2(input.bytes(), room).status, Status::kCorruptBlock);
  }
}

TEST(Blosc2, BlosclzRestores) {
  // A run of literals, a match that runs into itself, one with a long length, literals.
  Bytes input =
      bytes_of_text(std::string_view("\x02"
                                     "abc\x20\x02\xE0\xFF\x05\x00\x00z",
                                     12));
  Bytes expected = bytes_of_text("abcabc");
  expected.resize(expected.size() + 6 + 255 + 5 + 3, std::byte{'c'});
  expected.push_back(std::byte{'z'});
  const auto restores = [&](std::span<const std::byte> given, std::size_t size) {
    GuardedBuffer guarded(given), output(size);
    const bool done = restore_blosclz(guarded.bytes(), output.bytes());
    return done &&
           std::ranges::equal(output.bytes(), std::span(expected).first(std::min(size, expected.size())));
  };
  EXPECT_TRUE(restores(input, expected.size()));
  EXPECT_FALSE(restores(input, expected.size() - 1));
  EXPECT_FALSE(restores(input, expected.size() + 1));
  for (std::size_t cut = 0; cut < input.size(); ++cut)
    EXPECT_FALSE(restores(std::span(input).first(cut), expected.size())) << cut;
  EXPECT_TRUE(restores({}, 0));

  // Far matches: 9000 bytes before, and one byte too far.
  const Bytes noise = random_bytes(9000);
  input.clear();
  for (std::size_t at = 0; at < noise.size(); at += 30) {
    input.push_back(std::byte{29});
    append(input, std::span(noise).subspan(at, 30));
  }
  append(input, bytes_of_text(std::string_view("\x3F\xFF", 2)));
  append_number(input, 9000 - 8192, 2);
  append(input, bytes_of_text(std::string_view("\0z", 2)));
  expected = noise;
  append(expected, std::span(noise).first(3));
  expected.push_back(std::byte{'z'});
  EXPECT_TRUE(restores(input, expected.size()));
  input[input.size() - 3] = static_cast<std::byte>((9001 - 8192) % 256);
  EXPECT_FALSE(restores(input, expected.size()));
}

// The content of a chunk of an array as it is stored: block by block, filled up.
Bytes boxed(const Array& array, std::span<const std::byte> content, std::size_t chunk_row,
            std::size_t chunk_column) {
  Bytes data;
  const auto up = [](std::uint32_t one, std::uint32_t other) { return (one + other - 1) / other * other; };
  for (std::uint32_t row = 0; row < up(array.chunk[0], array.block[0]); row += array.block[0])
    for (std::uint32_t column = 0; column < up(array.chunk[1], array.block[1]); column += array.block[1])
      for (std::uint32_t y = row; y < row + array.block[0]; ++y)
        for (std::uint32_t x = column; x < column + array.block[1]; ++x) {
          const std::uint64_t at_y = chunk_row * array.chunk[0] + y, at_x = chunk_column * array.chunk[1] + x;
          const bool is_in =
              y < array.chunk[0] && x < array.chunk[1] && at_y < array.shape[0] && at_x < array.shape[1];
          for (std::size_t byte = 0; byte < 4; ++byte)
            data.push_back(is_in ? content[(at_y * array.shape[1] + at_x) * 4 + byte] : std::byte{0xEE});
        }
  return data;
}

struct ArrayFrame {
  Bytes content, frame;
};

// 50 by 70 elements in chunks of 30 by 40 and blocks of 7 by 11; the last chunk is of zeros, one noise.
ArrayFrame array_frame() {
  const Array array = {.shape = {50, 70}, .chunk = {30, 40}, .block = {7, 11}};
  ArrayFrame made;
  for (std::uint32_t i = 0; i < 50 * 70; ++i) {
    const bool is_zero = i / 70 >= 30 && i % 70 >= 40, is_noise = i / 70 < 30 && i % 70 >= 40;
    made.content.resize(made.content.size() + 4);
    store_le32(made.content.data() + made.content.size() - 4, is_zero ? 0 : is_noise ? i * 2654435761U : i);
  }
  std::vector<Bytes> chunks;
  for (const auto& [row, column] : {std::pair{0, 0}, {0, 1}, {1, 0}})
    chunks.push_back(
        blosc2_chunk(boxed(array, made.content, row, column),
                     {.filter = ChunkFilter::kShuffle, .element_bytes = 4, .block_bytes = 7 * 11 * 4}));
  chunks.emplace_back();
  constexpr std::uint32_t kChunkBytes = 35 * 44 * 4;
  made.frame = frame_of(chunks, 4 * kChunkBytes, kChunkBytes, 4, array);
  return made;
}

TEST(Blosc2, ArraysAreInOrder) {
  const ArrayFrame made = array_frame();
  expect_content(made.frame, made.content, "an array");
  // Nothing is in it.
  const Bytes none = frame_of({}, 0, 16, 4, {.shape = {0, 5}, .chunk = {1, 4}, .block = {1, 4}});
  expect_content(none, {}, "no array");
}

TEST(Blosc2, ArraysThatLieAreErrors) {
  const auto status = [](const Array& array, std::size_t content_bytes = 16) {
    const Bytes chunk = special_chunk(16, 1, 1), frame = frame_of({chunk}, 16, 16, 1, array);
    Bytes room(content_bytes);
    return restored2(frame, room).status;
  };
  constexpr std::uint32_t kHuge = 0xFFFFFFFF;
  EXPECT_EQ(status({.shape = {16}, .chunk = {16}, .block = {16}}), Status::kOk);
  EXPECT_EQ(status({.shape = {1}, .chunk = {16}, .block = {1}}, 1), Status::kOk);
  EXPECT_EQ(status({.shape = {17}, .chunk = {16}, .block = {16}}, 17), Status::kCorruptHeader);
  EXPECT_EQ(status({.shape = {16}, .chunk = {16}, .block = {0}}), Status::kCorruptHeader);
  EXPECT_EQ(status({.shape = {16}, .chunk = {0}, .block = {0}}), Status::kCorruptHeader);
  EXPECT_EQ(status({.shape = {16}, .chunk = {15}, .block = {16}}), Status::kCorruptHeader);
  EXPECT_EQ(status({.shape = {~std::uint64_t{0}}, .chunk = {16}, .block = {16}}), Status::kCorruptHeader);
  EXPECT_EQ(status({.shape = {16, 1}, .chunk = {16, kHuge}, .block = {16, kHuge}}), Status::kCorruptHeader);
  const std::uint64_t wide = std::uint64_t{1} << 33;
  EXPECT_EQ(status({.shape = {wide, wide}, .chunk = {4, 4}, .block = {4, 4}}), Status::kCorruptHeader);
}

TEST(Blosc2, FramesOfTooManyChunksAreErrors) {
  // A frame of few bytes that says it has 2^24 chunks of one byte.
  Bytes frame = frame_of({}, 1 << 24, 1, 1), room(1 << 24);
  EXPECT_EQ(restored2(frame, room).status, Status::kCorruptHeader);
}

TEST(Blosc2, AnyBytesAreSafe) {
  std::mt19937 numbers(6);
  const auto random = [&] { return static_cast<std::uint32_t>(numbers()); };
  const Bytes words = wordy_bytes(3000);
  std::vector<ArrayFrame> some;
  for (const ChunkCoding& coding : codings2()) {
    Bytes chunk = blosc2_chunk(
        std::span(words).first(2976),
        {.format = coding.format, .filter = coding.filter, .element_bytes = 4, .block_bytes = 992});
    some.push_back({Bytes(2976), chunk});
    some.back().frame[16] = std::byte{3};  // delta, first
    some.push_back({Bytes(2976), chunk});
    some.push_back({Bytes(3 * 2976), frame_of({chunk, {}, chunk}, 3 * 2976, 2976, 4)});
  }
  some.push_back(array_frame());
  unsigned restored_count = 0, refused_count = 0;
  for (const ArrayFrame& one : some)
    for (int i = 0; i < 150; ++i) {
      Bytes data = one.frame;
      for (unsigned n = random() % 3; n > 0; --n)
        data[random() % (random() % 2 == 0 ? std::min<std::size_t>(data.size(), 190) : data.size())] =
            static_cast<std::byte>(random() % 4 == 0 ? 0xFF : random());
      if (random() % 4 == 0) data.resize(random() % (data.size() + 1));
      const Against against = i % 2 == 0 ? Against::kUpperGuard : Against::kLowerGuard;
      GuardedBuffer input(data, against), output(one.content.size(), against);
      const ArrayChunk chunk = restored2(input.bytes(), output.bytes());
      ASSERT_EQ(chunk.status == Status::kOk, chunk.message.empty());
      ASSERT_NE(chunk.status, Status::kInternal) << chunk.message;
      ++(chunk.status == Status::kOk ? restored_count : refused_count);
    }
  EXPECT_GT(restored_count, 10 * some.size());
  EXPECT_GT(refused_count, 10 * some.size());
}

TEST_WITH_THREADS(Blosc2, DamageStaysInItsChunk) {
  const ArrayFrame made = array_frame();
  const Bytes content = wordy_bytes(100'000);
  const Bytes chunk =
      blosc2_chunk(content, {.filter = ChunkFilter::kShuffle, .element_bytes = 4, .block_bytes = 4096});
  Bytes bad = chunk;
  bad.resize(bad.size() - 1);
  Bytes rooms[9];
  std::vector<ArrayChunk> chunks;
  for (std::size_t i = 0; i < 9; ++i) {
    rooms[i].resize(i % 3 == 0 ? made.content.size() : content.size());
    chunks.push_back({.input = i % 3 == 0 ? made.frame : i % 3 == 1 ? chunk : bad, .output = rooms[i]});
  }
  RestoreOptions options;
  options.threads = 4;
  restore_chunks(chunks, {}, options);
  for (std::size_t i = 0; i < 9; ++i) {
    ASSERT_EQ(chunks[i].status == Status::kOk, i % 3 != 2) << chunks[i].message;
    if (i % 3 != 2) {
      EXPECT_EQ(rooms[i], i % 3 == 0 ? made.content : content);
    }
  }
}

TEST(Blosc2, HasNoLayout) {
  const Bytes chunk = blosc2_chunk(wordy_bytes(1000), {});
  try {
    chunk_layout(chunk, {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUnsupportedFeature);
  }
}

}  // namespace
}  // namespace hemstitch::testing
