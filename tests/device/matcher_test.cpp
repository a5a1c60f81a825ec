// LzssMatcher on CUDA must return what the reference returns, for every finder and parse, in many blocks and
// submissions, from several threads.
#include <thread>

#include "api/matcher_cuda.hpp"
#include "cuda_test.hpp"
#include "matcher_cases.hpp"

namespace hemstitch {
namespace {

using testing::blocks_of;
using testing::FinderCase;
using testing::Lists;
using testing::name_of;

constexpr Parse kParses[] = {Parse::kGreedy, Parse::kLazy, Parse::kOptimal};

std::vector<Finder> finders_with_kernels() {
  return {Finder::kBruteForce, Finder::kLazyScan, Finder::kCoopStitch, Finder::kWindowIndex,
          Finder::kHashChain};
}

// Blocks of 5000 bytes of a text, each with up to 8000 bytes before it.
std::vector<MatchBlock> pieces_of(const testing::Bytes& data) {
  std::vector<MatchBlock> blocks;
  for (std::size_t begin = 0; begin < data.size(); begin += 5000) {
    const std::size_t history_bytes = std::min<std::size_t>(begin, 8000);
    const std::size_t end = std::min(begin + 5000, data.size());
    blocks.push_back(
        {std::span(data).subspan(begin - history_bytes, history_bytes + end - begin), history_bytes});
  }
  return blocks;
}

class CudaMatcher : public CudaTest {};

TEST_F(CudaMatcher, GivesWhatTheReferenceGives) {
  const std::vector<FinderCase> cases = testing::finder_cases(3000);
  const std::vector<MatchBlock> blocks = blocks_of(cases);
  for (const Finder finder : finders_with_kernels())
    for (const Parse parse : kParses)
      for (const std::uint32_t min_match_len : {3u, 5u}) {
        FinderParameters parameters = finder_defaults(finder);
        parameters.min_match_len = min_match_len;
        parameters.literal_cost = 8;
        const LzssMatcher reference(parameters, finder, parse), matcher(parameters, finder, parse, "cuda");
        ASSERT_EQ(matcher.find_matches(blocks), reference.find_matches(blocks))
            << name_of(finder, parse) << ", min_match_len " << min_match_len;
      }
}

TEST_F(CudaMatcher, GivesTheSameCandidates) {
  const std::vector<FinderCase> cases = testing::finder_cases(3000);
  for (const Finder finder : finders_with_kernels()) {
    const FinderParameters parameters = finder_defaults(finder);
    const LzssMatcher reference(parameters, finder), matcher(parameters, finder, "cuda");
    for (const FinderCase& one : cases)
      ASSERT_EQ(matcher.find_candidates(one.data, one.history_bytes),
                reference.find_candidates(one.data, one.history_bytes))
          << name_of(finder, Parse::kOptimal) << ", " << one.name;
    EXPECT_TRUE(matcher.find_candidates(cases.back().data, cases.back().data.size()).empty());
  }
}

// More than one batch of 16 MB, with blocks of 1 MB, and a history that is longer than any match reaches.
TEST_F(CudaMatcher, DividesManyBlocksIntoBatches) {
  constexpr std::size_t kBlockBytes = 1 << 20, kHistoryBytes = 100'000;
  const testing::Bytes data = testing::wordy_bytes(40 * kBlockBytes / 2, 17);
  std::vector<MatchBlock> blocks;
  for (std::size_t begin = 0; begin < data.size(); begin += kBlockBytes) {
    const std::size_t history_bytes = std::min(begin, kHistoryBytes);
    blocks.push_back(
        {std::span(data).subspan(begin - history_bytes, history_bytes + kBlockBytes), history_bytes});
  }
  for (const Finder finder : {Finder::kHashChain, Finder::kWindowIndex})
    for (const Parse parse : kParses) {
      const FinderParameters parameters = finder_defaults(finder);
      const LzssMatcher matcher(parameters, finder, parse, "cuda");
      ASSERT_EQ(matcher.find_matches(blocks), LzssMatcher(parameters, finder, parse).find_matches(blocks))
          << name_of(finder, parse);
    }
}

TEST_F(CudaMatcher, TakesTensOfThousandsOfSmallBlocks) {
  const testing::Bytes data = testing::copied_bytes(200'000, 8);
  std::vector<MatchBlock> blocks;
  for (std::size_t i = 0; i < 30'000; ++i) {
    const std::size_t begin = i * 6, bytes = i * 7919 % 163;
    blocks.push_back({std::span(data).subspan(begin, bytes), bytes / 3});
  }
  for (const Parse parse : kParses) {
    const LzssMatcher matcher({}, Finder::kCoopStitch, parse, "cuda");
    ASSERT_EQ(matcher.find_matches(blocks), LzssMatcher({}, Finder::kCoopStitch, parse).find_matches(blocks))
        << name_of(Finder::kCoopStitch, parse);
  }
}

TEST_F(CudaMatcher, BlocksMayBeEmpty) {
  const LzssMatcher matcher({}, Finder::kHashChain, "cuda");
  EXPECT_EQ(matcher.find_matches(std::span<const MatchBlock>()), Lists());
  EXPECT_TRUE(matcher.submit({}).take().empty());
  const testing::Bytes data = testing::copied_bytes(1000, 8);
  const std::vector<MatchBlock> empty = {MatchBlock{}, {data, data.size()}};
  EXPECT_EQ(matcher.find_matches(empty), Lists(2));
  EXPECT_EQ(matcher.submit(empty).take(), Lists(2));
  const std::vector<MatchBlock> mixed = {MatchBlock{}, {data, 0}, {data, data.size()}, {data, 300}};
  EXPECT_EQ(matcher.find_matches(mixed), LzssMatcher({}, Finder::kHashChain).find_matches(mixed));
}

TEST_F(CudaMatcher, SubmissionsAreInFlightTogether) {
  const testing::Bytes data = testing::copied_bytes(300'000, 6);
  const std::vector<MatchBlock> blocks = pieces_of(data);
  const LzssMatcher matcher({}, Finder::kWindowIndex, Parse::kLazy, "cuda");
  testing::expect_submissions_in_flight(
      matcher, blocks, LzssMatcher({}, Finder::kWindowIndex, Parse::kLazy).find_matches(blocks));
  PendingMatches taken = matcher.submit(blocks);
  taken.take();
  EXPECT_THROW(taken.on_device(), Error);
}

TEST_F(CudaMatcher, OneServesManyThreads) {
  const testing::Bytes data = testing::copied_bytes(400'000, 7);
  const std::vector<MatchBlock> blocks = pieces_of(data);
  for (const Parse parse : kParses) {
    const LzssMatcher matcher({}, Finder::kCoopStitch, parse, "cuda");
    matcher.prepare();
    const Lists expected = LzssMatcher({}, Finder::kCoopStitch, parse).find_matches(blocks);
    const auto candidates = LzssMatcher({}, Finder::kCoopStitch).find_candidates(data, 1000);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread)
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) {
          EXPECT_EQ(matcher.find_matches(blocks), expected);
          EXPECT_EQ(matcher.find_candidates(data, 1000), candidates);
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(CudaMatcher, ASlotGoesBackWhenASubmissionFails) {
  // Less memory than the submission needs.
  cuda::Device small(cuda::open_device({}).facts(), {.memory_bytes = 4 << 20});
  const cuda::DeviceMatcher matcher(small, stages_of(Finder::kHashChain, Parse::kOptimal, {}), 1);
  const testing::Bytes large = testing::wordy_bytes(8 << 20, 3), little = testing::copied_bytes(20'000, 3);
  const MatchBlock too_much{large, 0}, block{little, 0};
  for (int round = 0; round < 3; ++round) {
    try {
      matcher.submit({&too_much, 1});
      ADD_FAILURE() << "there was room";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kDeviceOutOfMemory) << error.what();
    }
  }
  EXPECT_EQ(matcher.submit({&block, 1})->take(),
            LzssMatcher({}, Finder::kHashChain).find_matches({&block, 1}));
  small.pinned().release();
}

TEST_F(CudaMatcher, WhatItDoesNotTakeIsSaidAtTheDoor) {
  testing::expect_refusals("cuda");
  EXPECT_THROW(LzssMatcher({}, Finder::kCoopStitch, "cuda", "no such device"), Error);
}

}  // namespace
}  // namespace hemstitch
