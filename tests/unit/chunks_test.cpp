// Chunks of arrays: Blosc's and HDF5's containers. What the containers' own libraries write and read is compared in
// bindings/python/tests.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/bytes.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/arrays.hpp"
#include "hemstitch/compact.hpp"
#include "hemstitch/memory.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

struct NamedCoding {
  std::string name;
  ChunkCoding coding;
};

std::vector<NamedCoding> codings() {
  std::vector<NamedCoding> all;
  for (const std::uint32_t element : {1U, 2U, 3U, 4U, 8U, 16U, 255U})
    for (const std::uint32_t block : {0U, 8 * element, 4080U * element}) {
      const std::string name = " " + std::to_string(element) + " " + std::to_string(block);
      for (const Format format : {Format::kLz4, Format::kZlib, Format::kZstd})
        for (const ChunkFilter filter : {ChunkFilter::kNone, ChunkFilter::kShuffle, ChunkFilter::kBitshuffle})
          all.push_back(
              {"blosc " + std::to_string(static_cast<int>(format)) + " " +
                   std::to_string(static_cast<int>(filter)) + name,
               {.format = format, .filter = filter, .element_bytes = element, .block_bytes = block}});
      for (const Format format : {Format::kLz4, Format::kZstd})
        all.push_back({"bitshuffle " + std::to_string(static_cast<int>(format)) + name,
                       {.container = ChunkContainer::kHdf5Bitshuffle,
                        .format = format,
                        .element_bytes = element,
                        .block_bytes = block}});
    }
  for (const std::uint32_t block : {0U, 1U, 1000U})
    all.push_back(
        {"hdf5 lz4 " + std::to_string(block), {.container = ChunkContainer::kHdf5Lz4, .block_bytes = block}});
  return all;
}

template <class Options>
Options with_threads(unsigned threads) {
  Options options;
  options.threads = threads;
  return options;
}

ArrayChunk compressed(std::span<const std::byte> content, const ChunkCoding& coding, Bytes& room) {
  room.resize(chunk_bound(content.size(), coding));
  ArrayChunk chunk{.input = content, .output = room};
  compress_chunks({&chunk, 1}, coding, with_threads<CompressOptions>(1));
  room.resize(chunk.output_bytes);
  return chunk;
}

Bytes chunk_of(std::span<const std::byte> content, const ChunkCoding& coding) {
  Bytes room;
  EXPECT_EQ(compressed(content, coding, room).status, Status::kOk);
  return room;
}

ArrayChunk restored(std::span<const std::byte> data, std::span<std::byte> output, const ChunkCoding& coding) {
  ArrayChunk chunk{.input = data, .output = output};
  restore_chunks({&chunk, 1}, coding, with_threads<RestoreOptions>(1));
  return chunk;
}

// What chunk_layout() promises of blocks that it gives.
void expect_sound(const ChunkLayout& layout, std::size_t chunk_bytes) {
  std::uint64_t at = 0;
  for (const ChunkBlock& block : layout.blocks) {
    ASSERT_EQ(block.content_begin, at);
    ASSERT_LE(block.begin, chunk_bytes);
    ASSERT_LE(block.bytes, chunk_bytes - block.begin);
    ASSERT_GT(block.content_bytes, 0U);
    if (block.stored) {
      ASSERT_EQ(block.bytes, block.content_bytes);
    }
    at += block.content_bytes;
    if (layout.filter != ChunkFilter::kNone) {
      ASSERT_EQ(block.content_begin / layout.filter_block_bytes, (at - 1) / layout.filter_block_bytes);
    }
  }
  ASSERT_EQ(at, layout.content_bytes);
  ASSERT_LE(layout.filtered_end, layout.content_bytes);
}

TEST(Chunks, ContentComesBack) {
  std::vector<Bytes> contents;
  for (const std::size_t size : {0U, 1U, 7U, 8U, 100U, 4096U, 20'001U}) {
    contents.push_back(random_bytes(size));
    contents.push_back(wordy_bytes(size));
    contents.push_back(periodic_bytes(size, 4));
  }
  for (const NamedCoding& one : codings())
    for (const Bytes& content : contents) {
      const Bytes data = chunk_of(content, one.coding);
      GuardedBuffer input(data), output(content.size());
      const ArrayChunk chunk = restored(input.bytes(), output.bytes(), one.coding);
      ASSERT_EQ(chunk.status, Status::kOk) << one.name << " " << content.size() << ": " << chunk.message;
      ASSERT_TRUE(std::ranges::equal(output.bytes(), content)) << one.name << " " << content.size();
      const ChunkLayout layout = chunk_layout(data, one.coding);
      expect_sound(layout, data.size());
      ASSERT_EQ(layout.content_bytes, content.size());
    }
}

TEST(Chunks, FiltersMakeNumbersSmaller) {
  Bytes numbers;
  for (std::uint32_t i = 0; i < 50'000; ++i)
    for (unsigned byte = 0; byte < 4; ++byte)
      numbers.push_back(static_cast<std::byte>((1'000'000 + i * 3) >> 8 * byte));
  const auto size = [&](ChunkFilter filter) {
    return chunk_of(numbers, {.filter = filter, .element_bytes = 4}).size();
  };
  EXPECT_LT(2 * size(ChunkFilter::kShuffle), size(ChunkFilter::kNone));
  EXPECT_LT(2 * size(ChunkFilter::kBitshuffle), size(ChunkFilter::kNone));
  for (const Format format : {Format::kLz4, Format::kZlib, Format::kZstd})
    EXPECT_LT(
        chunk_of(numbers, {.format = format, .filter = ChunkFilter::kShuffle, .element_bytes = 4}).size(),
        numbers.size() / 2);
}

TEST(Chunks, NoiseIsStored) {
  const Bytes noise = random_bytes(100'000);
  EXPECT_EQ(chunk_of(noise, {}).size(), 16 + noise.size());
  EXPECT_EQ(chunk_of(noise, {.container = ChunkContainer::kHdf5Lz4, .block_bytes = 10'000}).size(),
            12 + 10 * 4 + noise.size());
}

TEST(Chunks, AnyBytesAreSafe) {
  std::mt19937 numbers(4);
  const auto random = [&] { return static_cast<std::uint32_t>(numbers()); };
  std::vector<NamedCoding> some;
  for (const NamedCoding& one : codings())
    if (one.coding.block_bytes != 0 || one.coding.element_bytes == 4) some.push_back(one);
  const Bytes content = wordy_bytes(3000);
  unsigned restored_count = 0, refused_count = 0;
  for (const NamedCoding& one : some) {
    const Bytes sound = chunk_of(content, one.coding);
    for (int i = 0; i < 40; ++i) {
      Bytes data = i % 8 == 0 ? random_bytes(random() % 200, random()) : sound;
      // Headers and places of blocks are the first bytes.
      for (unsigned n = random() % 3; n > 0 && !data.empty(); --n)
        data[random() % (random() % 2 == 0 ? std::min<std::size_t>(data.size(), 40) : data.size())] =
            static_cast<std::byte>(random());
      if (random() % 4 == 0) data.resize(random() % (data.size() + 1));
      const Against against = i % 2 == 0 ? Against::kUpperGuard : Against::kLowerGuard;
      GuardedBuffer input(data, against), output(content.size(), against);
      const ArrayChunk chunk = restored(input.bytes(), output.bytes(), one.coding);
      ASSERT_EQ(chunk.status == Status::kOk, chunk.message.empty());
      ASSERT_EQ(chunk.output_bytes, chunk.status == Status::kOk ? content.size() : 0);
      ++(chunk.status == Status::kOk ? restored_count : refused_count);
      try {
        expect_sound(chunk_layout(input.bytes(), one.coding), data.size());
      } catch (const Error& error) {
        if (error.status() == Status::kUnsupportedFeature) continue;  // it may be one of Blosc 2 now
        ASSERT_EQ(error.status(), chunk.status) << one.name << ": " << error.what();
      }
    }
  }
  EXPECT_GT(restored_count, some.size());
  EXPECT_GT(refused_count, 10 * some.size());
}

TEST(Chunks, BareBlocksAreRestored) {
  for (const Format format : {Format::kLz4, Format::kZlib, Format::kZstd})
    for (const std::size_t size : {1U, 100U, 50'000U}) {
      const Bytes content = wordy_bytes(size);
      const ChunkCoding coding = {.container = ChunkContainer::kBare, .format = format};
      // Blosc's only block, or what a tool would write.
      Bytes data;
      if (format == Format::kLz4) {
        data.resize(lz4_block_bound(size));
        Lz4Block block{.input = content, .output = data};
        compress_lz4_blocks({&block, 1});
        data.resize(block.output_bytes);
      } else {
        CompressOptions options;
        options.format = format;
        options.backend = "cpu";
        data = compress(content, options);
      }
      GuardedBuffer input(data), output(size);
      ASSERT_EQ(restored(input.bytes(), output.bytes(), coding).status, Status::kOk);
      ASSERT_TRUE(std::ranges::equal(output.bytes(), content));
      for (const std::size_t other : {size - 1, size + 1}) {
        GuardedBuffer room(other);
        ASSERT_EQ(restored(input.bytes(), room.bytes(), coding).status, Status::kCorruptBlock);
      }
      Bytes cut(data.begin(), data.end() - 1);
      GuardedBuffer shorter(cut);
      ASSERT_EQ(restored(shorter.bytes(), output.bytes(), coding).status, Status::kCorruptBlock);
      EXPECT_THROW(chunk_layout(data, coding), Error);
      EXPECT_THROW(chunk_bound(size, coding), Error);
    }
}

// A chunk of two blocks of one part, with one word of its header changed.
Status status_with(std::size_t at, std::uint32_t word, std::string* message = nullptr) {
  const Bytes content = wordy_bytes(8000);
  Bytes data = chunk_of(content, {.block_bytes = 4000});
  store_le32(data.data() + at, word);
  Bytes output(content.size());
  const ArrayChunk chunk = restored(data, output, {});
  if (message != nullptr) *message = chunk.message;
  return chunk.status;
}

TEST(Chunks, HeadersThatLieAreErrors) {
  const Bytes data = chunk_of(wordy_bytes(8000), {.block_bytes = 4000});
  const auto bytes = static_cast<std::uint32_t>(data.size());
  EXPECT_EQ(status_with(4, 7999), Status::kContentSizeMismatch);
  EXPECT_EQ(status_with(4, 0xFFFFFFFF), Status::kCorruptHeader);
  EXPECT_EQ(status_with(8, 0), Status::kCorruptHeader);     // blocks of no bytes
  EXPECT_EQ(status_with(8, 8001), Status::kCorruptHeader);  // larger than the content
  EXPECT_EQ(status_with(8, 1), Status::kCorruptHeader);     // more blocks than fit
  EXPECT_EQ(status_with(12, 15), Status::kCorruptHeader);   // shorter than its header
  EXPECT_EQ(status_with(12, bytes + 1), Status::kTruncated);
  std::string message;
  EXPECT_EQ(status_with(20, bytes - 3, &message), Status::kCorruptBlock);  // where the second block begins
  EXPECT_NE(message.find("block 1"), std::string::npos) << message;
  EXPECT_EQ(status_with(20, 0xFFFFFFFF), Status::kCorruptBlock);
  EXPECT_EQ(status_with(24, 0x7FFFFFFF), Status::kCorruptBlock);  // the size of the first one
  EXPECT_EQ(status_with(16, load_le32(data.data() + 20)),
            Status::kOk);  // the second one twice: half is wrong, as nothing tells
  EXPECT_EQ(status_with(0, 0x01010105), Status::kUnsupportedFeature);  // Blosc 2's version
  const auto of_codec = [&](unsigned codec) {
    return load_le32(data.data()) % 0x10000 | (codec << 5 | 16) << 16 | 0x1000000;
  };
  EXPECT_EQ(status_with(0, of_codec(0), &message), Status::kUnsupportedFeature);
  EXPECT_NE(message.find("blosclz"), std::string::npos) << message;
  EXPECT_EQ(status_with(0, of_codec(2), &message), Status::kUnsupportedFeature);
  EXPECT_NE(message.find("Snappy"), std::string::npos) << message;
  EXPECT_EQ(status_with(0, of_codec(3)), Status::kCorruptBlock);
  EXPECT_EQ(status_with(0, of_codec(4)), Status::kCorruptBlock);
}

TEST_WITH_THREADS(Chunks, DamageStaysInItsChunk) {
  const Bytes content = wordy_bytes(300'000);
  for (const ChunkCoding& coding :
       {ChunkCoding{.filter = ChunkFilter::kShuffle, .element_bytes = 4},
        ChunkCoding{.container = ChunkContainer::kHdf5Lz4, .block_bytes = 30'000},
        ChunkCoding{
            .container = ChunkContainer::kHdf5Bitshuffle, .format = Format::kZstd, .element_bytes = 2}}) {
    Bytes rooms[20];
    std::vector<ArrayChunk> chunks;
    for (Bytes& room : rooms) {
      room.resize(chunk_bound(content.size(), coding));
      chunks.push_back({.input = content, .output = room});
    }
    compress_chunks(chunks, coding, with_threads<CompressOptions>(4));
    Bytes contents[20];
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      ASSERT_EQ(chunks[i].status, Status::kOk);
      rooms[i].resize(chunks[i].output_bytes);
      ASSERT_EQ(rooms[i], rooms[0]);
      contents[i].resize(content.size());
      chunks[i] = {.input = rooms[i], .output = contents[i]};
    }
    // The last block is cut short, and a header is not there.
    rooms[7].resize(rooms[7].size() - 1);
    chunks[7].input = rooms[7];
    chunks[11].input = {};
    restore_chunks(chunks, coding, with_threads<RestoreOptions>(4));
    for (std::size_t i = 0; i < chunks.size(); ++i)
      if (i == 7 || i == 11) {
        EXPECT_NE(chunks[i].status, Status::kOk);
        EXPECT_FALSE(chunks[i].message.empty());
      } else {
        EXPECT_EQ(chunks[i].status, Status::kOk) << chunks[i].message;
        EXPECT_EQ(contents[i], content);
      }
  }
}

TEST(Chunks, RoomThatIsTooSmall) {
  const Bytes content = wordy_bytes(10'000);
  const Bytes whole = chunk_of(content, {});
  Bytes room(whole.size() - 1);
  ArrayChunk chunk{.input = content, .output = room};
  compress_chunks({&chunk, 1}, {});
  EXPECT_EQ(chunk.status, Status::kOutputTooSmall);
  EXPECT_EQ(chunk.output_bytes, 0U);
  EXPECT_FALSE(chunk.message.empty());
}

TEST(Chunks, OptionsAreChecked) {
  const auto refused = [](const ChunkCoding& coding, const std::string& word) {
    Bytes content(100), room(1000);
    ArrayChunk chunk{.input = content, .output = room};
    try {
      compress_chunks({&chunk, 1}, coding);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      return;
    }
    ADD_FAILURE() << word;
  };
  refused({.container = ChunkContainer{9}}, "container");
  refused({.format = Format::kGzip}, "format");
  refused({.container = ChunkContainer::kHdf5Lz4, .format = Format::kZstd}, "format");
  refused({.container = ChunkContainer::kHdf5Bitshuffle, .format = Format::kZlib}, "format");
  refused({.element_bytes = 0}, "element_bytes");
  refused({.element_bytes = 256}, "element_bytes");
  refused({.filter = ChunkFilter{7}}, "filter");
  refused({.level = 13}, "level");
  refused({.container = ChunkContainer::kHdf5Bitshuffle, .element_bytes = 4, .block_bytes = 100},
          "block_bytes");
  EXPECT_THROW(chunk_bound(0x80000000, {}), Error);
  EXPECT_EQ(chunk_bound(1000, {}), 1016U);
}

TEST(Chunks, ACallCanBeEnded) {
  const Bytes content = wordy_bytes(1'000'000), data = chunk_of(content, {});
  Bytes output(content.size());
  ArrayChunk chunk{.input = data, .output = output};
  RestoreOptions options;
  options.between_pieces = [] { throw std::runtime_error("enough"); };
  EXPECT_THROW(restore_chunks({&chunk, 1}, {}, options), std::runtime_error);
}

}  // namespace
}  // namespace hemstitch::testing
