// Slots that batches in flight hold.
#include "core/slot_ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/grown_size.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

struct Slot {
  int number = 0;
  std::atomic<int> holders = 0;
};
using Ring = SlotRing<Slot>;

TEST(SlotRing, MakesASlotWhenNoneIsFree) {
  int made = 0;
  Ring ring(2, [&] {
    auto slot = std::make_unique<Slot>();
    slot->number = ++made;
    return slot;
  });
  EXPECT_EQ(made, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ring.take()->number, 1);
  const Ring::Lease first = ring.take(), second = ring.take();
  EXPECT_EQ(first->number, 1);
  EXPECT_EQ(second->number, 2);
  EXPECT_EQ(made, 2);
}

TEST(SlotRing, LendsTheSlotThatWasUsedLast) {
  Ring ring(2);
  std::optional<Ring::Lease> first(ring.take()), second(ring.take());
  Slot* const last = &**first;
  second.reset();
  first.reset();
  EXPECT_EQ(&*ring.take(), last);
}

TEST(SlotRing, LendsNoMoreThanItsCount) {
  Ring ring(1);
  std::optional<Ring::Lease> held(ring.try_take());
  ASSERT_TRUE(*held);
  EXPECT_FALSE(ring.try_take());
  Ring::Lease moved(std::move(*held));
  held.reset();
  EXPECT_FALSE(ring.try_take());
  { const Ring::Lease gone(std::move(moved)); }
  EXPECT_TRUE(ring.try_take());
}

TEST(SlotRing, ASlotThatCannotBeMadeLeavesItsPlace) {
  bool fail = true;
  Ring ring(1, [&] {
    if (fail) throw std::runtime_error("no memory");
    return std::make_unique<Slot>();
  });
  EXPECT_THROW(ring.take(), std::runtime_error);
  fail = false;
  EXPECT_TRUE(ring.take());
}

TEST(SlotRing, ShowsTheSlotsThatNobodyHolds) {
  Ring ring(2);
  const Ring::Lease held = ring.take();
  Slot* const free = &*ring.take();
  std::vector<Slot*> shown;
  ring.for_each_free([&](Slot& slot) { shown.push_back(&slot); });
  EXPECT_EQ(shown, std::vector<Slot*>{free});
}

TEST_WITH_THREADS(SlotRing, EachSlotHasOneHolder) {
  Ring ring(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const Ring::Lease slot = ring.take();
        EXPECT_EQ(++slot->holders, 1);
        ++slot->number;  // a race unless the ring orders the accesses
        --slot->holders;
      }
    });
  for (std::thread& thread : threads) thread.join();
  int total = 0;
  ring.for_each_free([&](const Slot& slot) { total += slot.number; });
  EXPECT_EQ(total, 4000);
}

TEST(GrownSize, IsWhatIsNeededAndGrowsByAQuarter) {
  EXPECT_EQ(grown_size(0, 10), 10u);
  EXPECT_EQ(grown_size(100, 101), 125u);
  EXPECT_EQ(grown_size(100, 300), 300u);
}

}  // namespace
}  // namespace hemstitch
