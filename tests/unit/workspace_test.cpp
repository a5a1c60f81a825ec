// Plans, options, statuses and the registry: everything that is decided before a byte moves.
#include "core/workspace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/block_plan.hpp"
#include "core/cost_model.hpp"
#include "core/large_buffer.hpp"
#include "core/match.hpp"
#include "core/options.hpp"
#include "engine/fake/fake_backend.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "pipeline/kept_memory.hpp"

namespace hemstitch::testing {
namespace {

BatchNeeds needs_of(std::uint64_t limit) {
  BatchNeeds needs;
  needs.block_bytes = 64 << 10;
  needs.buffer_bytes_per_block = 130 << 10;
  needs.buffer_bytes_per_batch = 64 << 10;
  needs.preferred_batch_bytes = 1 << 20;
  needs.preferred_batches_in_flight = 5;
  needs.memory_limit_bytes = limit;
  return needs;
}

TEST(Workspace, TakesWhatTheEnginePrefers) {
  const BatchPlan plan = plan_batches(needs_of(0));
  EXPECT_EQ(plan.blocks_per_batch, 16u);
  EXPECT_EQ(plan.batches_in_flight, 5u);
  EXPECT_EQ(plan.workspace.total_bytes(), 5u * ((64 << 10) + 16u * (130 << 10)));
}

TEST(Workspace, ShrinksUntilTheLimitHolds) {
  for (std::uint64_t limit = 194 << 10; limit < 12 << 20; limit += 10007) {
    const BatchPlan plan = plan_batches(needs_of(limit));
    EXPECT_LE(plan.workspace.total_bytes(), limit);
    EXPECT_GE(plan.blocks_per_batch, 1u);
    EXPECT_GE(plan.batches_in_flight, 1u);
  }
  EXPECT_EQ(plan_batches(needs_of(194 << 10)).batches_in_flight, 1u);
  EXPECT_EQ(plan_batches(needs_of(5 * (194 << 10))).batches_in_flight, 5u);
}

TEST(Workspace, KeptMemoryIsWithinTheLimit) {
  const std::uint64_t kept_bytes = 3 << 20;
  const std::vector<WorkspacePlan::Part> kept{{"window", 0, 1, "the frame"},
                                              {"dictionary", kept_bytes, 1, "the run"}};
  for (std::uint64_t limit = kept_bytes + (194 << 10); limit < 14 << 20; limit += 10007) {
    const BatchPlan plan = plan_batches_beside(kept, needs_of(limit));
    EXPECT_LE(plan.workspace.total_bytes(), limit);
    EXPECT_GT(plan.workspace.total_bytes(), kept_bytes);
  }
  for (const std::uint64_t limit : {std::uint64_t{1000}, kept_bytes, kept_bytes + 1000})
    EXPECT_THROW(plan_batches_beside(kept, needs_of(limit)), Error) << limit;
}

// A device whose batches take a megabyte, and 200 KB for each block, three at once.
BatchNeeds device_needs_of(std::uint64_t limit, std::optional<std::uint64_t> free_bytes) {
  BatchNeeds needs = needs_of(0);
  needs.device = {.batch_bytes = [](std::uint64_t blocks) { return 1'000'000 + 200'000 * blocks; },
                  .slots = 3,
                  .free_bytes = free_bytes};
  needs.device_limit_bytes = limit;
  return needs;
}

TEST(Workspace, PlansADevicesMemory) {
  struct Case {
    std::uint64_t limit;
    std::optional<std::uint64_t> free_bytes;
    std::uint64_t blocks;
    unsigned batches;
    std::uint64_t planned, planned_under;
  };
  for (const Case& c :
       {Case{0, std::nullopt, 16, 5, 3 * 4'200'000, 0},         // without limits
        Case{0, 25'200'000, 16, 5, 3 * 4'200'000, 12'600'000},  // half of the free memory is just enough
        Case{0, 25'199'998, 8, 5, 3 * 2'600'000, 12'599'999},
        Case{12'599'999, 99'000'000, 8, 5, 3 * 2'600'000, 12'599'999},
        Case{3'600'000, 0, 1, 5, 3 * 1'200'000, 3'600'000},
        Case{3'599'999, 0, 1, 2, 2 * 1'200'000, 3'599'999},  // fewer at once
        Case{1'200'000, 0, 1, 1, 1'200'000, 1'200'000},
        Case{0, 1'000, 1, 1, 1'200'000, 1'200'000}}) {  // without a limit, a block is tried
    const BatchPlan plan = plan_batches(device_needs_of(c.limit, c.free_bytes));
    EXPECT_EQ(plan.blocks_per_batch, c.blocks) << c.limit;
    EXPECT_EQ(plan.batches_in_flight, c.batches) << c.limit;
    EXPECT_EQ(plan.device_workspace.total_bytes(), c.planned) << c.limit;
    EXPECT_EQ(plan.device_limit_bytes, c.planned_under) << c.limit;
    EXPECT_EQ(plan.workspace.total_bytes(), c.batches * ((64 << 10) + c.blocks * (130 << 10))) << c.limit;
  }
  try {
    plan_batches(device_needs_of(1'199'999, 99'000'000));
    FAIL() << "too little was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kMemoryLimit);
    EXPECT_NE(std::string(error.what()).find("needs 1200000 bytes of the device's memory"),
              std::string::npos);
  }
  EXPECT_EQ(plan_batches(needs_of(0)).device_workspace.total_bytes(), 0u);
}

TEST(Workspace, HoldsNoMoreThanTheContentFills) {
  const auto plan_for = [](std::uint64_t content_bytes) {
    BatchNeeds needs = needs_of(0);
    needs.content_bytes = content_bytes;
    const BatchPlan plan = plan_batches(needs);
    return std::pair{plan.blocks_per_batch, plan.batches_in_flight};
  };
  EXPECT_EQ(plan_for(0), std::pair(std::uint64_t{1}, 1u));
  EXPECT_EQ(plan_for(64 << 10), std::pair(std::uint64_t{1}, 1u));
  EXPECT_EQ(plan_for((64 << 10) + 1), std::pair(std::uint64_t{2}, 1u));
  EXPECT_EQ(plan_for(1 << 20), std::pair(std::uint64_t{16}, 1u));
  EXPECT_EQ(plan_for((1 << 20) + 1), std::pair(std::uint64_t{16}, 2u));
  EXPECT_EQ(plan_for((4 << 20) + 1), std::pair(std::uint64_t{16}, 5u));
  EXPECT_EQ(plan_for(UINT64_MAX), std::pair(std::uint64_t{16}, 5u));
}

TEST(Workspace, SaysWhatTheLeastWouldBe) {
  try {
    plan_batches(needs_of((194 << 10) - 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kMemoryLimit);
    EXPECT_NE(std::string(error.what()).find(std::to_string(194 << 10)), std::string::npos) << error.what();
  }
}

TEST(Workspace, ABlockLargerThanTheBatchIsOneBatch) {
  BatchNeeds needs = needs_of(0);
  needs.block_bytes = 4 << 20;
  EXPECT_EQ(plan_batches(needs).blocks_per_batch, 1u);
}

TEST(Workspace, PrintsItsParts) {
  WorkspacePlan plan;
  plan.add("input", 1000, 3, "a batch");
  plan.add("table", 50, 1, "the run");
  EXPECT_EQ(plan.total_bytes(), 3050u);
  EXPECT_NE(plan.text().find("input"), std::string::npos);
  EXPECT_NE(plan.text().find("3050"), std::string::npos);
}

TEST(Options, AnErrorNamesTheField) {
  const auto refused = [](auto change, const char* field) {
    CompressOptions options;
    change(options);
    try {
      checked_options(options);
      ADD_FAILURE() << field << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      EXPECT_EQ(std::string(error.what()).rfind(field, 0), 0u) << error.what();
    }
  };
  refused([](CompressOptions& o) { o.level = -1; }, "level");
  refused([](CompressOptions& o) { o.level = 13; }, "level");
  refused([](CompressOptions& o) { o.acceleration = -1; }, "acceleration");
  refused([](CompressOptions& o) { o.acceleration = 65537; }, "acceleration");
  refused([](CompressOptions& o) { o.acceleration = 2, o.level = 3; }, "acceleration");
  refused([](CompressOptions& o) { o.block_bytes = 100000; }, "block_bytes");
  refused([](CompressOptions& o) { o.threads = 100000; }, "threads");
  refused([](CompressOptions& o) { o.format = static_cast<Format>(77); }, "format");
  EXPECT_NO_THROW(checked_options(CompressOptions{}));
  RestoreOptions restore_options;
  restore_options.threads = 100000;
  EXPECT_THROW(validate(restore_options), Error);
  const unsigned cores = resolve_threads(0);
  EXPECT_GE(cores, 1u);
  EXPECT_EQ(resolve_threads(1), 1u);
  EXPECT_EQ(resolve_threads(8), 8u);
  EXPECT_EQ(resolve_threads(kMaxThreads), std::min(kMaxThreads, 8 * cores));
}

TEST(Status, EveryOneHasItsSentence) {
  int known = 0;
  for (int number = 1; number < 800; number++) {
    const std::string text = status_text(static_cast<Status>(number));
    if (text == "unknown status") continue;
    EXPECT_GT(text.size(), 10u) << number;
    ++known;
  }
  EXPECT_EQ(known, 30);  // as many as in hemstitch.h
  EXPECT_STREQ(status_text(Status::kOk), "done");
  EXPECT_STREQ(status_text(static_cast<Status>(799)), "unknown status");
  EXPECT_EQ(status_family(Status::kBlockChecksumMismatch), StatusFamily::kCorrupt);
  const Error error = system_error(Status::kReadFailed, "could not read", ENOENT);
  EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  EXPECT_EQ((Place{2, 3, 44}.text()), "frame 2, block 3, byte 44");
  EXPECT_EQ(Place{}.text(), "");
}

TEST(Match, RecordsPackAndCompare) {
  EXPECT_EQ(pack_match(0, 0), 0u);
  EXPECT_EQ(record_offset(pack_match(65535, 70000)), 65535u);
  EXPECT_EQ(record_length(pack_match(65535, 70000)), 65535u);
  EXPECT_EQ(record_length(pack_match(1, 4)), 4u);
  EXPECT_TRUE(better_match({100, 9}, {1, 8}));
  EXPECT_TRUE(better_match({1, 8}, {100, 8}));
  EXPECT_FALSE(better_match({100, 8}, {1, 8}));
  EXPECT_EQ(CostModel{}.literal_cost(), 9u * 16);
  EXPECT_EQ(CostModel{}.match_cost(200), 25u * 16);
  EXPECT_EQ(lz4_block_plan().last_match_start_gap, 12u);
  EXPECT_EQ(deflate_block_plan().max_match_length, 258u);
  EXPECT_EQ(lzss_block_plan(5, 258).min_match_length, 5u);
}

// The registry belongs to the process, so these tests share one that is extended once.
TEST(Registry, ChoosesAndRefusesByName) {
  BackendRegistry& registry = BackendRegistry::instance();
  EXPECT_EQ(registry.choose("cpu").name(), "cpu");
  try {
    registry.choose("quantum");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUnknownBackend);
    EXPECT_NE(std::string(error.what()).find("auto, cpu"), std::string::npos) << error.what();
  }
  EXPECT_EQ(registry.choose("auto").name(), "cpu");
  setenv("HEMSTITCH_BACKEND", "quantum", 1);
  EXPECT_THROW(registry.choose("auto"), Error);
  EXPECT_EQ(registry.choose("cpu").name(), "cpu");  // an explicit name wins
  setenv("HEMSTITCH_BACKEND", "", 1);
  EXPECT_EQ(registry.choose("auto").name(), "cpu");
  unsetenv("HEMSTITCH_BACKEND");
}

TEST(FakePlan, ReadsTheEnvironment) {
  setenv("HEMSTITCH_FAKE", "inner=cpu delay_us=5 oom=1 oom=3 fail=2 wrong=4 lost=9 auto unavailable=broken",
         1);
  const FakePlan plan = fake_plan_from_environment();
  EXPECT_EQ(plan.out_of_memory_calls, (std::set<std::uint64_t>{1, 3}));
  EXPECT_EQ(plan.failing_block_calls, (std::set<std::uint64_t>{2}));
  EXPECT_EQ(plan.wrong_bytes_calls, (std::set<std::uint64_t>{4}));
  EXPECT_EQ(plan.lost_from_call, 9u);
  EXPECT_TRUE(plan.chosen_by_auto);
  EXPECT_EQ(plan.unavailable_reason, "broken");
  setenv("HEMSTITCH_FAKE", "nonsense", 1);
  EXPECT_THROW(fake_plan_from_environment(), Error);
  unsetenv("HEMSTITCH_FAKE");
}

TEST(LargeBuffer, IsThereFromItsFirstByteToItsLast) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, LargeBuffer::kHugeFromBytes - 1, LargeBuffer::kHugeFromBytes,
        LargeBuffer::kHugeFromBytes + 1, 3 * LargeBuffer::kHugeFromBytes + 12345}) {
    LargeBuffer buffer(bytes);
    ASSERT_NE(buffer.get(), nullptr);
    for (std::size_t at = 0; at < bytes; at += 4096) buffer.get()[at] = static_cast<std::byte>(at >> 12);
    if (bytes > 0) buffer.get()[bytes - 1] = std::byte{7};
    const LargeBuffer moved = std::move(buffer);
    EXPECT_EQ(buffer.get(), nullptr);  // NOLINT: this checks what moving leaves
    if (bytes > 8192) {
      EXPECT_EQ(moved.get()[4096], std::byte{1});
      EXPECT_EQ(moved.get()[bytes - 1], std::byte{7});
    }
  }
  EXPECT_EQ(LargeBuffer().get(), nullptr);
}

}  // namespace
}  // namespace hemstitch::testing
