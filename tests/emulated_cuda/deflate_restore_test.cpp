// DEFLATE's kernels on the processor, compared with the reference decoder: what tests/device does on a
// device, for machines without one.
#include <gtest/gtest.h>

#include <random>

#include "deflate_kernels.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch {
namespace {

using namespace testing;
using cuda::DeflateWay;

void expect_by_reference(std::span<const KernelBlock> streams, DeflateWay way, Against against) {
  for (const bool sizes_alone : {false, true}) {
    const auto restored = restored_by_deflate_kernels(streams, way, against, sizes_alone);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const RestoredByKernel expected = restored_by_deflate_reference(streams[i]);
      ASSERT_EQ(restored[i].status, expected.status) << i;
      ASSERT_EQ(restored[i].content.size(), expected.content.size()) << i;
      if (!sizes_alone) {
        ASSERT_TRUE(restored[i].content == expected.content) << i;
      }
    }
  }
}

TEST(EmulatedDeflateRestore, StreamsOfEveryKind) {
  std::vector<Bytes> streams;
  std::vector<std::size_t> sizes;
  for (const Bytes& content : {Bytes(), equal_bytes(1), equal_bytes(3000), wordy_bytes(5000),
                               runs_bytes(3000, 1), random_bytes(2500, 7, 240), random_bytes(2000, 3)})
    for (const auto& [level, strategy, memory] : {std::tuple{0, Z_DEFAULT_STRATEGY, 8},
                                                  {1, Z_DEFAULT_STRATEGY, 8},
                                                  {9, Z_DEFAULT_STRATEGY, 1},
                                                  {6, Z_FIXED, 8},
                                                  {6, Z_HUFFMAN_ONLY, 8}}) {
      streams.push_back(zlib_stream(content, level, strategy, memory));
      sizes.push_back(content.size());
    }
  std::vector<KernelBlock> batch;
  for (std::size_t i = 0; i < streams.size(); ++i) batch.push_back({streams[i], {}, sizes[i]});
  expect_by_reference(batch, DeflateWay::kMany, Against::kUpperGuard);
  expect_by_reference(batch, DeflateWay::kMany, Against::kLowerGuard);
  const auto some = std::span(batch).subspan(10, 6);
  for (const DeflateWay way : {DeflateWay::kMany, DeflateWay::kFew, DeflateWay::kFewest})
    expect_by_reference(some, way, Against::kUpperGuard);
}

TEST(EmulatedDeflateRestore, UnusualCodes) {
  const std::vector<DeflateCase> cases = unusual_deflate_codes();
  std::vector<KernelBlock> batch;
  for (const DeflateCase& one : cases) batch.push_back({one.stream, {}, one.room});
  for (const DeflateWay way : {DeflateWay::kMany, DeflateWay::kFew, DeflateWay::kFewest})
    expect_by_reference(batch, way, Against::kUpperGuard);
}

TEST(EmulatedDeflateRestore, StreamsThatNoEncoderWrites) {
  std::vector<ValidData> made;
  for (std::uint64_t seed = 0; seed < 600; seed += kTriedOneOf)
    made.push_back(valid_deflate_stream(seed, seed % 50 == 0 ? 70'000 : 3000));
  std::vector<KernelBlock> batch;
  for (const ValidData& one : made) batch.push_back({one.data, one.dictionary, one.content.size()});
  expect_by_reference(batch, DeflateWay::kMany, Against::kUpperGuard);
  expect_by_reference(std::span(batch).first(batch.size() / 6), DeflateWay::kFew, Against::kLowerGuard);
  expect_by_reference(std::span(batch).last(batch.size() / 6), DeflateWay::kFewest, Against::kUpperGuard);
}

TEST(EmulatedDeflateRestore, DamagedStreamsBesideSoundOnes) {
  std::mt19937 random(1);
  std::vector<Bytes> streams;
  std::vector<std::size_t> rooms;
  for (std::uint32_t i = 0; i < 600; ++i) {
    const Bytes content = i % 3 == 0 ? runs_bytes(100 + i, i) : wordy_bytes(50 + i, i);
    Bytes stream = zlib_stream(content, 6, i % 4 == 0 ? Z_FIXED : Z_DEFAULT_STRATEGY, i % 5 == 0 ? 1 : 8);
    for (auto changes = random() % 4; changes > 0; --changes)
      stream[random() % std::min<std::size_t>(stream.size(), 60)] ^= std::byte{1} << random() % 8;
    if (random() % 8 == 0) stream.resize(random() % (stream.size() + 1));
    rooms.push_back(content.size() - 1 + random() % 3);
    streams.push_back(std::move(stream));
  }
  const Bytes history = wordy_bytes(300);
  std::vector<KernelBlock> batch;
  for (std::size_t i = 0; i < streams.size(); ++i)
    batch.push_back({streams[i], std::span(history).first(i % 2 == 0 ? 0 : i % 300), rooms[i]});
  expect_by_reference(batch, DeflateWay::kMany, Against::kUpperGuard);
  expect_by_reference(std::span(batch).first(60), DeflateWay::kFew, Against::kLowerGuard);
}

// A warp for each stream if they take the device many rounds, else groups of warps.
TEST(EmulatedDeflateRestore, TheBatchChoosesItsWay) {
  const auto way = [](std::uint64_t count, std::uint64_t bytes) {
    cuda::DeviceRestore batch;
    batch.count = count;
    batch.max_block_bytes = bytes;
    return cuda::deflate_way(batch);
  };
  constexpr std::uint64_t kMany = 3 * 32 * emulated::kMultiprocessors;
  EXPECT_EQ(way(1, 1 << 20), DeflateWay::kFewest);
  EXPECT_EQ(way(kMany - 1, 1 << 20), DeflateWay::kFewest);
  EXPECT_EQ(way(kMany / 3, (16 << 10) - 1), DeflateWay::kMany);
  EXPECT_EQ(way(kMany / 3 - 1, (16 << 10) - 1), DeflateWay::kFewest);
  EXPECT_EQ(way(kMany, 1 << 20), DeflateWay::kMany);
  EXPECT_EQ(way(1, 4095), DeflateWay::kMany);
}

// A long stream that is set apart.
TEST(EmulatedDeflateRestore, ALongStreamAmongShortOnes) {
  const Bytes noise = random_bytes((1 << 20) + 30'000), text = wordy_bytes(300);
  const Bytes stored = zlib_stream(noise, 0), small = zlib_stream(text);
  Bytes damaged = stored;
  damaged[0] = std::byte{7};
  const std::vector<KernelBlock> batch{
      {small, {}, text.size()}, {stored, {}, noise.size()}, {damaged, {}, noise.size()}, {small, {}, 299}};
  expect_by_reference(batch, DeflateWay::kMany, Against::kUpperGuard);
  expect_by_reference(batch, DeflateWay::kFew, Against::kUpperGuard);
}

}  // namespace
}  // namespace hemstitch
