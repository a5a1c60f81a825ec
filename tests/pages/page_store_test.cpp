// The store of pages, held against a plain map: every sequence of puts, gets and discards, by one thread and by many, with budgets,
// compaction and snapshots in between.
#include "pages/page_store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "core/bytes.hpp"
#include "hemstitch/pages.h"
#include "hemstitch/pages.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

using namespace std::chrono_literals;

// A page that says which it is, in its first 16 bytes and by all others: `random` bytes of it, and the rest repeats.
Bytes page_of(std::uint64_t number, std::uint64_t version, std::uint32_t page_bytes = 4096) {
  Bytes page(page_bytes);
  std::mt19937_64 random(number * 1000003 + version);
  const std::uint64_t kind = random() % 8;
  if (kind == 0) {
    // Same-filled: there is no room for more than one word.
    const std::uint64_t word = version % 3 == 0 ? 0 : number << 20 | version;
    for (std::size_t at = 0; at < page_bytes; at += 8) std::memcpy(page.data() + at, &word, 8);
    return page;
  }
  const std::size_t noise = kind == 1 ? page_bytes : random() % page_bytes;
  std::uint64_t last = 0;
  for (std::size_t at = 0; at < page_bytes; at += 8) {
    if (at < noise) last = random();
    std::memcpy(page.data() + at, &last, 8);
  }
  std::memcpy(page.data(), &number, 8);
  std::memcpy(page.data() + 8, &version, 8);
  return page;
}

Status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

PageBatchOptions on_cpu(std::uint32_t page_bytes = 4096) {
  return {.page_bytes = page_bytes, .backend = "cpu", .threads = 1};
}

// What a store should hold: versions of pages by number.
using Model = std::map<std::uint64_t, std::uint64_t>;

void expect_holds(const PageStore& store, const Model& model) {
  Bytes page(store.page_bytes());
  EXPECT_EQ(store.statistics().pages, model.size());
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, version] : model) {
    numbers.push_back(number);
    ASSERT_TRUE(store.get(number, page)) << number;
    ASSERT_TRUE(page == page_of(number, version, store.page_bytes())) << number << " version " << version;
  }
  EXPECT_EQ(store.numbers(), numbers);
}

// A random sequence over `numbers`, all of it in the model afterwards.
void run_sequence(PageStore& store, Model& model, std::span<const std::uint64_t> numbers,
                  std::mt19937_64& random, int steps) {
  Bytes page(store.page_bytes());
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t number = numbers[random() % numbers.size()];
    const auto known = model.find(number);
    switch (random() % 8) {
      default: {
        const std::uint64_t version = random() % 1000000;
        const Status status =
            status_of([&] { store.put(number, page_of(number, version, store.page_bytes())); });
        if (status == Status::kOk)
          model[number] = version;
        else
          ASSERT_EQ(status, Status::kMemoryLimit);
        break;
      }
      case 0:
      case 1:
        ASSERT_EQ(store.discard(number), known != model.end());
        model.erase(number);
        break;
      case 2:
      case 3:
        ASSERT_EQ(store.get(number, page), known != model.end());
        if (known != model.end()) {
          ASSERT_TRUE(page == page_of(number, known->second, store.page_bytes()));
        }
        ASSERT_EQ(store.contains(number), known != model.end());
        break;
    }
  }
}

TEST_WITH_THREADS(PageStore, AsAMapOfRandomSequences) {
  for (const std::uint32_t page_bytes : {4096U, 16384U, 65536U})
    for (const std::uint64_t page_count : {std::uint64_t{0}, std::uint64_t{2000}})
      for (const bool checksums : {false, true}) {
        PageStore store({.page_count = page_count, .checksums = checksums, .batch = on_cpu(page_bytes)});
        Model model;
        std::mt19937_64 random(page_bytes + page_count);
        std::vector<std::uint64_t> numbers;
        for (int i = 0; i < 300; ++i) numbers.push_back(page_count != 0 ? random() % page_count : random());
        if (page_count == 0) numbers[0] = UINT64_MAX, numbers[1] = 0;
        run_sequence(store, model, numbers, random, page_bytes == 4096 ? 6000 : 600);
        expect_holds(store, model);
        store.compact();
        expect_holds(store, model);
      }
}

TEST(PageStore, NumbersOfAHashTableThatGrowsAndShrinks) {
  PageStore store({.batch = on_cpu()});
  Model model;
  // All in one shard and many in one bucket, or anywhere.
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t number = i % 2 == 0 ? i : i * 0x9E3779B97F4A7C15ULL;
    store.put(number, Bytes(4096));
    ASSERT_TRUE(store.contains(number));
    model[number] = 0;
  }
  EXPECT_EQ(store.numbers().size(), model.size());
  for (auto known = model.begin(); known != model.end();) {
    if (known->first % 16 != 1) {
      ASSERT_TRUE(store.discard(known->first));
      known = model.erase(known);
    } else {
      ++known;
    }
  }
  for (const auto& [number, version] : model) ASSERT_TRUE(store.contains(number));
  EXPECT_EQ(store.numbers().size(), model.size());
  const PageStoreStatistics statistics = store.statistics();
  EXPECT_EQ(statistics.pages, model.size());
  for (const auto& [number, version] : model) ASSERT_TRUE(store.discard(number));
  store.compact();
  EXPECT_EQ(store.statistics().slot_bytes, 0U);
  EXPECT_EQ(store.statistics().kept_bytes, 0U);
  EXPECT_EQ(store.statistics().pages, 0U);
}

TEST(PageStore, ABudgetIsNeverPassedAndChangesNothingThatStands) {
  for (const std::uint64_t page_count : {std::uint64_t{0}, std::uint64_t{4000}}) {
    constexpr std::uint64_t kBudget = 4 << 20;
    PageStore store({.page_count = page_count, .budget_bytes = kBudget, .batch = on_cpu()});
    Model model;
    std::mt19937_64 random(7);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 4000; ++i) numbers.push_back(i);
    for (int round = 0; round < 20; ++round) {
      run_sequence(store, model, numbers, random, 1000);
      ASSERT_LE(store.statistics().memory_bytes, kBudget);
    }
    EXPECT_GT(store.statistics().refused, 100U);
    expect_holds(store, model);
    // What is full can be read, replaced in its place, and emptied; then there is room again.
    for (const auto& [number, version] : model) store.put(number, page_of(number, version));
    expect_holds(store, model);
    for (const auto& [number, version] : model) ASSERT_TRUE(store.discard(number));
    model.clear();
    for (std::uint64_t i = 0; i < 700; ++i) {
      store.put(i, page_of(i, 1));
      model[i] = 1;
    }
    expect_holds(store, model);
  }
}

// The least budget that is taken is one that holds a page of any content.
TEST(PageStore, ABudgetThatHoldsNoPageIsRefused) {
  for (const std::uint32_t page_bytes : {4096U, 65536U})
    for (const std::uint64_t page_count : {0U, 100U})
      for (const bool prefault : {false, true}) {
        if (prefault && page_bytes != 4096) continue;  // takes 135 MB from the system
        PageStoreOptions options{.page_count = page_count, .prefault = prefault, .batch = on_cpu(page_bytes)};
        std::uint64_t refused = 0, taken = 4 << 20;
        while (taken - refused > 1) {
          options.budget_bytes = (refused + taken) / 2;
          const Status status = status_of([&] { PageStore store(options); });
          ASSERT_TRUE(status == Status::kOk || status == Status::kInvalidOption);
          (status == Status::kOk ? taken : refused) = options.budget_bytes;
        }
        EXPECT_GT(refused, page_bytes);
        options.budget_bytes = taken;
        PageStore store(options);
        EXPECT_EQ(status_of([&] { store.put(7, random_bytes(page_bytes)); }), Status::kOk);
      }
}

TEST(PageStore, AFullStoreSpeaksOfItsBudget) {
  PageStore store({.budget_bytes = 1 << 20, .batch = on_cpu()});
  const Bytes raw = random_bytes(4096);
  const auto message_of = [&](const std::function<void(std::uint64_t)>& put) -> std::string {
    try {
      for (std::uint64_t number = 0; number < 400; ++number) put(number);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (const std::string& message :
       {message_of([&](std::uint64_t number) { store.put(number, raw); }),
        message_of([&](std::uint64_t number) { store.put_many(std::vector{number}, raw); })})
    EXPECT_NE(message.find("the store's budget of 1048576 bytes is used up"), message.npos) << message;
}

std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Whatever the parent's threads were doing at that moment, a child of fork() frees a store without waiting for them, and the
// memory of its pages is gone.
TEST(PageStore, AChildOfForkFreesIt) {
  for (const std::uint64_t page_count : {0U, 4000U}) {
    PageStore store({.page_count = page_count, .batch = on_cpu()});
    std::atomic<bool> done = false;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 2; ++t)
      threads.emplace_back([&, t] {
        const Bytes raw = random_bytes(4096);
        for (std::uint64_t i = 0; !done; ++i) {
          store.put(i * 2 % 4000 + t, raw);
          if (i % 3 == 0) store.discard(i * 14 % 4000 + t);
        }
      });
    while (store.statistics().slot_bytes < 1 << 20) std::this_thread::yield();
    for (int trial = 0; trial < 50 && !HasFailure(); ++trial) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);  // for a child that waits
        const std::uint64_t before = mapped_bytes();
        if (trial % 2 == 0)
          store.~PageStore();
        else
          store = PageStore(std::move(store));  // stays
        const bool is_gone = mapped_bytes() + (1 << 20) <= before;
        _exit(is_gone == (trial % 2 == 0) ? 0 : 1);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0) << "trial " << trial;
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
  }
}

// In one size of slots there is hardly anything, and all of the budget is in slabs of another one.
TEST(PageStore, FreeSlotsOfOtherSizesAreBroughtTogetherWhereTheBudgetIsReached) {
  PageStore store({.budget_bytes = 3 << 20, .batch = on_cpu()});
  Bytes raw = random_bytes(4096);
  std::uint64_t count = 0;
  while (status_of([&] { store.put(count, raw); }) == Status::kOk) ++count;
  EXPECT_GT(count, 650U);
  for (std::uint64_t i = 0; i < count; ++i)
    if (i % 31 != 0) store.discard(i);
  // 1/31 of the raw pages holds each slab; all others have to come from what they leave.
  Bytes half = random_bytes(4096);
  std::fill(half.begin() + 2048, half.end(), std::byte{0});
  for (std::uint64_t i = 0; i < count; ++i)
    if (i % 31 != 0) {
      ASSERT_EQ(status_of([&] { store.put(i, half); }), Status::kOk) << i;
    }
  Bytes page(4096);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_TRUE(store.get(i, page));
    ASSERT_TRUE(page == (i % 31 != 0 ? half : raw));
  }
}

// Waits for the background.
template <class Right>
bool within_seconds(int seconds, const Right& right) {
  for (int i = 0; i < seconds * 100; ++i) {
    if (right()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return right();
}

TEST_WITH_THREADS(PageStore, CompactionLeavesLessThanATenthFreeAfterAnySequence) {
  PageStore store({.page_count = 40000, .batch = {.backend = "cpu", .threads = 2}});
  std::mt19937_64 random(11);
  const auto is_compact = [&] { return store.statistics().fragmentation() < 0.1; };
  // Everything once; then most of it is gone, at random; then every third of what is left is of another size.
  for (std::uint64_t i = 0; i < 20000; ++i) store.put(i, page_of(i, 0));
  EXPECT_TRUE(within_seconds(20, is_compact)) << store.statistics().fragmentation();
  Model model;
  for (std::uint64_t i = 0; i < 20000; ++i)
    if (random() % 10 < 5)
      store.discard(i);
    else
      model[i] = 0;
  for (auto& [number, version] : model)
    if (number % 3 == 0) {
      version = random() % 1000;
      store.put(number, page_of(number, version));
    }
  EXPECT_TRUE(within_seconds(20, is_compact)) << store.statistics().fragmentation();
  EXPECT_GT(store.statistics().moved_pages, 100U);
  expect_holds(store, model);
}

TEST(PageStore, BookkeepingOfAPage) {
  constexpr std::uint64_t kPages = 60000;
  for (const bool dense : {true, false}) {
    PageStore store({.page_count = dense ? kPages : 0, .batch = on_cpu()});
    Bytes page = random_bytes(4096, 3);
    std::fill(page.begin() + 1000, page.end(), std::byte{0});
    // Also where the table has just grown, or is about to.
    for (std::uint64_t i = 0; i < kPages; ++i) {
      store.put(dense ? i : i * 0x9E3779B97F4A7C15ULL, page);
      if (i < kPages / 4 || i % 7001 != 0) continue;
      const PageStoreStatistics statistics = store.statistics();
      EXPECT_LE(double(statistics.bookkeeping_bytes) / double(statistics.pages), dense ? 16 : 24) << i;
    }
  }
}

TEST(PageStore, WrongCallsChangeNothing) {
  PageStore store({.page_count = 10, .batch = on_cpu()});
  Bytes page(4096), small(4095);
  store.put(9, page_of(9, 1));
  EXPECT_EQ(status_of([&] { store.put(10, page); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.put(9, small); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.get(9, small); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.get(UINT64_MAX, page); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.discard(10); }), Status::kInvalidOption);
  const std::vector<std::uint64_t> numbers = {1, 2, 10};
  const Bytes three(3 * 4096);
  EXPECT_EQ(status_of([&] { store.put_many(numbers, three); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.put_many(std::span(numbers).first(2), three); }), Status::kInvalidOption);
  std::vector<Status> two(2);
  EXPECT_EQ(status_of([&] {
              store.put_many(std::vector<std::uint64_t>{1, 2, 3}, three, two);
            }),
            Status::kInvalidOption);
  expect_holds(store, {{9, 1}});
  for (const PageStoreOptions& wrong :
       {PageStoreOptions{.page_count = (std::uint64_t{1} << 32) + 1}, PageStoreOptions{.prefault = true},
        PageStoreOptions{.batch = {.page_bytes = 1000}}, PageStoreOptions{.batch = {.level = 13}}})
    EXPECT_EQ(status_of([&] { PageStore made(wrong); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { PageStore made({.batch = {.backend = "abacus"}}); }), Status::kUnknownBackend);
}

TEST(PageStore, KindsAreToldAndCounted) {
  PageStore store({.batch = on_cpu()});
  store.put(1, Bytes(4096));
  store.put(2, random_bytes(4096));
  store.put(3, wordy_bytes(4096));
  KeptPage page;
  ASSERT_TRUE(store.describe(1, page));
  EXPECT_EQ(page.kind, PageKind::kSameFilled);
  EXPECT_EQ(page.bytes, 8U);
  ASSERT_TRUE(store.describe(2, page));
  EXPECT_EQ(page.kind, PageKind::kRaw);
  EXPECT_EQ(page.bytes, 4096U);
  ASSERT_TRUE(store.describe(3, page));
  EXPECT_EQ(page.kind, PageKind::kCompressed);
  EXPECT_FALSE(store.describe(4, page));
  const PageStoreStatistics statistics = store.statistics();
  EXPECT_EQ(statistics.same_filled, 1U);
  EXPECT_EQ(statistics.raw, 1U);
  EXPECT_EQ(statistics.compressed, 1U);
  EXPECT_EQ(statistics.kept_bytes, 8 + 4096 + page.bytes);
}

TEST_WITH_THREADS(PageStore, ManyAtOnce) {
  for (const char* const backend : {"cpu", "reference"}) {
    PageStore store({.checksums = true, .batch = {.backend = backend, .threads = 3}});
    std::vector<std::uint64_t> numbers;
    Bytes pages;
    Model model;
    // Out of order, and some twice: the later one counts.
    for (std::uint64_t i = 0; i < 600; ++i) {
      const std::uint64_t number = i * 7919 % 500;
      numbers.push_back(number);
      const Bytes page = page_of(number, i);
      pages.insert(pages.end(), page.begin(), page.end());
      model[number] = i;
    }
    store.put_many(numbers, pages);
    expect_holds(store, model);
    numbers.push_back(1000000);  // there is none
    Bytes read(numbers.size() * 4096, std::byte{1});
    EXPECT_EQ(store.get_many(numbers, read), 600U);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      ASSERT_TRUE(std::ranges::equal(std::span(read).subspan(i * 4096, 4096),
                                     i < 600 ? page_of(numbers[i], model.at(numbers[i])) : Bytes(4096)))
          << i;
    EXPECT_EQ(store.discard_range(100, 50), 50U);
    EXPECT_EQ(store.discard_range(100, UINT64_MAX), 350U);
    EXPECT_EQ(store.numbers_in(90, 20), (std::vector<std::uint64_t>{90, 91, 92, 93, 94, 95, 96, 97, 98, 99}));
  }
}

TEST_WITH_THREADS(PageStore, ManyAtOnceUntilTheBudgetIsReached) {
  PageStore store({.budget_bytes = 1 << 20, .batch = {.backend = "cpu", .threads = 2}});
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 400; ++i) numbers.push_back(i);
  const Bytes pages = random_bytes(400 * 4096);
  std::vector<Status> statuses(400);
  store.put_many(numbers, pages, statuses);
  std::size_t put = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    ASSERT_TRUE(statuses[i] == Status::kOk || statuses[i] == Status::kMemoryLimit);
    ASSERT_EQ(store.contains(i), statuses[i] == Status::kOk);
    if (statuses[i] == Status::kOk) ++put;
  }
  EXPECT_GT(put, 200U);
  EXPECT_LT(put, 256U);
  EXPECT_EQ(status_of([&] { store.put_many(numbers, pages); }), Status::kMemoryLimit);
}

// 16 threads with numbers of their own, each of which knows what is there; all of them read all pages, which say what they are.
TEST_WITH_THREADS(PageStore, ManyThreads) {
  for (const std::uint64_t page_count : {std::uint64_t{0}, std::uint64_t{3200}}) {
    PageStore store({.page_count = page_count, .budget_bytes = 6 << 20, .batch = on_cpu()});
    constexpr std::uint64_t kThreads = 16, kNumbers = 3200;
    std::vector<Model> models(kThreads);
    std::vector<std::thread> threads;
    std::atomic<bool> done = false;
    for (std::uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        std::mt19937_64 random(t);
        std::vector<std::uint64_t> own;
        for (std::uint64_t i = t; i < kNumbers; i += kThreads) own.push_back(i);
        Bytes page(4096);
        for (int round = 0; round < 15; ++round) {
          run_sequence(store, models[t], own, random, 60);
          for (int i = 0; i < 30; ++i) {
            const std::uint64_t number = random() % kNumbers;
            if (!store.get(number, page)) continue;
            std::uint64_t told = 0, version = 0;
            std::memcpy(&told, page.data(), 8);
            std::memcpy(&version, page.data() + 8, 8);
            // Same-filled pages tell their number and version in one word, or are zero.
            if (told == version) {
              ASSERT_TRUE(std::equal(page.begin() + 8, page.end(), page.begin()));
            } else {
              ASSERT_EQ(told, number);
              ASSERT_TRUE(page == page_of(number, version)) << number << " version " << version;
            }
          }
        }
      });
    std::thread compacter([&] {
      while (!done) {
        store.compact();
        store.statistics();
        store.numbers();
        std::this_thread::yield();
      }
    });
    for (std::thread& thread : threads) thread.join();
    done = true;
    compacter.join();
    Model all;
    for (const Model& model : models) all.insert(model.begin(), model.end());
    expect_holds(store, all);
  }
}

// One page, written by one thread, moved by another and read by more: the reader never sees parts of two.
TEST_WITH_THREADS(PageStore, APageIsReadAsAWhole) {
  PageStore store({.batch = on_cpu()});
  std::atomic<bool> done = false;
  store.put(5, page_of(5, 0));
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      Bytes page(4096);
      while (!done) {
        ASSERT_TRUE(store.get(5, page));
        std::uint64_t told = 0, version = 0;
        std::memcpy(&told, page.data(), 8);
        std::memcpy(&version, page.data() + 8, 8);
        if (told == 5) {
          ASSERT_TRUE(page == page_of(5, version));
        } else {
          ASSERT_TRUE(std::equal(page.begin() + 8, page.end(), page.begin()));
        }
      }
    });
  for (std::uint64_t version = 0; version < 3000; ++version) store.put(5, page_of(5, version));
  done = true;
  for (std::thread& thread : readers) thread.join();
}

// A slot that says a number but is not where that page stands, as one that is just being filled, belongs to nobody.
TEST(PageStore, CompactionLeavesSlotsThatAreInNoTable) {
  PageStore::Impl store({.batch = on_cpu()});
  const Bytes raw = random_bytes(4096);
  ASSERT_EQ(store.put_one(1, raw), Status::kOk);
  const std::optional<SlotPlace> slot = store.slots->take(store.header_bytes() + 4096);
  ASSERT_TRUE(slot.has_value());
  store.write_slot(*slot, 1, 0, raw.data(), 4096);
  EXPECT_FALSE(store.move(*slot));
  store.write_slot(*slot, 2, 0, raw.data(), 4096);
  EXPECT_FALSE(store.move(*slot));
  EXPECT_TRUE(store.move(store.find(store.shard_of(1), 1).slot()));
}

// A reader restores a page from its slot without a lock. Whatever happens to the page meanwhile, the slot stays as it is, and then
// it is the reader's to give back.
TEST(PageStore, ASlotThatIsReadIsLeftToItsReader) {
  const Bytes raw = random_bytes(4096), other = random_bytes(4096, 2), words = wordy_bytes(4096);
  for (const std::string what : {"replaced", "replaced by another size", "discarded", "moved"}) {
    PageStore::Impl store({.batch = on_cpu()});
    ASSERT_EQ(store.put_one(1, raw), Status::kOk);
    PageStore::Impl::Shard& shard = store.shard_of(1);
    const SlotPlace slot = store.find(shard, 1).slot();
    SlotReaders::Entry* const reader = shard.readers.begin(slot);
    ASSERT_NE(reader, nullptr);
    if (what == "replaced")
      ASSERT_EQ(store.put_one(1, other), Status::kOk);
    else if (what == "replaced by another size")
      ASSERT_EQ(store.put_one(1, words), Status::kOk);
    else if (what == "discarded")
      ASSERT_TRUE(store.discard(1));
    else
      ASSERT_TRUE(store.move(slot));
    for (std::uint64_t number = 100; number < 150; ++number)
      ASSERT_EQ(store.put_one(number, other), Status::kOk);
    store.compact(0);
    EXPECT_TRUE(std::equal(raw.begin(), raw.end(), store.data_of(slot))) << what;
    EXPECT_TRUE(SlotReaders::end(*reader)) << what;
    store.give_back(slot);
    // Now it is free: all slots of its size are taken until it comes.
    bool is_free = false;
    for (int i = 0; i < 100 && !is_free; ++i)
      is_free = store.slots->take(store.header_bytes() + 4096) == slot;
    EXPECT_TRUE(is_free) << what;
  }
}

TEST(PageStore, AGetCopiesAPageThatItCannotReadInPlace) {
  PageStore::Impl store({.page_count = 8, .batch = on_cpu()});
  std::vector<SlotReaders::Entry*> readers;
  Bytes page(4096);
  bool found = false;
  for (std::uint64_t number = 0; number < 8; ++number) {  // all in one shard
    ASSERT_EQ(store.put_one(number, random_bytes(4096, static_cast<std::uint32_t>(number))), Status::kOk);
    PageStore::Impl::Shard& shard = store.shard_of(number);
    const SlotPlace slot = store.find(shard, number).slot();
    SlotReaders::Entry* const reader = shard.readers.begin(slot);
    EXPECT_EQ(shard.readers.has(slot), reader != nullptr);
    if (reader != nullptr) {
      readers.push_back(reader);
      EXPECT_EQ(shard.readers.begin(slot), nullptr);  // read already
    }
    ASSERT_EQ(store.get_one(number, page, found), Status::kOk);
    EXPECT_TRUE(found && page == random_bytes(4096, static_cast<std::uint32_t>(number))) << number;
  }
  EXPECT_GE(readers.size(), 1U);
  EXPECT_LT(readers.size(), 8U);
  for (SlotReaders::Entry* const reader : readers) EXPECT_FALSE(SlotReaders::end(*reader));
}

// There is room for the page in its own slot alone, and that is being read: the writer waits for the reader.
TEST_WITH_THREADS(PageStore, AFullStoreReplacesAPageThatIsRead) {
  PageStore::Impl store({.budget_bytes = 1 << 20, .batch = on_cpu()});
  const Bytes raw = random_bytes(4096), other = random_bytes(4096, 2);
  std::uint64_t count = 0;
  while (store.put_one(count, raw) == Status::kOk) ++count;
  ASSERT_GT(count, 100U);
  PageStore::Impl::Shard& shard = store.shard_of(7);
  const SlotPlace slot = store.find(shard, 7).slot();
  SlotReaders::Entry* const reader = shard.readers.begin(slot);
  ASSERT_NE(reader, nullptr);
  std::atomic<bool> is_put = false;
  std::thread writer([&] {
    EXPECT_EQ(store.put_one(7, other), Status::kOk);
    is_put = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(is_put);
  EXPECT_TRUE(std::equal(raw.begin(), raw.end(), store.data_of(slot)));
  EXPECT_FALSE(SlotReaders::end(*reader));
  writer.join();
  Bytes page(4096);
  bool found = false;
  EXPECT_EQ(store.get_one(7, page, found), Status::kOk);
  EXPECT_TRUE(found && page == other);
}

TEST(PageStore, DamageInMemoryIsFoundByChecksums) {
  PageStore::Impl store({.checksums = true, .batch = on_cpu()});
  const Bytes raw = random_bytes(4096), words = wordy_bytes(4096);
  ASSERT_EQ(store.put_one(1, raw), Status::kOk);
  ASSERT_EQ(store.put_one(2, words), Status::kOk);
  ASSERT_EQ(store.put_one(3, raw), Status::kOk);
  for (const std::uint64_t number : {1, 2}) {
    const PageRef ref = store.find(store.shard_of(number), number);
    store.data_of(ref.slot())[ref.bytes() / 2] ^= std::byte{4};
    Bytes page(4096);
    bool found = false;
    const Status status = store.get_one(number, page, found);
    EXPECT_TRUE(status == Status::kBlockChecksumMismatch || status == Status::kCorruptBlock);
    EXPECT_TRUE(found);
  }
  Bytes page(4096);
  bool found = false;
  EXPECT_EQ(store.get_one(3, page, found), Status::kOk);
  EXPECT_TRUE(page == raw);
}

TEST(PageStore, MemoryThatIsLockedOrTakenAtOnce) {
  for (const bool lock : {false, true}) {
    PageStoreOptions options{
        .budget_bytes = 4 << 20, .lock_memory = lock, .prefault = !lock, .batch = on_cpu()};
    std::optional<PageStore> store;
    try {
      store.emplace(options);
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), Status::kOutOfMemory);  // the system locks no memory for us
      continue;
    }
    Model model;
    std::mt19937_64 random(3);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 500; ++i) numbers.push_back(i);
    const Status status = status_of([&] {
      run_sequence(*store, model, numbers, random, 3000);
      store->compact();
    });
    ASSERT_TRUE(status == Status::kOk || status == Status::kOutOfMemory);
    expect_holds(*store, model);
  }
}

// ---- Snapshots ----

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hemstitch-pages-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Model some_pages(PageStore& store) {
  Model model;
  for (const std::uint64_t number : {0ULL, 1ULL, 2ULL, 3ULL, 100ULL, 101ULL, 5000ULL}) {
    store.put(number, page_of(number, 2, store.page_bytes()));
    model[number] = 2;
  }
  return model;
}

TEST(PageStoreSnapshot, IsAnLz4FileAndComesBack) {
  const Folder folder;
  const std::string path = folder.file("pages");
  for (const std::uint32_t page_bytes : {4096U, 65536U}) {
    PageStore store({.batch = on_cpu(page_bytes)});
    Model model = some_pages(store);
    store.put(UINT64_MAX, page_of(UINT64_MAX, 9, page_bytes));
    model[UINT64_MAX] = 9;
    store.save(path);
    EXPECT_EQ(folder.entries(), 1U);
    Bytes content;
    for (const auto& [number, version] : model) content = content + page_of(number, version, page_bytes);
    EXPECT_TRUE(restore(read_file(path)) == content);
    PageStore other({.batch = on_cpu(page_bytes)});
    other.put(2, page_of(2, 77, page_bytes));  // is replaced
    other.put(6, page_of(6, 7, page_bytes));   // stays
    other.load(path);
    model[6] = 7;
    expect_holds(other, model);
  }
  PageStore empty({.batch = on_cpu()});
  empty.save(path);
  empty.load(path);
  EXPECT_EQ(empty.statistics().pages, 0U);
}

TEST(PageStoreSnapshot, WhatDoesNotFitIsRefusedBeforeAnythingChanges) {
  const Folder folder;
  const std::string path = folder.file("pages");
  {
    PageStore store({.batch = on_cpu()});
    some_pages(store);
    for (std::uint64_t number = 0; number < 10000; ++number) store.put(number, Bytes(4096));
    store.put(50000, Bytes(4096));
    store.save(path);
  }
  PageStore few({.page_count = 5000, .batch = on_cpu()});
  EXPECT_EQ(status_of([&] { few.load(path); }), Status::kInvalidOption);
  PageStore large({.batch = on_cpu(8192)});
  EXPECT_EQ(status_of([&] { large.load(path); }), Status::kInvalidOption);
  PageStore tiny({.budget_bytes = 140000, .batch = on_cpu()});
  EXPECT_EQ(status_of([&] { tiny.load(path); }), Status::kMemoryLimit);
  for (const PageStore* const store : {&few, &large, &tiny}) EXPECT_EQ(store->statistics().pages, 0U);
  EXPECT_EQ(status_of([&] { few.load(folder.file("none")); }), Status::kReadFailed);
  EXPECT_EQ(status_of([&] { few.load(folder.file(".")); }), Status::kReadFailed);
  EXPECT_EQ(status_of([&] { few.save(folder.file("no/such/folder")); }), Status::kWriteFailed);
  write_file(path, compress(wordy_bytes(10000)));
  EXPECT_EQ(status_of([&] { few.load(path); }), Status::kUnknownFormat);
  write_file(path, {});
  EXPECT_EQ(status_of([&] { few.load(path); }), Status::kUnknownFormat);
  EXPECT_EQ(few.statistics().pages, 0U);
}

TEST(PageStoreSnapshot, APipeInItsPlaceIsRefused) {
  const Folder folder;
  const std::string path = folder.file("pages");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  PageStore store({.batch = on_cpu()});
  alarm(60);  // for a call that waits
  EXPECT_EQ(status_of([&] { store.load(path); }), Status::kReadFailed);
  EXPECT_EQ(status_of([&] { store.save(path); }), Status::kWriteFailed);
  alarm(0);
}

// An index of 128 MB, all of it a hole of the file. Memory does not follow what is claimed.
TEST(PageStoreSnapshot, AnIndexThatIsClaimedTakesNoMemory) {
  const Folder folder;
  const std::string path = folder.file("pages");
  constexpr std::uint32_t kIndexBytes = std::uint32_t{128} << 20;
  Bytes head(32);
  store_le32(head.data(), 0x184D2A5C);
  store_le32(head.data() + 4, kIndexBytes);
  std::memcpy(head.data() + 8, "hemspage", 8);
  store_le32(head.data() + 16, 1);
  store_le32(head.data() + 20, 4096);
  store_le64(head.data() + 24, (kIndexBytes - 28) / 16);
  write_file(path, head);
  std::filesystem::resize_file(path, kIndexBytes + 100);
  PageStore store({.batch = on_cpu()});
  const auto most_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto before = most_kilobytes();
  EXPECT_EQ(status_of([&] { store.load(path); }), Status::kHeaderChecksumMismatch);
  EXPECT_LT(most_kilobytes() - before, 32 << 10);
}

// Any change of any byte, and any cut, is an error, and no page is ever wrong.
TEST(PageStoreSnapshot, DamagedFiles) {
  const Folder folder;
  const std::string path = folder.file("pages");
  Model model;
  Bytes good;
  {
    PageStore store({.batch = on_cpu()});
    model = some_pages(store);
    store.save(path);
    good = read_file(path);
  }
  std::mt19937 random(5);
  for (int trial = 0; trial < 800; ++trial) {
    Bytes bytes = good;
    // The index is small and is tried at every byte.
    const std::size_t at =
        trial < 240 ? static_cast<std::size_t>(trial) % bytes.size() : random() % bytes.size();
    if (trial % 4 != 3)
      bytes[at] ^= static_cast<std::byte>(1 << random() % 8);
    else
      bytes.resize(at);
    write_file(path, bytes);
    PageStore store({.page_count = trial % 2 == 0 ? 0 : 100000U, .budget_bytes = 8 << 20, .batch = on_cpu()});
    ASSERT_NE(status_of([&] { store.load(path); }), Status::kOk) << "trial " << trial << ", byte " << at;
    Bytes page(4096);
    for (const std::uint64_t number : store.numbers()) {
      ASSERT_TRUE(model.contains(number));
      ASSERT_TRUE(store.get(number, page));
      ASSERT_TRUE(page == page_of(number, model[number])) << "trial " << trial << ", page " << number;
    }
  }
}

TEST(PageStore, OfC) {
  const Folder folder;
  hemstitch_page_batch_options batch{};
  batch.size = sizeof batch;
  batch.backend = "cpu";
  hemstitch_page_store_options options{};
  options.size = sizeof options;
  options.page_count = 100;
  options.budget_bytes = 1 << 20;
  options.checksums = 1;
  options.batch = &batch;
  hemstitch_page_store* store = nullptr;
  ASSERT_EQ(hemstitch_page_store_new(&options, &store), HEMSTITCH_OK);
  const Bytes page = page_of(7, 1);
  Bytes read(4096);
  int32_t found = 5;
  EXPECT_EQ(hemstitch_page_store_put(store, 7, page.data(), 4096), HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_page_store_get(store, 7, read.data(), 4096, &found), HEMSTITCH_OK);
  EXPECT_EQ(found, 1);
  EXPECT_TRUE(read == page);
  EXPECT_EQ(hemstitch_page_store_get(store, 8, read.data(), 4096, &found), HEMSTITCH_OK);
  EXPECT_EQ(found, 0);
  EXPECT_EQ(hemstitch_page_store_put(store, 100, page.data(), 4096), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_page_store_put(store, 1, page.data(), 4095), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_page_store_put(store, 1, nullptr, 4096), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_page_store_put(nullptr, 1, page.data(), 4096), HEMSTITCH_INVALID_OPTION);
  const std::vector<std::uint64_t> numbers = {1, 2};
  const Bytes two = page_of(1, 1) + page_of(2, 1);
  Bytes both(8192);
  std::vector<hemstitch_status> statuses(2, HEMSTITCH_INTERNAL);
  EXPECT_EQ(hemstitch_page_store_put_many(store, numbers.data(), 2, two.data(), statuses.data()),
            HEMSTITCH_OK);
  EXPECT_EQ(statuses[1], HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_page_store_get_many(store, numbers.data(), 2, both.data(), nullptr), HEMSTITCH_OK);
  EXPECT_TRUE(both == two);
  EXPECT_EQ(hemstitch_page_store_save(store, folder.file("pages").c_str()), HEMSTITCH_OK);
  uint64_t discarded = 0;
  EXPECT_EQ(hemstitch_page_store_discard_range(store, 0, 100, &discarded), HEMSTITCH_OK);
  EXPECT_EQ(discarded, 3U);
  EXPECT_EQ(hemstitch_page_store_load(store, folder.file("pages").c_str()), HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_page_store_discard(store, 2, &found), HEMSTITCH_OK);
  EXPECT_EQ(found, 1);
  hemstitch_page_store_statistics statistics{};
  EXPECT_EQ(hemstitch_page_store_statistics_of(store, &statistics), HEMSTITCH_INVALID_OPTION);
  statistics.size = sizeof statistics;
  EXPECT_EQ(hemstitch_page_store_statistics_of(store, &statistics), HEMSTITCH_OK);
  EXPECT_EQ(statistics.pages, 2U);
  EXPECT_EQ(hemstitch_page_store_load(store, folder.file("none").c_str()), HEMSTITCH_READ_FAILED);
  EXPECT_STRNE(hemstitch_last_error_message(), "");
  hemstitch_page_store_free(store);
  hemstitch_page_store_free(nullptr);
}

}  // namespace
}  // namespace hemstitch::testing
