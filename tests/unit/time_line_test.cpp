// The report of a run's time line, from intervals that tests make up.
#include "core/time_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>
#include <thread>

#include "core/batch_timer.hpp"

namespace hemstitch::testing {
namespace {

TEST(CoveredTime, CountsWhatOverlapsOnce) {
  CoveredTime covered;
  EXPECT_EQ(covered.seconds(), 0);
  covered.add(4, 5);
  covered.add(1, 2);
  covered.add(1.5, 3);
  EXPECT_DOUBLE_EQ(covered.seconds(), 3);
  covered.add(2.5, 4);  // joins them
  EXPECT_DOUBLE_EQ(covered.seconds(), 4);
  covered.add(0, 10);
  EXPECT_DOUBLE_EQ(covered.seconds(), 10);
  covered.add(7, 7);
  covered.add(9, 8);
  EXPECT_DOUBLE_EQ(covered.seconds(), 10);
}

TEST(CoveredTime, GoesOnInBoundedMemory) {
  std::vector<int> order(10'000);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  for (auto part = order.begin(); part != order.end(); part += 100)  // a little out of order, as batches are
    std::shuffle(part, part + 100, random);
  CoveredTime covered;
  for (const int i : order) covered.add(i, i + 0.5);
  EXPECT_DOUBLE_EQ(covered.seconds(), 5'000);
}

TEST(TimeLine, SaysWhatBoundTheRun) {
  TimeLine line;
  line.add({Stage::kStart, 0, 0, 0.25});
  line.add({Stage::kRead, 1, 0, 0.5});
  // Four kernels at once are busier than the writer, but take less of the run.
  for (std::uint64_t batch = 1; batch <= 4; ++batch) line.add({Stage::kKernel, batch, 0.5, 1});
  line.add({Stage::kWrite, 1, 1, 1.75});
  const TimeReport report = line.report();
  EXPECT_DOUBLE_EQ(report.of(Stage::kKernel).busy_seconds, 2);
  EXPECT_DOUBLE_EQ(report.of(Stage::kKernel).wall_seconds, 0.5);
  EXPECT_EQ(report.bound_by(), Stage::kWrite);
  EXPECT_EQ(report.intervals.size(), 7u);
  const std::string text = report.text();
  EXPECT_EQ(text.substr(text.find(':')), ": start 0.25, read 0.50, kernel 0.50, write 0.75; bound by write");
}

TEST(TimeLine, KeepsTheFirstIntervals) {
  TimeLine line;
  for (int i = 0; i < 5000; ++i) line.add({Stage::kRead, 1, double(i), i + 0.5});
  const TimeReport report = line.report();
  EXPECT_EQ(report.intervals.size(), 1024u);
  EXPECT_DOUBLE_EQ(report.of(Stage::kRead).wall_seconds, 2500);
}

// Small batches are timed by a clock of few ticks once there are many; sleeping takes at least its time.
TEST(BatchTimer, LosesNoTime) {
  constexpr std::chrono::milliseconds kSleep(40), kTick(20);
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1} << 20})
    for (const std::uint64_t batch : {1, 1'000'000}) {
      TimeLine line;
      {
        const BatchTimer timer(line, Stage::kRead, batch, bytes);
        std::this_thread::sleep_for(kSleep);
      }
      const bool exact = batch == 1 || bytes > 100;
      const std::chrono::duration<double> least = exact ? kSleep : kSleep - kTick;
      EXPECT_GE(line.report().of(Stage::kRead).busy_seconds, least.count());
      EXPECT_LE(line.report().of(Stage::kRead).busy_seconds, line.now() + 0.02);
    }
}

// So that a frame of 100 bytes does not cost more than what is in it.
TEST(BatchTimer, AddsNoEmptyIntervals) {
  constexpr std::uint64_t kBatches = 50'000;
  TimeLine line;
  for (std::uint64_t batch = 2000; batch < 2000 + kBatches; ++batch)
    const BatchTimer timer(line, Stage::kRead, batch, 100);
  EXPECT_LT(line.report().intervals.size(), 1024u);
}

}  // namespace
}  // namespace hemstitch::testing
