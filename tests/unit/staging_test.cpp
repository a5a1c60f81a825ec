#include "engine/staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/options.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

// The memory that the device would have.
struct Spans {
  Bytes input, output;
};

Spans carry_out(const Staging& staging) {
  Spans spans{Bytes(staging.input_bytes, std::byte{0xEE}), Bytes(staging.output_bytes, std::byte{0xEE})};
  std::size_t end = 0;
  for (const Staging::Upload& upload : staging.uploads) {
    EXPECT_GE(upload.at, end) << "uploads overlap or are out of order";
    end = upload.at + upload.from.size();
    EXPECT_LE(end, spans.input.size());
    std::ranges::copy(upload.from, spans.input.begin() + static_cast<std::ptrdiff_t>(upload.at));
  }
  for (const Staging::Move& move : staging.moves) {
    EXPECT_LE(move.from + move.bytes, spans.input.size());
    EXPECT_LE(move.at + move.bytes, spans.output.size());
    std::copy_n(spans.input.begin() + static_cast<std::ptrdiff_t>(move.from), move.bytes,
                spans.output.begin() + static_cast<std::ptrdiff_t>(move.at));
  }
  return spans;
}

bool holds(const Bytes& bytes, std::size_t at, std::span<const std::byte> expected) {
  return at + expected.size() <= bytes.size() &&
         std::ranges::equal(std::span(bytes).subspan(at, expected.size()), expected);
}

void expect_staged(const std::vector<BlockTask>& tasks, bool compressing, const Staging& staging) {
  const Spans spans = carry_out(staging);
  ASSERT_EQ(staging.tasks.size(), tasks.size());
  std::size_t room_end = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const StagedTask& staged = staging.tasks[i];
    const auto history = tasks[i].history;
    EXPECT_EQ(staged.history_bytes, history.size()) << i;
    EXPECT_TRUE(holds(spans.input, staged.input_at, tasks[i].input)) << i;
    const std::size_t before = compressing ? staged.input_at : staged.output_at;
    ASSERT_GE(before, history.size()) << i;
    EXPECT_TRUE(holds(compressing ? spans.input : spans.output, before - history.size(), history)) << i;
    EXPECT_GE(staged.output_at - (compressing ? 0 : history.size()), room_end) << i << ": rooms overlap";
    room_end = staged.output_at + tasks[i].output.size();
    EXPECT_LE(room_end, staging.output_bytes) << i;
  }
}

void expect_staged(const std::vector<BlockTask>& tasks, bool compressing) {
  expect_staged(tasks, compressing,
                compressing ? stage_for_compression(tasks) : stage_for_restoration(tasks));
}

class StagingTest : public ::testing::Test {
 protected:
  BlockTask task(std::size_t begin, std::size_t bytes, std::size_t history_bytes, std::size_t room) {
    return {.input = std::span(text_).subspan(begin, bytes),
            .history = std::span(text_).subspan(begin - history_bytes, history_bytes),
            .output = std::span(room_).first(room)};
  }
  Bytes text_ = wordy_bytes(300'000);
  Bytes room_ = Bytes(100'000);
};

TEST_F(StagingTest, NothingIsNothing) {
  expect_staged({}, true);
  expect_staged({}, false);
  EXPECT_EQ(stage_for_compression({}).input_bytes, 0u);
}

TEST_F(StagingTest, NeighboursTravelAsOne) {
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 4; ++i) tasks.push_back(task(i * 10'001, 10'001, 0, 10'000));
  expect_staged(tasks, true);
  EXPECT_EQ(stage_for_compression(tasks).uploads.size(), 1u);
  EXPECT_EQ(stage_for_compression(tasks).input_bytes, 40'004u);
}

TEST_F(StagingTest, AHistoryThatIsThereIsNotBroughtAgain) {
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 4; ++i)
    tasks.push_back(task(70'000 + i * 10'000, 10'000, i == 0 ? 65'536 : 60'000, 9'999));
  expect_staged(tasks, true);
  EXPECT_EQ(stage_for_compression(tasks).uploads.size(), 1u);
  EXPECT_EQ(stage_for_compression(tasks).input_bytes, 65'536u + 40'000u);
  // The second block's history reaches farther back than the first upload.
  tasks[0].history = tasks[0].history.last(100);
  expect_staged(tasks, true);
  EXPECT_EQ(stage_for_compression(tasks).uploads.size(), 2u);
}

TEST_F(StagingTest, HistoriesFromElsewhere) {
  const Bytes dictionary = random_bytes(100'000);
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 5; ++i) {
    tasks.push_back(task(i * 10'000, 10'000, 0, 9'999));
    if (i != 2) tasks.back().history = dictionary;
  }
  expect_staged(tasks, true);
  expect_staged(tasks, false);
  const Staging staging = stage_for_restoration(tasks);
  EXPECT_EQ(staging.moves.size(), 4u);
  EXPECT_EQ(staging.input_bytes, 50'000u + dictionary.size());  // the dictionary only once
}

TEST_F(StagingTest, EmptyBlocksAndRooms) {
  std::vector<BlockTask> tasks = {task(0, 0, 0, 0), task(7, 13, 7, 1), task(20, 0, 20, 5), task(90, 1, 0, 0)};
  expect_staged(tasks, true);
  expect_staged(tasks, false);
}

TEST_F(StagingTest, InputsOfOneMemoryGoUpAsTheyStand) {
  const Bytes dictionary = random_bytes(1000);
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 5; ++i) {
    tasks.push_back(task(i * 10'000, 10'000 - 4 * i, 0, 9'999));  // there may be checksums in between
    if (i == 3) tasks.back().history = dictionary;
  }
  const std::span<const std::byte> whole = whole_input(tasks);
  EXPECT_EQ(whole.data(), tasks[0].input.data());
  EXPECT_EQ(whole.size(), 49'984u);
  const Staging staging = stage_for_restoration(tasks, true);
  expect_staged(tasks, false, staging);
  EXPECT_EQ(staging.uploads.size(), 2u);  // and the dictionary
  EXPECT_EQ(staging.uploads[0].from.size(), whole.size());

  std::vector<BlockTask> apart = {tasks[0], tasks[4]};
  EXPECT_TRUE(whole_input(apart).empty()) << "too much lies between";
  apart = {tasks[1], tasks[0]};
  EXPECT_TRUE(whole_input(apart).empty()) << "the order is another";
  EXPECT_TRUE(whole_input({}).empty());
}

// Inputs with other bytes in between.
TEST_F(StagingTest, WhatIsCompressedFromOneMemoryGoesUpWithWhatIsBetween) {
  std::vector<BlockTask> tasks = {task(0, 10'000, 0, 9'999), task(20'000, 10'000, 0, 9'999),
                                  task(39'999, 10'000, 0, 9'999)};
  const std::span<const std::byte> whole = whole_input(tasks);
  EXPECT_EQ(whole.size(), 49'999u);
  const Staging staging = stage_for_compression(tasks, true);
  expect_staged(tasks, true, staging);
  ASSERT_EQ(staging.uploads.size(), 1u);
  EXPECT_EQ(staging.uploads[0].from.data(), whole.data());
  EXPECT_EQ(staging.input_bytes, 49'999u);
  tasks.push_back(task(60'000, 10'000, 0, 9'999));
  EXPECT_EQ(whole_input(tasks).size(), 70'000u);
  tasks.push_back(task(100'001, 10'000, 0, 9'999));
  EXPECT_TRUE(whole_input(tasks).empty()) << "more is between than goes up";
}

TEST_F(StagingTest, FullBlocksComeDownInOnePiece) {
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 6; ++i) {
    tasks.push_back(task(i * 1000, 1000, 0, 3000));
    tasks.back().output = std::span(room_).subspan(i * 3000, 3000);
    tasks.back().status = Status::kOk;
    tasks.back().output_bytes = 3000;
  }
  const Staging staging = stage_for_restoration(tasks);
  ASSERT_EQ(results_of(staging, tasks).size(), 1u);
  EXPECT_EQ(results_of(staging, tasks)[0].to.size(), 18'000u);
  std::vector<BlockTask> elsewhere = tasks;  // adjacent on the device, but not in host memory
  elsewhere[2].output = std::span(room_).subspan(50'000, 3000);
  EXPECT_EQ(results_of(staging, elsewhere).size(), 3u);
  tasks[1].output_bytes = 2900;  // the rest of its room is transferred too
  tasks[3].status = Status::kCorruptBlock;
  tasks[4].output_bytes = 0;
  const std::vector<StagedSpan> spans = results_of(staging, tasks);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].at, 0u);
  EXPECT_EQ(spans[0].to.size(), 9000u);
  EXPECT_EQ(spans[1].at, 15'000u);
  EXPECT_EQ(spans[1].to.size(), 3000u);
}

// The device's memory may hold bytes of another call there.
TEST_F(StagingTest, WhatIsTransferredBeyondAResultBecomesZero) {
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 4; ++i) {
    tasks.push_back(task(i * 1000, 1000, 0, 3000));
    tasks.back().output = std::span(room_).subspan(i * 3000, 3000);
    tasks.back().status = i == 2 ? Status::kCorruptBlock : Status::kOk;
    tasks.back().output_bytes = i == 0 ? 2900 : i == 1 ? 3000 : i == 2 ? 0 : 1;
  }
  ASSERT_EQ(results_of(stage_for_restoration(tasks), tasks)[0].to.size(), 6000u)
      << "nothing is transferred beyond";
  std::ranges::fill(room_, std::byte{0x5A});
  clear_unused_rooms(tasks);
  for (std::size_t at = 0; at < 12'000; ++at) {
    const bool unused = (at >= 2900 && at < 3000) || at >= 9001;
    ASSERT_EQ(room_[at], std::byte(unused ? 0 : 0x5A)) << at;
  }
}

TEST_F(StagingTest, LargeRoomsThatAreNearlyEmptyDoNotComeDown) {
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 3; ++i) {
    tasks.push_back(task(i * 1000, 1000, 0, 20'000));
    tasks.back().output = std::span(room_).subspan(i * 20'000, 20'000);
    tasks.back().status = Status::kOk;
    tasks.back().output_bytes = i == 0 ? 15'904 : 15'903;  // 4096 bytes left, and one more
  }
  const std::vector<StagedSpan> spans = results_of(stage_for_restoration(tasks), tasks);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].to.size(), 35'903u);
  EXPECT_EQ(spans[1].at, 40'000u);
  EXPECT_EQ(spans[1].to.size(), 15'903u);
  // Nor if a core copies them afterwards.
  ASSERT_EQ(runs_of(spans).size(), 2u);
  EXPECT_EQ(runs_of(spans)[0].bytes, 35'903u);
  EXPECT_EQ(runs_of(spans)[1].at, 40'000u);
  EXPECT_EQ(runs_of(spans)[1].bytes, 15'903u);
}

TEST_F(StagingTest, ManySmallResultsComeDownTogetherToBeCopiedOn) {
  std::vector<BlockTask> tasks;
  for (std::size_t i = 0; i < 5; ++i) {
    tasks.push_back(task(i * 1000, 1000, 0, 3000));
    tasks.back().output = std::span(room_).subspan(i * 7000, 3000);
    tasks.back().status = i == 2 ? Status::kCorruptBlock : Status::kOk;
    tasks.back().output_bytes = 3000;
  }
  const std::vector<StagedSpan> spans = results_of(stage_for_restoration(tasks), tasks);
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_FALSE(come_down_alone(spans));
  ASSERT_EQ(runs_of(spans).size(), 1u);
  EXPECT_EQ(runs_of(spans)[0].at, 0u);
  EXPECT_EQ(runs_of(spans)[0].bytes, 15'000u);
  EXPECT_TRUE(come_down_alone(std::span(spans).first(1)));
  EXPECT_TRUE(runs_of({}).empty());
  const std::vector<StagedSpan> large = {{0, std::span(room_).first(40'000)},
                                         {40'000, std::span(room_).subspan(50'000, 30'000)}};
  EXPECT_TRUE(come_down_alone(large));
}

}  // namespace
}  // namespace hemstitch
