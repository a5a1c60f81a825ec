// Restoring DEFLATE on a CUDA device, compared with deflate_restore_reference(): bytes, sizes and statuses of
// valid streams and of all kinds of damage, in every way. Every output is between guard bytes.
#include <isa-l/igzip_lib.h>

#include <cstdlib>
#include <random>
#include <string>

#include "all_cores.hpp"
#include "cuda_test.hpp"
#include "deflate_restore_cases.hpp"
#include "format/deflate/restore/deflate_restore_tuning.hpp"
#include "format/deflate/restore/deflate_restore_ways_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "libdeflate_stream.hpp"
#include "restore_batch.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using testing::Chunk;
using testing::DeflateBitWriter;
using testing::libdeflate_stream;
using testing::on_all_cores;
using testing::RestoreBatch;
using testing::Restored;
using testing::same;
using testing::zlib_stream;

Restored by_reference(const Chunk& chunk) {
  testing::DeflateVerdict verdict = testing::deflate_verdict(chunk.block, chunk.history, chunk.capacity);
  return {static_cast<hemstitch_status>(verdict.status), verdict.content.size(), std::move(verdict.content)};
}

void add(std::vector<Chunk>& chunks, std::vector<testing::DeflateCase> cases) {
  for (testing::DeflateCase& one : cases)
    chunks.push_back({std::move(one.stream), one.room, std::move(one.history), std::move(one.name)});
}

struct NamedWay {
  const char* name;
  cuda::DeflateWay way;
};
constexpr NamedWay kWays[] = {{"a warp a stream", cuda::DeflateWay::kMany},
                              {"several warps a stream", cuda::DeflateWay::kFew},
                              {"many warps a stream", cuda::DeflateWay::kFewest}};

void restore(RestoreBatch& on_device, cuda::DeflateWay way) {
  const std::size_t scratch_bytes = cuda::restore_deflate_cuda_scratch_bytes(on_device.batch());
  const cuda::DeviceBuffer<std::byte> scratch(scratch_bytes + 1, on_device.stream());
  cuda::restore_deflate_cuda(way, on_device.batch(), scratch.get() + 1, scratch_bytes, on_device.stream());
}
void restore(RestoreBatch& on_device) { restore(on_device, cuda::deflate_way(on_device.batch())); }

Bytes isal_stream(std::span<const std::byte> content) {
  Bytes data(content.size() + content.size() / 2 + 1000);
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(content.data()));
  stream.avail_in = static_cast<std::uint32_t>(content.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(data.data());
  stream.avail_out = static_cast<std::uint32_t>(data.size());
  isal_deflate_stateless(&stream);
  data.resize(stream.total_out);
  return data;
}

std::vector<Bytes> streams_of(std::span<const std::byte> content) {
  std::vector<Bytes> streams = testing::zlib_streams(content);
  for (const int level : {1, 6, 12}) streams.push_back(libdeflate_stream(content, level));
  streams.push_back(isal_stream(content));
  return streams;
}

class DeflateRestoreDeviceTest : public CudaStreamTest {
 protected:
  // Restores in each way, with and without output.
  void expect_same(std::span<const Chunk> chunks) const {
    RestoreBatch batch(chunks, stream());
    std::byte* const* const d_outputs = batch.batch().d_outputs;
    for (const NamedWay& named : kWays) {
      batch.batch().d_outputs = d_outputs;
      batch.poison();
      restore(batch, named.way);
      ASSERT_TRUE(same(chunks, batch.results(), by_reference)) << named.name;
      batch.poison();
      batch.batch().d_outputs = nullptr;
      restore(batch, named.way);
      ASSERT_TRUE(same(chunks, batch.results(), by_reference, true)) << named.name << ", sizes alone";
    }
  }
};

TEST_F(DeflateRestoreDeviceTest, RestoresWhatEveryWriterWrites) {
  std::vector<Chunk> chunks;
  for (const testing::Shape& shape : testing::boundary_shapes(65537))
    for (const Bytes& stream : streams_of(shape.bytes)) {
      chunks.push_back({stream, shape.bytes.size(), {}, shape.name + ", exact"});
      if (!shape.bytes.empty())
        chunks.push_back({stream, shape.bytes.size() - 1, {}, shape.name + ", one short"});
      chunks.push_back({stream, shape.bytes.size() + 300, {}, shape.name + ", room left"});
    }
  expect_same(chunks);
}

TEST_F(DeflateRestoreDeviceTest, RestoresRealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<Chunk> chunks;
  for (const std::string name : {"dickens", "samba", "nci", "x-ray", "xml"}) {
    const Bytes file = testing::read_file(*folder / "silesia" / name);
    for (const auto& [begin, bytes] :
         {std::pair<std::size_t, std::size_t>{0, 1 << 20}, {1'500'000, 65280}, {3'000'000, 4096}})
      for (const Bytes& stream : streams_of(std::span(file).subspan(begin, bytes)))
        chunks.push_back({stream, bytes, {}, name});
  }
  expect_same(chunks);
}

TEST_F(DeflateRestoreDeviceTest, MatchesReachAsFarAsHistory) {
  std::vector<Chunk> chunks;
  for (const std::size_t bytes : {1, 100, 32767, 32768, 40000})
    add(chunks, testing::deflate_cases_with_history(bytes, 9000));
  expect_same(chunks);
}

TEST_F(DeflateRestoreDeviceTest, SmallStreamsCutAndFlippedAnywhere) {
  for (const auto& [level, strategy] :
       {std::pair{0, Z_DEFAULT_STRATEGY}, {9, Z_DEFAULT_STRATEGY}, {6, Z_FIXED}, {6, Z_HUFFMAN_ONLY}}) {
    std::vector<Chunk> chunks;
    for (const Bytes& content : {Bytes(), testing::equal_bytes(300), testing::wordy_bytes(350),
                                 testing::random_bytes(60, 3), testing::random_bytes(300, 9, 3)}) {
      const Bytes stream = zlib_stream(content, level, strategy);
      add(chunks, testing::cut_and_flipped_deflate_cases(stream, content.size(), 0, 1,
                                                         [](std::size_t) { return std::size_t{1000}; }));
    }
    expect_same(chunks);
  }
}

TEST_F(DeflateRestoreDeviceTest, UnusualCodes) {
  std::vector<Chunk> chunks;
  add(chunks, testing::unusual_deflate_codes());
  expect_same(chunks);
}

TEST_F(DeflateRestoreDeviceTest, RestoresStreamsThatNoEncoderWrites) {
  std::vector<Chunk> chunks;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    testing::ValidData made = testing::valid_deflate_stream(seed, seed % 50 == 0 ? 300'000 : 5000);
    chunks.push_back({std::move(made.data), made.content.size(), std::move(made.dictionary),
                      "seed " + std::to_string(seed)});
  }
  expect_same(chunks);
}

// HEMSTITCH_MUTATED_STREAMS says how many there are; a longer run has other streams than a shorter one.
TEST_F(DeflateRestoreDeviceTest, MutatedStreamsEndAsTheReferenceSays) {
  constexpr std::size_t kBatch = 100'000;
  const char* const asked = std::getenv("HEMSTITCH_MUTATED_STREAMS");
  const std::size_t batches = asked != nullptr ? (std::stoull(asked) + kBatch - 1) / kBatch : 12;
  std::vector<std::pair<Bytes, std::size_t>> sound;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const Bytes content =
        i % 3 == 0 ? testing::runs_bytes(200 + 40 * i, i) : testing::wordy_bytes(300 + 50 * i, i);
    sound.emplace_back(i % 4 == 0   ? zlib_stream(content, 6, Z_FIXED)
                       : i % 4 == 1 ? libdeflate_stream(content, 12)
                                    : zlib_stream(content, 9, Z_DEFAULT_STRATEGY, i % 4 == 2 ? 1 : 8),
                       content.size());
  }
  std::size_t accepted = 0, too_small = 0;
  for (std::uint32_t round = 0; round < batches; ++round) {
    std::vector<Chunk> chunks(kBatch);
    on_all_cores(100, [&](std::size_t part) {
      std::mt19937 random(round * 1000 + static_cast<std::uint32_t>(part));
      for (std::size_t i = part * (kBatch / 100); i < (part + 1) * (kBatch / 100); ++i) {
        const auto& [stream, bytes] = sound[random() % sound.size()];
        Chunk& chunk = chunks[i];
        chunk = {stream, bytes - 1 + random() % 3, {}, "mutated"};
        testing::mutate_deflate_stream(chunk.block, random);
        if (round % 4 >= 2) chunk.history = Bytes(random() % 300, static_cast<std::byte>(i));
      }
    });
    const NamedWay& named = kWays[round % std::size(kWays)];
    RestoreBatch batch(chunks, stream());
    batch.poison();
    restore(batch, named.way);
    const std::vector<Restored> restored = batch.results();
    ASSERT_TRUE(same(chunks, restored, by_reference)) << "round " << round << ", " << named.name;
    for (const Restored& one : restored) {
      accepted += one.status == HEMSTITCH_OK;
      too_small += one.status == HEMSTITCH_OUTPUT_TOO_SMALL;
    }
  }
  EXPECT_GT(accepted, kBatch * batches / 100);
  EXPECT_GT(too_small, kBatch * batches / 100);
}

TEST_F(DeflateRestoreDeviceTest, BatchesOfAnyNumberOfStreams) {
  expect_same({});
  const Bytes content = testing::wordy_bytes(300);
  const Bytes stream = zlib_stream(content);
  expect_same(std::vector<Chunk>(1, {stream, content.size(), {}, "one"}));
  std::vector<Chunk> small(100'003, {zlib_stream(testing::wordy_bytes(20)), 20});
  for (std::size_t i = 1; i < small.size(); i += 5) small[i] = {{}, 0};  // no stream at all
  for (std::size_t i = 2; i < small.size(); i += 5) small[i].block[0] = std::byte{7};
  small[77'777] = {stream, content.size()};
  expect_same(small);
}

// Codes that resynchronize late or never, so that beginnings must be told apart by phase: literals of 8 bits,
// with and without others among them.
TEST_F(DeflateRestoreDeviceTest, CodesThatDoNotPutThemselvesRight) {
  std::vector<Chunk> chunks;
  std::vector<std::uint8_t> flat(257, 8);
  flat[255] = 0;
  for (const std::uint32_t alphabet : {2u, 100u, 255u}) {
    const Bytes content = testing::random_bytes(100'000, alphabet, alphabet);
    DeflateBitWriter writer;
    writer.dynamic(true, flat, {0});
    for (const std::byte byte : content) writer.code(std::to_integer<unsigned>(byte), 8);
    chunks.push_back({writer.code(255, 8).bytes(), content.size(), {}, "all of 8 bits"});
  }
  // Blocks of a byte each: what follows them in a window means nothing to their codes.
  std::vector<std::uint8_t> two(257, 0);
  two['a'] = two[256] = 1;
  DeflateBitWriter small_blocks;
  for (unsigned i = 0; i < 1000; ++i) {
    if (i % 2 == 0)
      small_blocks.dynamic(false, two, {0}).code(0, 1).code(1, 1);
    else
      small_blocks.dynamic(i == 999, flat, {0}).code('a', 8).code(255, 8);
  }
  chunks.push_back({small_blocks.bytes(), 1000, {}, "blocks of a byte"});
  for (const std::uint32_t alphabet : {130u, 200u, 240u, 250u, 255u, 256u}) {
    const Bytes content = testing::random_bytes(100'000, alphabet, alphabet);
    for (const int strategy : {Z_HUFFMAN_ONLY, Z_FIXED, Z_DEFAULT_STRATEGY})
      chunks.push_back({zlib_stream(content, 6, strategy), content.size(), {}, "noise"});
    chunks.push_back({libdeflate_stream(content, 6), content.size(), {}, "noise"});
  }
  expect_same(chunks);
}

// Few streams of a megabyte and more, with all kinds of content, and damaged and small ones in between.
TEST_F(DeflateRestoreDeviceTest, FewLargeStreamsAmongOthers) {
  std::vector<Chunk> chunks(24);
  on_all_cores(chunks.size(), [&](std::size_t i) {
    const auto seed = static_cast<std::uint32_t>(i);
    const std::size_t bytes = i % 8 == 7 ? 10 * i : 1'000'000 + 77'777 * i;
    const Bytes content = i % 4 == 0   ? testing::wordy_bytes(bytes, seed)
                          : i % 4 == 1 ? testing::random_bytes(bytes, seed, 250)
                          : i % 4 == 2 ? testing::runs_bytes(bytes, seed)
                                       : testing::equal_bytes(bytes);
    chunks[i] = {i % 3 == 0 ? libdeflate_stream(content, 9) : zlib_stream(content, i % 3 == 1 ? 1 : 6),
                 content.size(),
                 {},
                 "large"};
    Bytes& stream = chunks[i].block;
    if (i % 5 == 1) stream[stream.size() - 1 - stream.size() / 9] ^= std::byte{0x20};
    if (i % 5 == 3) stream.resize(stream.size() - stream.size() / 7);
    if (i % 5 == 4) --chunks[i].capacity;
  });
  expect_same(chunks);
}

// Streams that are set apart, among many that are not: valid ones, damaged ones, and more than there is room
// for.
TEST_F(DeflateRestoreDeviceTest, LongStreamsAmongShortOnes) {
  const Bytes text = testing::wordy_bytes(2000);
  for (const std::size_t long_count : {std::size_t{4}, std::size_t{cuda::kDeflateMostLongStreams} + 2}) {
    std::vector<Chunk> chunks(1500, {zlib_stream(text), text.size(), {}, "short"});
    on_all_cores(long_count, [&](std::size_t i) {
      const Bytes content =
          testing::random_bytes(cuda::kDeflateLongStreamBytes + 30'000, static_cast<std::uint32_t>(i));
      // Most of them are stored.
      Chunk& chunk = chunks[7 + 11 * i];
      chunk = {zlib_stream(content, 0), content.size(), {}, "long"};
      if (i % 4 == 1) chunk.block = zlib_stream(testing::random_bytes(2 << 20, 3, 200), 6);
      if (i % 4 == 1) chunk.capacity = 2 << 20;
      if (i % 4 == 2) chunk.block[chunk.block.size() / 3] ^= std::byte{1};
      if (i % 4 == 3) chunk.block[0] = std::byte{7};
    });
    expect_same(chunks);
  }
}

TEST_F(DeflateRestoreDeviceTest, TheBatchChoosesItsWay) {
  const auto way = [](std::uint64_t count, std::uint64_t bytes) {
    cuda::DeviceRestore batch;
    batch.count = count;
    batch.max_block_bytes = bytes;
    return cuda::deflate_way(batch);
  };
  using cuda::DeflateWay, cuda::kDeflateFewStreams;
  int device = 0, multiprocessors = 0;
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), cudaSuccess);
  const std::uint64_t many = cuda::kDeflateManyRounds * 32 * static_cast<std::uint64_t>(multiprocessors);
  EXPECT_EQ(way(1, 1 << 20), DeflateWay::kFewest);
  EXPECT_EQ(way(std::min(kDeflateFewStreams, many) - 1, 1 << 20), DeflateWay::kFewest);
  if (many > kDeflateFewStreams) {
    EXPECT_EQ(way(kDeflateFewStreams, 1 << 20), DeflateWay::kFew);
    EXPECT_EQ(way(many - 1, 1 << 20), DeflateWay::kFew);
    EXPECT_EQ(way(many - 1, cuda::kDeflateGroupLeastBytes), DeflateWay::kMany);
  }
  EXPECT_EQ(way(many, 1 << 20), DeflateWay::kMany);
  EXPECT_EQ(way(1, cuda::kDeflateGroupLeastBytes - 1), DeflateWay::kMany);
}

TEST_F(DeflateRestoreDeviceTest, StreamsAboveTheBoundsAreLeftOut) {
  const Bytes content = testing::wordy_bytes(3000);
  const Bytes stream_bytes = zlib_stream(content);
  std::vector<Chunk> chunks(9, {stream_bytes, 3000, {}, "in bounds"});
  chunks[4].capacity = 3001;
  chunks[7].block.push_back(std::byte{0});
  RestoreBatch batch(chunks, stream());
  batch.batch().max_capacity = 3000;
  batch.batch().max_block_bytes = stream_bytes.size();
  for (const NamedWay& named : kWays) {
    batch.poison();
    restore(batch, named.way);
    const std::vector<Restored> restored = batch.results();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const bool is_out = i == 4 || i == 7;
      EXPECT_EQ(restored[i].status, is_out ? HEMSTITCH_INVALID_OPTION : HEMSTITCH_OK) << i;
      EXPECT_EQ(restored[i].bytes, is_out ? 0u : 3000u) << i;
    }
  }
}

TEST_F(DeflateRestoreDeviceTest, TooLittleScratchIsRefused) {
  const std::vector<Chunk> chunks(3, {zlib_stream(testing::wordy_bytes(50)), 50});
  RestoreBatch batch(chunks, stream());
  const std::size_t scratch_bytes = cuda::restore_deflate_cuda_scratch_bytes(batch.batch());
  const cuda::DeviceBuffer<std::byte> scratch(scratch_bytes, stream());
  EXPECT_THROW(cuda::restore_deflate_cuda(batch.batch(), scratch.get(), scratch_bytes - 1, stream()), Error);
}

// One run must not affect the next.
TEST_F(DeflateRestoreDeviceTest, RunsAreEqualAlsoOnTwoStreamsAtOnce) {
  std::vector<Chunk> chunks(300);
  on_all_cores(chunks.size(), [&](std::size_t i) {
    const auto seed = static_cast<std::uint32_t>(i);
    const Bytes content = i % 3 == 0 ? testing::random_bytes(65280, seed) : testing::wordy_bytes(65280, seed);
    chunks[i] = {libdeflate_stream(content, 6), content.size(), {}, "mixed"};
    if (i % 11 == 0) chunks[i].block[1000] ^= std::byte{0x10};
  });
  const cuda::Stream other;
  RestoreBatch left(chunks, stream()), right(chunks, other.get());
  for (int run = 0; run < 3; ++run) {
    left.poison();
    right.poison();
    restore(left);
    restore(right);
    ASSERT_TRUE(same(chunks, left.results(), by_reference)) << "run " << run;
    ASSERT_TRUE(same(chunks, right.results(), by_reference)) << "run " << run;
  }
}

}  // namespace
}  // namespace hemstitch
