// coop_stitch, lazy_scan and window_index, compared with their twins: records, counters, and records before
// and after the stitch.
#include <gtest/gtest.h>

#include "finder_batch_webgpu.hpp"
#include "match/coop_stitch/coop_stitch_webgpu.hpp"
#include "match/finders.hpp"
#include "match/lazy_scan/lazy_scan_webgpu.hpp"
#include "match/window_index/window_index_webgpu.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::download;
using testing::FinderCase;
using testing::WebgpuFinderBatch;

struct Found {
  std::vector<MatchRecord> records;
  std::vector<MatchRecord> before_stitch;  // only with counters
  FindCounters counters;
};

bool equal(const FindCounters& a, const FindCounters& b) {
  return a.probes == b.probes && a.stitch_probes == b.stitch_probes &&
         a.repeated_probes == b.repeated_probes && a.lookups == b.lookups &&
         a.byte_comparisons == b.byte_comparisons;
}

std::string text(const FindCounters& counters) {
  return std::to_string(counters.probes) + " probes, " + std::to_string(counters.stitch_probes) +
         " of the stitch, " + std::to_string(counters.repeated_probes) + " repeated, " +
         std::to_string(counters.lookups) + " lookups, " + std::to_string(counters.byte_comparisons) +
         " bytes";
}

class WebgpuExhaustiveFinders : public testing::WebgpuTest {
 protected:
  static Found find(Device& device, const WebgpuFinderBatch& inputs, Finder finder,
                    const FinderParameters& parameters, bool counted) {
    BufferPlan plan;
    const BlockBatch batch = inputs.plan(plan);
    FinderOutput output{plan.add("records", inputs.data_bytes() * 4)};
    if (counted) {
      output.counters = plan.add("counters", sizeof(FindCounters));
      output.before_stitch = plan.add("before stitch", inputs.data_bytes() * 4);
    }
    const BufferSet buffers = device.make_buffers(plan);
    inputs.upload_to(device, buffers, batch);
    // The previous contents must not matter.
    device.write(
        buffers[output.records.index],
        std::vector<std::byte>(static_cast<std::size_t>(plan.bytes(output.records)), std::byte{0xA5}));
    Recording recording;
    switch (finder) {
      case Finder::kCoopStitch:
        record_coop_stitch(recording, batch, output, parameters);
        break;
      case Finder::kLazyScan:
        record_lazy_scan(recording, batch, output, parameters);
        break;
      default:
        record_window_index(recording, batch, output, parameters);
    }
    device.run(recording, buffers);
    Found found;
    found.records = download<MatchRecord>(device, buffers, output.records, inputs.data_bytes());
    if (counted) {
      found.before_stitch =
          download<MatchRecord>(device, buffers, *output.before_stitch, inputs.data_bytes());
      found.counters = download<FindCounters>(device, buffers, *output.counters, 1).front();
    }
    return found;
  }

  // Compares records, then records and counters of the instrumented shader, with both orders of workgroups.
  static void expect_twin(const std::vector<FinderCase>& inputs, Finder finder,
                          const FinderParameters& parameters) {
    const WebgpuFinderBatch batch(inputs);
    FindCounters counters;
    std::vector<MatchRecords> records, before_stitch;
    for (const FinderCase& input : inputs) {
      if (finder == Finder::kCoopStitch) {
        CoopStitchResult result = coop_stitch_reference(input.input(), parameters);
        records.push_back(std::move(result.records));
        before_stitch.push_back(std::move(result.before_stitch));
        counters += result.counters;
      } else {
        FoundMatches found = find_reference(row_of(finder).with(parameters), input.input());
        records.push_back(std::move(found.records));
        counters += *found.counters;
      }
    }
    for (Device* one : both_orders())
      EXPECT_EQ(batch.first_difference(find(*one, batch, finder, parameters, false).records, records), "");
    const Found found = find(device(), batch, finder, parameters, true);
    EXPECT_EQ(batch.first_difference(found.records, records), "") << "counted";
    EXPECT_TRUE(equal(found.counters, counters))
        << "should be " << text(counters) << "\nis        " << text(found.counters);
    if (finder == Finder::kCoopStitch) {
      EXPECT_EQ(batch.first_difference(found.before_stitch, before_stitch), "") << "before the stitch";
    }
  }
};

// lavapipe ends the loops of an invocation after 65,535 turns in all. So inputs and lengths are small enough
// for the shaders that skip nothing.
std::vector<FinderCase> cases() {
  std::vector<FinderCase> all = testing::finder_cases(500);
  all.push_back({"words", testing::wordy_bytes(5000, 3), 0});
  return all;
}

// Every size around the boundaries of groups and tiles, with the shapes where a match at an end is likely.
std::vector<FinderCase> boundary_cases() {
  std::vector<FinderCase> cases;
  for (const std::size_t size : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 63u, 64u, 65u, 1023u, 1024u, 1025u})
    for (const std::size_t history : {0u, 70u}) {
      cases.push_back({"words", testing::wordy_bytes(history + size, 5), history});
      cases.push_back({"period 3", testing::periodic_bytes(history + size, 3), history});
    }
  return cases;
}

TEST_F(WebgpuExhaustiveFinders, CoopStitchWithThePresets) {
  const std::vector<FinderCase> inputs = {{"words", testing::wordy_bytes(5000, 3), 0},
                                          {"copies", testing::copied_bytes(9000, 9), 7000},
                                          {"runs", testing::runs_bytes(700, 2), 100}};
  for (const std::string_view preset : finder_preset_names())
    expect_twin(inputs, Finder::kCoopStitch, finder_preset(preset));
}

TEST_F(WebgpuExhaustiveFinders, CoopStitchWithEveryKindOfParameter) {
  const std::vector<FinderCase> inputs = testing::finder_cases(400);
  expect_twin(inputs, Finder::kCoopStitch, {.top_k = 1});
  expect_twin(inputs, Finder::kCoopStitch, {.max_match_len = 90, .top_k = 16});
  expect_twin(inputs, Finder::kCoopStitch, {.top_k_policy = TopKPolicy::kLongestPerBucket});
  expect_twin(
      inputs, Finder::kCoopStitch,
      {.max_match_len = 90, .window_size = 200, .top_k = 15, .top_k_policy = TopKPolicy::kLongestPerBucket});
  expect_twin(inputs, Finder::kCoopStitch, {.stitch = false});
  // Bands of one offset, and no near ones; bands within the near range; a good match and long lengths.
  expect_twin(inputs, Finder::kCoopStitch, {.window_size = 1, .stride = 3, .near_range = 0, .top_k = 2});
  expect_twin(inputs, Finder::kCoopStitch,
              {.min_match_len = 3, .max_match_len = 3, .window_size = 40, .stride = 5, .near_range = 300});
  expect_twin(inputs, Finder::kCoopStitch,
              {.min_match_len = 4, .max_match_len = 65535, .near_range = 20, .good_match_len = 9});
}

TEST_F(WebgpuExhaustiveFinders, CoopStitchBoundarySizes) {
  expect_twin(boundary_cases(), Finder::kCoopStitch, {});
  expect_twin(boundary_cases(), Finder::kCoopStitch,
              {.min_match_len = 3, .near_range = 2, .top_k_policy = TopKPolicy::kLongestPerBucket});
}

TEST_F(WebgpuExhaustiveFinders, LazyScan) {
  const std::vector<FinderCase> inputs = testing::finder_cases(900);
  expect_twin(inputs, Finder::kLazyScan, {.max_match_len = 120, .window_size = 700, .near_range = 200});
  expect_twin(
      inputs, Finder::kLazyScan,
      {.min_match_len = 3, .window_size = 65535, .near_range = 100, .good_match_len = 20, .far_step = 7});
  expect_twin(inputs, Finder::kLazyScan,
              {.max_match_len = 65535, .window_size = 65535, .near_range = 0, .far_step = 100});
  expect_twin(boundary_cases(), Finder::kLazyScan, {.min_match_len = 3, .window_size = 500, .far_step = 3});
}

TEST_F(WebgpuExhaustiveFinders, WindowIndex) {
  const std::vector<FinderCase> inputs = cases();
  expect_twin(inputs, Finder::kWindowIndex, {.window_size = 4096});
  expect_twin(inputs, Finder::kWindowIndex,
              {.min_match_len = 3, .max_match_len = 65535, .window_size = 1100});
  expect_twin(inputs, Finder::kWindowIndex, {.min_match_len = 9, .max_match_len = 100, .window_size = 5});
  expect_twin(boundary_cases(), Finder::kWindowIndex, {.min_match_len = 4, .window_size = 65535});
}

TEST_F(WebgpuExhaustiveFinders, RealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<FinderCase> inputs;
  for (const char* name : {"canterbury/alice29.txt", "silesia/nci", "silesia/x-ray"})
    inputs.push_back({name, testing::read_file(*folder / name, 6000), inputs.size() * 1500});
  expect_twin(inputs, Finder::kCoopStitch, {});
  expect_twin(inputs, Finder::kWindowIndex, {.window_size = 4096});
}

TEST_F(WebgpuExhaustiveFinders, BadParametersAreRefusedByName) {
  Recording recording;
  try {
    record_coop_stitch(recording, {}, {}, {.top_k = 17});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("top_k"), std::string::npos);
  }
  EXPECT_THROW(record_lazy_scan(recording, {}, {}, {.far_step = 0}), Error);
  EXPECT_THROW(record_window_index(recording, {}, {}, {.window_size = 65536}), Error);
}

}  // namespace
}  // namespace hemstitch
