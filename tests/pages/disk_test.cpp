// The disk of the nbdkit plugin, compared with a plain buffer: requests at any place and of any length, from
// one thread and from many.
#include "disk.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

PageStoreOptions options_for(const char* backend, std::uint32_t page_bytes) {
  return {.checksums = true, .batch = {.page_bytes = page_bytes, .backend = backend, .threads = 1}};
}

// Writes, reads and zeros both within [from, to), and asks for extents.
void run_requests(Disk& disk, Bytes& model, std::uint64_t from, std::uint64_t to, std::uint32_t seed,
                  int steps) {
  std::mt19937_64 random(seed);
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t at = from + random() % (to - from);
    const std::uint64_t most = std::min<std::uint64_t>(to - at, random() % 4 == 0 ? 70000 : 6000);
    const std::uint64_t count = 1 + random() % most;
    const std::span<std::byte> known = std::span(model).subspan(at, count);
    switch (random() % 4) {
      default: {
        const Bytes bytes = random() % 2 == 0 ? wordy_bytes(count, static_cast<std::uint32_t>(random()))
                                              : periodic_bytes(count, 1 + random() % 16);
        disk.write(at, bytes);
        std::ranges::copy(bytes, known.begin());
        break;
      }
      case 0:
        disk.zero(at, count);
        std::ranges::fill(known, std::byte{0});
        break;
      case 1: {
        Bytes read(count, std::byte{7});
        disk.read(at, read);
        ASSERT_TRUE(std::ranges::equal(read, known)) << "at " << at << ", " << count << " bytes";
        break;
      }
    }
  }
}

TEST(Disk, AsABufferOfRandomRequests) {
  for (const char* const backend : {"cpu", "reference"})
    for (const std::uint32_t page_bytes : {4096U, 65536U}) {
      constexpr std::uint64_t kBytes = 1000003;  // its last page is incomplete
      Disk disk(kBytes, options_for(backend, page_bytes));
      Bytes model(kBytes);
      run_requests(disk, model, 0, kBytes, 1, *backend == 'c' ? 1500 : 150);
      Bytes all(kBytes);
      disk.read(0, all);
      EXPECT_TRUE(all == model);
      disk.zero(0, kBytes);
      // Parts of pages at the end stay as zeros; whole pages are freed.
      EXPECT_LE(disk.store().statistics().pages, 1U);
      disk.read(0, all);
      EXPECT_TRUE(all == Bytes(kBytes));
    }
}

TEST(Disk, ExtentsTellWhatWasWritten) {
  Disk disk(100 * 4096, options_for("cpu", 4096));
  disk.write(10 * 4096 + 5, bytes_of("x"));
  disk.write(11 * 4096, bytes_of("y"));
  disk.write(50 * 4096, Bytes(3 * 4096, std::byte{1}));
  const auto text = [&](std::uint64_t at, std::uint64_t count) {
    std::string all;
    for (const Disk::Extent& extent : disk.extents(at, count))
      all += (extent.is_data ? "d" : "h") + std::to_string(extent.at / 4096) + "+" +
             std::to_string(extent.bytes / 4096) + " ";
    return all;
  };
  EXPECT_EQ(text(0, 100 * 4096), "h0+10 d10+2 h12+38 d50+3 h53+47 ");
  EXPECT_EQ(text(10 * 4096 + 4095, 2), "d10+2 ");
  EXPECT_EQ(text(60 * 4096, 1), "h60+1 ");
}

// Each thread reads and writes its own share, with fewer requests where a backend is slow.
void expect_shares_by_threads(const char* backend, std::uint64_t thread_count, std::uint64_t share,
                              int requests) {
  Disk disk(thread_count * share, options_for(backend, 4096));
  Bytes model(thread_count * share);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      run_requests(disk, model, t * share, (t + 1) * share, static_cast<std::uint32_t>(t), requests);
    });
  for (std::thread& thread : threads) thread.join();
  Bytes all(model.size());
  disk.read(0, all);
  EXPECT_TRUE(all == model);
}

// Three threads in a page: no byte may be lost, however their parts meet in pages.
TEST_WITH_THREADS(Disk, PartsOfPagesByManyThreads) {
  expect_shares_by_threads("cpu", 8, 2500, 200);
  expect_shares_by_threads("reference", 8, 2500, 40);
}

// Each thread has one byte of the same page, and must find what it wrote last.
TEST_WITH_THREADS(Disk, BytesOfOnePageByManyThreads) {
  Disk disk(4096, options_for("cpu", 4096));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3000; ++round) {
        const Bytes wrote(1, static_cast<std::byte>(round));
        Bytes read(1);
        disk.write(t, wrote);
        std::this_thread::yield();
        disk.read(t, read);
        ASSERT_TRUE(read == wrote) << "thread " << t << ", round " << round;
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_WITH_THREADS(Disk, ManyPagesByManyThreads) {
  expect_shares_by_threads("cpu", 6, 300'000, 80);
  expect_shares_by_threads("reference", 6, 300'000, 10);
}

TEST(Disk, ReachesItsBudgetAndStaysReadable) {
  for (const char* const backend : {"cpu", "reference"}) {
    PageStoreOptions options = options_for(backend, 4096);
    options.budget_bytes = 1 << 20;
    Disk disk(16 << 20, options);
    const Bytes noise = random_bytes(4096);
    std::uint64_t written = 0;
    Status status = Status::kOk;
    while (status == Status::kOk) {
      try {
        disk.write(written, noise);
        written += noise.size();
      } catch (const Error& error) {
        status = error.status();
      }
    }
    EXPECT_EQ(status, Status::kMemoryLimit);
    EXPECT_GT(written, 800000U);
    Bytes read(4096);
    for (std::uint64_t at = 0; at < written; at += 4096) {
      disk.read(at, read);
      ASSERT_TRUE(read == noise);
    }
    disk.zero(0, 8192);
    disk.write(0, noise);
  }
}

}  // namespace
}  // namespace hemstitch::testing
