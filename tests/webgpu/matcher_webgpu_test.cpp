// LzssMatcher on a device must return what the reference returns, in many blocks and submissions, with the
// matches taken back or left there.
#include "api/matcher_webgpu.hpp"

#include <gtest/gtest.h>

#include "gpu/device_names.hpp"
#include "gpu/webgpu/devices.hpp"
#include "matcher_cases.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::blocks_of;
using testing::FinderCase;
using testing::Lists;
using testing::name_of;

// A search that is fast on a software adapter.
constexpr FinderParameters kQuick{.min_match_len = 3, .window_size = 64, .near_range = 16};

class WebgpuMatcher : public testing::WebgpuTest {
 protected:
  // Does not own the device: the tests' device exists longer.
  static std::shared_ptr<Device> shared(Device& device) {
    return {&device, [](Device*) {}};
  }
};

TEST_F(WebgpuMatcher, GivesWhatTheReferenceGives) {
  const std::vector<FinderCase> cases = testing::finder_cases(1500);
  const std::vector<MatchBlock> blocks = blocks_of(cases);
  for (const Finder finder :
       {Finder::kCoopStitch, Finder::kLazyScan, Finder::kWindowIndex, Finder::kHashChain}) {
    const FinderParameters parameters{.min_match_len = finder == Finder::kLazyScan ? 3u : 5u};
    for (const Parse parse : {Parse::kGreedy, Parse::kLazy, Parse::kOptimal}) {
      const Lists expected = LzssMatcher(parameters, finder, parse).find_matches(blocks);
      for (Device* one : both_orders())
        EXPECT_EQ(DeviceMatcher(shared(*one), stages_of(finder, parse, parameters), 3).find_matches(blocks),
                  expected)
            << name_of(finder, parse);
    }
  }
}

TEST_F(WebgpuMatcher, WhatIsPreparedIsNotCompiledAgain) {
  const std::vector<FinderCase> cases = testing::finder_cases(300);
  const std::vector<MatchBlock> blocks = blocks_of(cases);
  for (const Parse parse : {Parse::kGreedy, Parse::kLazy, Parse::kOptimal}) {
    const auto own = std::make_shared<Device>(testing::device_options());
    const DeviceMatcher matcher(own, stages_of(Finder::kHashChain, parse, {}), 3);
    EXPECT_EQ(own->pipeline_count(), 0u);
    matcher.prepare();
    const std::size_t prepared = own->pipeline_count();
    EXPECT_GT(prepared, 0u);
    matcher.submit(std::span(blocks).first(5))->take();
    matcher.find_candidates({cases.back().data, 0});
    // A hundred thousand blocks, whose places need a scan of more than one step.
    BufferPlan plan;
    const ScanBuffers scan = plan_scan(plan, 100'000);
    Recording recording;
    record_scan(recording, {}, {}, scan, 100'000);
    EXPECT_EQ(recording.steps().size(), 2u);
    own->compile(recording);
    EXPECT_EQ(own->pipeline_count(), prepared);
  }
}

TEST_F(WebgpuMatcher, ThroughThePublicInterface) {
  const std::vector<FinderCase> cases = testing::finder_cases(700);
  const std::vector<MatchBlock> blocks = blocks_of(cases);
  const LzssMatcher reference({}, Finder::kCoopStitch), matcher({}, Finder::kCoopStitch, "webgpu");
  EXPECT_EQ(matcher.find_matches(blocks), reference.find_matches(blocks));
  EXPECT_EQ(matcher.find_matches(std::span<const MatchBlock>()), Lists());
  for (const FinderCase& one : cases) {
    EXPECT_EQ(matcher.find_candidates(one.data, one.history_bytes),
              reference.find_candidates(one.data, one.history_bytes))
        << one.name;
    EXPECT_EQ(reference.submit(std::span(blocks).first(3)).take().size(), 3u);
  }
  EXPECT_EQ(matcher.find_matches(cases.back().data), reference.find_matches(cases.back().data));
}

TEST_F(WebgpuMatcher, SubmissionsAreInFlightTogether) {
  const std::vector<FinderCase> cases = testing::finder_cases(900);
  const std::vector<MatchBlock> blocks = blocks_of(cases);
  const LzssMatcher matcher(kQuick, Finder::kLazyScan, "webgpu");
  testing::expect_submissions_in_flight(matcher, blocks,
                                        LzssMatcher(kQuick, Finder::kLazyScan).find_matches(blocks));
}

TEST_F(WebgpuMatcher, MoreBlocksThanOneBatchAndMoreBatchesThanSlots) {
  DeviceOptions options = testing::device_options();
  options.limits = DeviceLimits{.binding_bytes = 70000};
  const auto limited = std::make_shared<Device>(options);
  std::vector<FinderCase> cases;
  for (std::uint32_t i = 0; i < 40; ++i)
    cases.push_back({"words", testing::wordy_bytes(1000 + 300 * i, i), i});
  const std::vector<MatchBlock> blocks = blocks_of(cases);
  const Lists expected = LzssMatcher(kQuick, Finder::kLazyScan).find_matches(blocks);
  for (const unsigned slots : {1u, 3u}) {
    const DeviceMatcher matcher(limited, stages_of(Finder::kLazyScan, Parse::kOptimal, kQuick), slots);
    EXPECT_EQ(matcher.find_matches(blocks), expected) << slots << " slots";
  }
  // A block that is too large for a binding, then one that fits.
  const DeviceMatcher matcher(limited, stages_of(Finder::kLazyScan, Parse::kOptimal, kQuick), 1);
  const testing::Bytes large = testing::wordy_bytes(20000);
  const MatchBlock block{large, 0};
  try {
    matcher.find_matches({&block, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidOption);
  }
  EXPECT_EQ(matcher.find_matches(std::span(blocks).first(2)), Lists(expected.begin(), expected.begin() + 2));
}

TEST_F(WebgpuMatcher, LongListsAreReadBackInTwoSteps) {
  // Room for more than 1 MB of matches, but there are few: a repetition of 5 bytes between new ones.
  testing::Bytes data = testing::random_bytes(450000, 3);
  for (std::size_t at = 1000; at + 100 < data.size(); at += 5000)
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), 9,
                data.begin() + static_cast<std::ptrdiff_t>(at + 12));
  EXPECT_EQ(LzssMatcher(kQuick, Finder::kLazyScan, "webgpu").find_matches(data),
            LzssMatcher(kQuick, Finder::kLazyScan).find_matches(data));
}

TEST_F(WebgpuMatcher, MatchesStandOnTheDevice) {
  const std::vector<FinderCase> cases = testing::finder_cases(800);
  const std::vector<MatchBlock> blocks = blocks_of(cases);
  const LzssMatcher matcher(kQuick, Finder::kLazyScan, "webgpu");
  PendingMatches pending = matcher.submit(blocks);
  const DeviceMatches left = pending.on_device();
  ASSERT_EQ(left.device, open_device(wanted_device({}))->get());

  // Like another encoder: its own commands on the same queue find the finished matches.
  const Api& api = library().api;
  Device& device = *open_device(wanted_device({}));
  const auto read = [&](void* from, std::size_t words) {
    const Buffer download = device.make_buffer("download", words * 4, BufferUse::kDownload);
    WGPUCommandEncoder encoder =
        api.DeviceCreateCommandEncoder(static_cast<WGPUDevice>(left.device), nullptr);
    api.CommandEncoderCopyBufferToBuffer(encoder, static_cast<WGPUBuffer>(from), 0, download.get(), 0,
                                         words * 4);
    WGPUCommandBuffer commands = api.CommandEncoderFinish(encoder, nullptr);
    api.QueueSubmit(static_cast<WGPUQueue>(left.queue), 1, &commands);
    api.CommandBufferRelease(commands);
    api.CommandEncoderRelease(encoder);
    std::vector<std::uint32_t> values(words);
    std::memcpy(values.data(), device.map_for_reading(download, words * 4), words * 4);
    device.unmap(download);
    return values;
  };
  const std::vector<std::uint32_t> begins = read(left.begins, blocks.size() + 1);
  const std::vector<std::uint32_t> matches = read(left.matches, 2 * std::size_t{begins.back()});
  const Lists taken = pending.take();
  ASSERT_EQ(taken.size(), blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    ASSERT_EQ(begins[b + 1] - begins[b], taken[b].size());
    for (std::size_t i = 0; i < taken[b].size(); ++i) {
      EXPECT_EQ(matches[2 * (begins[b] + i)], taken[b][i].position);
      EXPECT_EQ(matches[2 * (begins[b] + i) + 1], taken[b][i].offset << 16 | taken[b][i].length);
    }
  }
  EXPECT_THROW(LzssMatcher().submit(blocks).on_device(), Error);
}

TEST_F(WebgpuMatcher, WhatItDoesNotTakeIsSaidAtTheDoor) {
  testing::expect_refusals("webgpu");
  testing::expect_matcher_refused("webgpu", Finder::kBruteForce, {}, "brute_force");
  testing::expect_matcher_refused("webgpu", Finder::kCoopStitch, {.literal_cost = 52}, "literal_cost");
  EXPECT_NO_THROW(LzssMatcher({.literal_cost = 52}, Finder::kCoopStitch, Parse::kLazy, "webgpu"));
}

// This needs no device.
TEST(WebgpuMatcherPlan, TakesAtMost12BytesAByte) {
  for (const std::uint32_t block_bytes : {16384u, 65536u, 262144u})
    for (const std::uint32_t min_match_len : {3u, 5u}) {
      const std::uint32_t count = (64u << 20) / block_bytes;
      const MatchingPlan plan = plan_matching(matching_capacity(count, block_bytes, min_match_len, {}));
      EXPECT_LE(static_cast<double>(plan.buffers.total_bytes()), 12.0 * (64u << 20)) << block_bytes;
    }
}

}  // namespace
}  // namespace hemstitch
