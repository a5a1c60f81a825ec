// near_three on the device must equal its twin, byte by byte.
#include "match/near_three/near_three.hpp"

#include <gtest/gtest.h>

#include "core/status.hpp"
#include "cuda_test.hpp"
#include "finder_cases.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "match/near_three/near_three_cuda.hpp"
#include "match/near_three/near_three_wide_cuda.hpp"

namespace hemstitch {
namespace {

using namespace testing;
using cuda::NearWords;

using NearThreeCuda = CudaTest;

std::vector<std::uint16_t> find_on_device(const FinderBatch& batch, const NearThreeParameters& parameters,
                                          const cuda::Stream& stream, NearWords words = NearWords::kRing) {
  const std::size_t scratch_bytes = cuda::find_near_three_cuda_scratch_bytes(batch.blocks(), parameters);
  return batch.run_for<std::uint16_t>(scratch_bytes, [&](std::uint16_t* d_near_offsets, void* d_scratch) {
    cuda::find_near_three_cuda(batch.blocks(), parameters, d_near_offsets, d_scratch, scratch_bytes,
                               stream.get(), words);
  });
}

// Empty if `offsets` are the twin's in every case; else describes the first difference.
std::string difference(const std::vector<FinderCase>& cases, const FinderBatch& batch,
                       const std::vector<std::uint16_t>& offsets, const NearThreeParameters& parameters) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const NearOffsets expected = find_near_three(cases[i].input(), parameters);
    for (std::size_t p = 0; p < expected.size(); ++p)
      if (offsets[batch.position(i) + p] != expected[p])
        return "block " + std::to_string(i) + " (" + cases[i].name + ", history " +
               std::to_string(cases[i].history_bytes) + ", block of " + std::to_string(expected.size()) +
               "), position " + std::to_string(p) + ": should be " + std::to_string(expected[p]) + ", is " +
               std::to_string(offsets[batch.position(i) + p]);
  }
  return "";
}

std::string text(const NearThreeParameters& parameters) {
  return "bits " + std::to_string(parameters.hash_bits) + ", depth " + std::to_string(parameters.depth) +
         ", window " + std::to_string(parameters.window_bytes);
}

void expect_equal(const std::vector<FinderCase>& cases,
                  const std::vector<NearThreeParameters>& all_parameters) {
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  for (const NearThreeParameters& parameters : all_parameters) {
    const std::vector<std::uint16_t> offsets = find_on_device(batch, parameters, stream);
    EXPECT_EQ(difference(cases, batch, offsets, parameters), "") << text(parameters);
    EXPECT_TRUE(offsets == find_on_device(batch, parameters, stream, NearWords::kDeviceMemory))
        << text(parameters) << ": without a ring it differs";
  }
}

std::vector<NearThreeParameters> deflate_parameters() {
  std::vector<NearThreeParameters> all;
  for (const int level : {1, 3, 9, 12}) all.push_back(deflate_level(level).near);
  return all;
}

TEST_F(NearThreeCuda, EqualsItsTwinOnSmallBlocks) { expect_equal(small_cases(), deflate_parameters()); }

TEST_F(NearThreeCuda, EqualsItsTwinForEveryParameter) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 501}) {
    cases.push_back({"words", wordy_bytes(4000, 1), history});
    cases.push_back({"random", random_bytes(4000, 2), history});
    cases.push_back({"two letters", random_bytes(4000, 2, 2), history});
    cases.push_back({"runs", runs_bytes(4000, 3), history});
    cases.push_back({"period 100", periodic_bytes(4000, 100), history});
  }
  std::vector<NearThreeParameters> all_parameters;
  for (const std::uint32_t depth : {1u, 2u, 5u, 16u, ~0u})
    for (const unsigned hash_bits : {9u, 14u, 16u})
      for (const std::uint32_t window_bytes : {1u, 3u, 100u, 32768u})
        all_parameters.push_back({hash_bits, depth, window_bytes});
  expect_equal(cases, all_parameters);
}

// In these blocks heads of 16 bits are swept, segments end, and the ring wraps around.
TEST_F(NearThreeCuda, EqualsItsTwinOnLargeBlocks) {
  expect_equal(
      large_cases(),
      {deflate_level(1).near, deflate_level(6).near, {.hash_bits = 16, .depth = 16, .window_bytes = 30'001}});
}

TEST_F(NearThreeCuda, EqualsItsTwinOnBlocksOf1MB) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 32768}) {
    cases.push_back({"zeros", Bytes((1 << 20) + history, std::byte{0}), history});
    cases.push_back({"mixed", mixed_bytes((1 << 20) + history, 5), history});
    cases.push_back({"random", random_bytes((1 << 20) - 5 + history, 6), history});
  }
  expect_equal(cases, deflate_parameters());
}

TEST_F(NearThreeCuda, EqualsItsTwinOnFiles) {
  if (!corpora()) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  expect_equal(file_cases(1 << 20, 32768, 1), deflate_parameters());
  expect_equal(file_cases(65280, 0, 8), deflate_parameters());
}

// So many blocks that one warp builds the chains of several, and keeps its table if one continues another;
// and blocks whose histories have the links of the block before.
TEST_F(NearThreeCuda, EqualsItsTwinOnBlocksInARow) {
  const cuda::Stream stream;
  const Bytes file = wordy_bytes(2'400'000, 11);
  for (const std::size_t history_bytes : {0, 200, 1000}) {
    const std::vector<FinderCase> cases = row_cases(file, 301, history_bytes);
    const FinderBatch batch(file, cases, stream);
    for (const std::uint32_t depth : {1u, 4u})
      for (const std::uint32_t window_bytes : {3u, 4u, 200u, 301u, 500u, 32768u}) {
        const NearThreeParameters parameters{11, depth, window_bytes};
        EXPECT_EQ(difference(cases, batch, find_on_device(batch, parameters, stream), parameters), "")
            << "history " << history_bytes << ", " << text(parameters);
      }
  }
}

TEST_F(NearThreeCuda, EqualsItsTwinOnLongRows) {
  constexpr std::size_t kEnoughBlocks = 30'000;  // empty blocks make it seem to a warp that there are many
  const cuda::Stream stream;
  for (const Bytes& file :
       {wordy_bytes(1'200'000, 12), mixed_bytes(1'200'000, 3), random_bytes(1'200'000, 5, 20)})
    for (const std::size_t block_bytes : {65536, 50'001}) {
      std::vector<FinderCase> cases = row_cases(file, block_bytes, 32768);
      cases.resize(kEnoughBlocks);
      const FinderBatch batch(file, cases, stream);
      for (const std::uint32_t depth : {1u, 4u, 16u})
        for (const std::uint32_t window_bytes : {30'001u, 32768u}) {
          const NearThreeParameters parameters{14, depth, window_bytes};
          ASSERT_EQ(difference(cases, batch, find_on_device(batch, parameters, stream), parameters), "")
              << "blocks of " << block_bytes << ", " << text(parameters);
        }
    }
}

// ---- Windows of more than 32 KB ----

void expect_equal_wide(const std::vector<FinderCase>& cases, const FinderBatch& batch,
                       const cuda::Stream& stream) {
  for (const std::uint32_t depth : {1u, 4u, 16u})
    for (const std::uint32_t window_bytes : {100u, 40'000u, 65'535u}) {
      const NearThreeParameters parameters{.depth = depth, .window_bytes = window_bytes};
      const std::size_t scratch_bytes =
          cuda::find_near_three_wide_cuda_scratch_bytes(batch.blocks(), parameters);
      const auto offsets =
          batch.run_for<std::uint16_t>(scratch_bytes, [&](std::uint16_t* d_near_offsets, void* d_scratch) {
            cuda::find_near_three_wide_cuda(batch.blocks(), parameters, d_near_offsets, d_scratch,
                                            scratch_bytes, stream.get());
          });
      ASSERT_EQ(difference(cases, batch, offsets, parameters), "") << text(parameters);
    }
}

TEST_F(NearThreeCuda, WideWindowsEqualTheTwin) {
  const cuda::Stream stream;
  std::vector<FinderCase> mixed{{"mixed", mixed_bytes((1 << 20) + 65'535, 5), 65'535},
                                {"few values", random_bytes(1'000'000, 6, 4), 0}};
  for (const std::vector<FinderCase>& cases : {small_cases(), large_cases(), mixed})
    expect_equal_wide(cases, FinderBatch(cases, stream), stream);
}

// Stale links lead across blocks here, and histories have the links of the block before.
TEST_F(NearThreeCuda, WideWindowsEqualTheTwinOnRows) {
  constexpr std::size_t kEnoughBlocks = 30'000;  // empty blocks make it seem to a warp that there are many
  const cuda::Stream stream;
  for (const Bytes& file :
       {wordy_bytes(1'200'000, 12), mixed_bytes(1'200'000, 3), random_bytes(1'200'000, 5, 20)})
    for (const std::size_t block_bytes : {65'536, 300'001}) {
      std::vector<FinderCase> cases = row_cases(file, block_bytes, 65'535);
      expect_equal_wide(cases, FinderBatch(file, cases, stream), stream);
      cases.resize(kEnoughBlocks);
      expect_equal_wide(cases, FinderBatch(file, cases, stream), stream);
    }
}

// This needs no device.
TEST(NearThreeCudaParameters, RefusesWhatItCannotDo) {
  const auto message = [](const NearThreeParameters& parameters) -> std::string {
    try {
      cuda::find_near_three_cuda_scratch_bytes({}, parameters);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      const std::string text = error.what();
      return text.substr(0, text.find(" ("));  // without the hint for the status
    }
    return "no error";
  };
  EXPECT_EQ(message({}), "no error");
  EXPECT_EQ(message({.depth = 0}), "near_three: depth is 0, it can be 1 to 4294967295");
  EXPECT_EQ(message({.hash_bits = 17}), "near_three: hash_bits is 17, it can be 8 to 16");
  EXPECT_EQ(message({.hash_bits = 8}), "near_three: hash_bits is 8, must be at least 9 on a CUDA device");
  EXPECT_EQ(message({.window_bytes = 32769}),
            "near_three: window_bytes is 32769, must be at most 32768 on a CUDA device");
}

TEST(NearThreeCudaParameters, RefusesTooLittleScratch) {
  const DeviceBlocks batch{
      .d_blocks = nullptr, .block_count = 1, .max_block_bytes = 10, .total_block_bytes = 10};
  const std::size_t needed = cuda::find_near_three_cuda_scratch_bytes(batch, {});
  EXPECT_THROW(cuda::find_near_three_cuda(batch, {}, nullptr, nullptr, needed - 1, nullptr), Error);
}

}  // namespace
}  // namespace hemstitch
