// Batches on several engines: which engine gets them, and which one redoes them.
#include "engine/several_engines.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "threads.hpp"

namespace hemstitch {
namespace {

// What a test sees of an engine that it no longer owns, and how it controls it.
struct Seen {
  std::atomic<unsigned> calls = 0;
  std::atomic<bool> fails = false;  // each call fails, after it has moved the outputs
  std::atomic<bool> waits = false;  // calls wait until this is false
};

class CopyingEngine : public BlockEngine {
 public:
  CopyingEngine(Seen& seen, unsigned slots) : seen_(seen), slots_(slots) {}

  std::size_t preferred_batch_bytes() const override { return 1000 * slots_; }
  std::size_t preferred_batch_blocks() const override { return slots_; }
  unsigned preferred_batches_in_flight(unsigned) const override { return slots_; }
  std::size_t staging_bytes(std::size_t in, std::size_t out) const override { return slots_ * (in + out); }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    ++seen_.calls;
    while (seen_.waits) std::this_thread::yield();
    if (seen_.fails) {
      if (parameters.movable_outputs)
        for (BlockTask& task : tasks) task.output = task.output.subspan(1);
      throw Error(Status::kDeviceFault, "it fell off the bus");
    }
    for (BlockTask& task : tasks) {
      std::memcpy(task.output.data(), task.input.data(), task.input.size());
      task.output_bytes = task.input.size();
      task.status = Status::kOk;
    }
  }
  void restore(std::span<BlockTask> tasks, Format) override { compress(tasks, {}); }

 private:
  Seen& seen_;
  unsigned slots_;
};

class SeveralEnginesTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kBytes = 64;

  SeveralEngines several(unsigned count = 2) {
    std::vector<std::unique_ptr<BlockEngine>> engines;
    for (unsigned i = 0; i < count; ++i) engines.push_back(std::make_unique<CopyingEngine>(seen_[i], i + 1));
    return SeveralEngines(std::move(engines));
  }

  // Compresses a batch with one block, and compares.
  static void compress_one(SeveralEngines& engines, bool movable = false) {
    const std::vector<std::byte> input(kBytes, std::byte{7});
    std::vector<std::byte> output(kBytes);
    BlockTask task;
    task.input = input;
    task.output = output;
    EncodeParameters parameters;
    parameters.movable_outputs = movable;
    engines.compress({&task, 1}, parameters);
    EXPECT_EQ(task.status, Status::kOk);
    EXPECT_EQ(output, input);
  }

  Seen seen_[3];
};

TEST_F(SeveralEnginesTest, AsksForWhatAllOfThemWant) {
  const SeveralEngines engines = several(3);
  EXPECT_EQ(engines.preferred_batch_bytes(), 3000u);
  EXPECT_EQ(engines.preferred_batch_blocks(), 3u);
  EXPECT_EQ(engines.preferred_batches_in_flight(8), 6u);
  EXPECT_EQ(engines.preferred_batches_in_flight(1), 1u);
  EXPECT_EQ(engines.staging_bytes(10, 20), 90u);
}

TEST_F_WITH_THREADS(SeveralEnginesTest, GivesABatchToTheOneThatHasTheLeastToDo) {
  SeveralEngines engines = several(2);
  seen_[0].waits = true;
  std::thread first([&] { compress_one(engines); });
  while (seen_[0].calls == 0) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) compress_one(engines);
  EXPECT_EQ(seen_[0].calls, 1u);
  EXPECT_EQ(seen_[1].calls, 5u);
  seen_[0].waits = false;
  first.join();
}

TEST_F(SeveralEnginesTest, AnotherOneRedoesABatchInTheRoomsAsTheyWere) {
  SeveralEngines engines = several(2);
  seen_[0].fails = true;
  compress_one(engines, true);
  EXPECT_EQ(seen_[0].calls, 1u);
  EXPECT_EQ(seen_[1].calls, 1u);
}

TEST_F(SeveralEnginesTest, OneThatFailsAgainIsGivenNothingMore) {
  SeveralEngines engines = several(2);
  seen_[0].fails = true;
  for (int i = 0; i < 6; ++i) compress_one(engines);
  EXPECT_EQ(seen_[0].calls, 2u);
  EXPECT_EQ(seen_[1].calls, 6u);
  EXPECT_NE(engines.lost_devices().find("device 1 of 2 failed again and was dropped"), std::string::npos);
  EXPECT_NE(engines.lost_devices().find("it fell off the bus"), std::string::npos);
}

TEST_F(SeveralEnginesTest, WhatAllFailOnIsThrown) {
  SeveralEngines engines = several(3);
  for (Seen& seen : seen_) seen.fails = true;
  EXPECT_THROW(compress_one(engines), Error);
  for (Seen& seen : seen_) EXPECT_EQ(seen.calls, 1u);
  for (Seen& seen : seen_) seen.fails = false;
  compress_one(engines);  // one failure does not last
  EXPECT_EQ(engines.lost_devices(), "");
}

// At first every thread has a batch in an engine that waits. The batches are shared out evenly, and so is what the failing
// engine had.
TEST_F_WITH_THREADS(SeveralEnginesTest, ManyThreadsShareThem) {
  SeveralEngines engines = several(3);
  seen_[1].fails = true;
  seen_[0].waits = seen_[2].waits = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) compress_one(engines);
    });
  while (seen_[0].calls + seen_[2].calls < 4) std::this_thread::yield();
  EXPECT_EQ(seen_[0].calls, 2u);
  EXPECT_EQ(seen_[2].calls, 2u);
  EXPECT_GE(seen_[1].calls, 1u);
  seen_[0].waits = seen_[2].waits = false;
  for (std::thread& thread : threads) thread.join();
  // Each batch was compressed once, and each thread may have given the failing one a batch before it was dropped.
  EXPECT_EQ(seen_[0].calls + seen_[2].calls, 200u);
  EXPECT_LE(seen_[1].calls, 2u + threads.size());
}

}  // namespace
}  // namespace hemstitch
