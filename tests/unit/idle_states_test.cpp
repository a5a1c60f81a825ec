// States that threads borrow: none is in two hands, and they are used again.
#include "core/idle_states.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "threads.hpp"

namespace hemstitch {
namespace {

std::atomic<int> alive = 0;

struct CountedState {
  CountedState() { ++alive; }
  ~CountedState() { --alive; }
  CountedState(const CountedState&) = delete;
  CountedState& operator=(const CountedState&) = delete;
  int uses = 0;  // no atomic: a state that two threads have is a race
};

TEST(IdleStates, AreUsedAgain) {
  {
    IdleStates<CountedState> idle;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(idle.borrow()->uses++, i);
    EXPECT_EQ(alive, 1);
    {
      const auto first = idle.borrow(), second = idle.borrow();
      EXPECT_NE(&*first, &*second);
    }
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST_WITH_THREADS(IdleStates, HaveOneThreadEach) {
  constexpr int kUses = 2000, kThreads = 4;
  std::atomic<int> uses = 0;
  {
    IdleStates<CountedState> idle;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (int use = 0; use < kUses; ++use) {
          const auto state = idle.borrow();
          const int before = state->uses++;
          if (state->uses == before + 1) ++uses;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(alive, kThreads);
  }
  EXPECT_EQ(uses, kUses * kThreads);
  EXPECT_EQ(alive, 0);
}

// As many as are in use at once may be more than are kept.
TEST(IdleStates, ThoseForWhichThereIsNoPlaceAreFreed) {
  constexpr std::size_t kMany = 200;
  IdleStates<CountedState> idle;
  {
    std::vector<std::unique_ptr<IdleStates<CountedState>::Borrowed>> many;
    for (std::size_t i = 0; i < kMany; ++i)
      many.push_back(std::make_unique<IdleStates<CountedState>::Borrowed>(idle));
    EXPECT_EQ(alive, static_cast<int>(kMany));
  }
  EXPECT_LT(alive, static_cast<int>(kMany));
  EXPECT_GT(alive, 0);
}

}  // namespace
}  // namespace hemstitch
