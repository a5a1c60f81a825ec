// Pages in a device's memory, put and got, on a device of the test's own: its memory is the host's, liblz4 does what kernels would, and lanes
// fail where the test says so. tests/device/page_batch_test.cpp does it on a real one.
#include "pages/page_device.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>

#include "hemstitch/pages.h"
#include "mixed_pages.hpp"
#include "pages/page_store.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

const char* chars(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }

class FakePageDevice : public PageDevice {
 public:
  std::atomic<int> failing_lanes = 0, failing_calls = 0;  // of the next ones
  std::atomic<int> calls = 0, copies = 0;
  int failing_call = 0;  // the one of this number
  bool copies_fail = false;
  PageMemory memory = PageMemory::kDevice;  // where pages are to go

  std::shared_ptr<PageLane> lane() override {
    if (failing_lanes.fetch_sub(1) > 0) throw Error(Status::kDeviceOutOfMemory, "no lane");
    return std::make_shared<Lane>(*this);
  }
  void copy_to(std::byte* d_to, std::span<const std::byte> from) override {
    copy(d_to, from.data(), from.size());
  }
  void copy_from(std::span<std::byte> to, const std::byte* d_from) override {
    copy(to.data(), d_from, to.size());
  }

 private:
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (copies_fail) throw Error(Status::kDeviceFault, "lost");
    std::memcpy(to, from, bytes);
    ++copies;
  }

  class Lane : public PageLane {
   public:
    explicit Lane(FakePageDevice& device) : device_(device) {}
    std::span<std::byte> staging(std::size_t bytes) override {
      memory_.resize(std::max(memory_.size(), bytes));
      return std::span(memory_).first(bytes);
    }
    void begin_restore(std::span<const StagedBlock> blocks, std::uint32_t page_bytes, std::byte* pages,
                       PageMemory memory, bool wants_checksums) override {
      begin_call();
      EXPECT_EQ(memory, device_.memory);
      EXPECT_TRUE(blocks_.empty()) << "one at a time";
      blocks_.assign(blocks.begin(), blocks.end());
      page_bytes_ = page_bytes;
      pages_ = pages;
      wants_checksums_ = wants_checksums;
    }
    // As late as a device may be.
    void end_restore(std::span<Status> statuses, std::span<std::uint32_t> checksums) override {
      begin_call();
      ASSERT_EQ(statuses.size(), blocks_.size());
      ASSERT_EQ(checksums.size(), wants_checksums_ ? blocks_.size() : 0);
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        std::byte* const page = pages_ + i * page_bytes_;
        const int bytes =
            LZ4_decompress_safe(chars(memory_.data() + blocks_[i].at), reinterpret_cast<char*>(page),
                                static_cast<int>(blocks_[i].bytes), static_cast<int>(page_bytes_));
        statuses[i] = bytes == static_cast<int>(page_bytes_) ? Status::kOk : Status::kCorruptBlock;
        if (wants_checksums_) checksums[i] = XXH32(page, page_bytes_, 0);
      }
      blocks_.clear();
    }
    std::span<const std::byte> compress(const std::byte* d_pages, std::uint32_t page_bytes, int,
                                        std::span<StagedBlock> blocks,
                                        std::span<std::uint32_t> checksums) override {
      begin_call();
      memory_.resize(blocks.size() * page_bytes);
      std::uint32_t used = 0;
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::byte* const page = d_pages + i * page_bytes;
        std::byte* const to = memory_.data() + used;
        int bytes = LZ4_compress_default(chars(page), reinterpret_cast<char*>(to),
                                         static_cast<int>(page_bytes), static_cast<int>(page_bytes) - 1);
        if (bytes == 0) {
          std::memcpy(to, page, page_bytes);
          bytes = static_cast<int>(page_bytes);
        }
        blocks[i] = {used, static_cast<std::uint32_t>(bytes)};
        used += blocks[i].bytes;
        if (!checksums.empty()) checksums[i] = XXH32(page, page_bytes, 0);
      }
      return std::span(memory_).first(used);
    }

   private:
    void begin_call() {
      const int call = ++device_.calls;
      if (device_.failing_calls.fetch_sub(1) > 0 || call == device_.failing_call)
        throw Error(Status::kDeviceFault, "a lane failed");
    }

    FakePageDevice& device_;
    Bytes memory_;
    std::vector<StagedBlock> blocks_;  // that are being restored
    std::uint32_t page_bytes_ = 0;
    std::byte* pages_ = nullptr;
    bool wants_checksums_ = false;
  };
};

PageStoreOptions on_device(std::uint32_t page_bytes, bool checksums, unsigned threads) {
  // "auto" asks for no backend that this build may lack; from 256 pages on the device works.
  return {.page_count = 100000,
          .checksums = checksums,
          .batch = {.page_bytes = page_bytes, .backend = "auto", .threads = threads}};
}

std::vector<std::uint64_t> every_other(std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = 2 * i;
  return numbers;
}

void expect_round_trips(FakePageDevice& device, const PageStoreOptions& options, bool fails) {
  PageStore::Impl store(options);
  const std::uint32_t page_bytes = options.batch.page_bytes;
  const Bytes pages = mixed_pages(page_bytes, page_bytes == 4096 ? 1200 : 300);
  const std::vector<std::uint64_t> numbers = every_other(pages.size() / page_bytes);
  store.put_from(device, numbers, pages.data(), {});
  // What is kept is what the processor would keep.
  PageStore twin({.batch = {.page_bytes = page_bytes, .backend = "cpu", .threads = 1}});
  twin.put_many(numbers, pages);
  std::uint64_t same_filled = 0, raw = 0;
  for (PageStore::Impl::Shard& shard : store.shards)
    same_filled += shard.counts.same_filled, raw += shard.counts.raw;
  EXPECT_EQ(same_filled, twin.statistics().same_filled);
  EXPECT_GT(same_filled, 0U);
  EXPECT_EQ(raw, twin.statistics().raw);
  EXPECT_GT(raw, 0U);
  Bytes page(page_bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    bool found = false;
    ASSERT_EQ(store.get_one(numbers[i], page, found), Status::kOk);
    ASSERT_TRUE(found);
    ASSERT_EQ(std::memcmp(page.data(), pages.data() + i * page_bytes, page_bytes), 0) << i;
  }
  // And all numbers, of which every other one is not there.
  std::vector<std::uint64_t> all(2 * numbers.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  Bytes back(all.size() * page_bytes, std::byte{1});
  const Bytes zeros(page_bytes);
  std::vector<Status> statuses(all.size(), Status::kInternal);
  const auto gets = [&] {
    std::uint64_t sum = 0;
    for (PageStore::Impl::Shard& shard : store.shards) sum += shard.counts.gets;
    return sum;
  };
  for (const PageMemory memory : {PageMemory::kDevice, PageMemory::kHost}) {
    device.memory = memory;
    std::ranges::fill(back, std::byte{1});
    std::ranges::fill(statuses, Status::kInternal);
    const std::uint64_t gets_before = gets();
    const int copies_before = device.copies;
    EXPECT_EQ(store.get_to(device, all, back.data(), memory, statuses), numbers.size());
    EXPECT_EQ(gets() - gets_before, numbers.size());
    if (memory == PageMemory::kHost) {
      EXPECT_EQ(device.copies, copies_before);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(statuses[i], Status::kOk);
      ASSERT_EQ(std::memcmp(back.data() + i * page_bytes,
                            i % 2 == 0 ? pages.data() + i / 2 * page_bytes : zeros.data(), page_bytes),
                0)
          << i;
    }
  }
  EXPECT_EQ(store.fallback_pages != 0, fails);
}

TEST_WITH_THREADS(PagesOfADevice, RoundTrips) {
  for (const std::uint32_t page_bytes : {4096U, 16384U, 65536U})
    for (const bool checksums : {false, true})
      for (const unsigned threads : {1U, 4U}) {
        FakePageDevice device;
        expect_round_trips(device, on_device(page_bytes, checksums, threads), false);
        EXPECT_GT(device.calls, 1);
        EXPECT_EQ(device.copies, 0);
      }
}

TEST_WITH_THREADS(PagesOfADevice, WhatTheDeviceFailsOnTheProcessorDoes) {
  for (const int failing : {1, 2, 5, 1000}) {
    FakePageDevice calls, lanes;
    calls.failing_calls = failing;
    expect_round_trips(calls, on_device(4096, true, 3), true);
    lanes.failing_lanes = failing;
    expect_round_trips(lanes, on_device(4096, true, 3), true);
  }
}

// A call has two pieces, of 512 pages and of 100. Both are begun, then both are ended. If one of these steps fails,
// the processor restores the piece, and each page is counted once.
TEST(PagesOfADevice, WhicheverStepFailsThePieceIsRestored) {
  for (int step = 1; step <= 5; ++step) {
    FakePageDevice device;
    PageStore::Impl store(on_device(4096, true, 1));
    const Bytes pages = mixed_pages(4096, 600);
    const std::vector<std::uint64_t> numbers = every_other(pages.size() / 4096);
    store.put_from(device, numbers, pages.data(), {});
    device.failing_call = device.calls + step;
    Bytes back(pages.size());
    std::vector<Status> statuses(numbers.size(), Status::kInternal);
    EXPECT_EQ(store.get_to(device, numbers, back.data(), PageMemory::kDevice, statuses), numbers.size());
    EXPECT_TRUE(back == pages);
    EXPECT_EQ(std::ranges::count(statuses, Status::kOk), static_cast<std::ptrdiff_t>(numbers.size()));
    EXPECT_EQ(store.fallback_pages, step > 4 ? 0U : step % 2 == 1 ? 512U : 100U) << step;
  }
}

// More pages than are restored at once.
TEST_WITH_THREADS(PagesOfADevice, ALargeCallIsDoneInParts) {
  FakePageDevice device;
  PageStore::Impl store(on_device(kMaxPageBytes, false, 4));
  const Bytes pages = mixed_pages(kMaxPageBytes, 300);
  const std::vector<std::uint64_t> numbers = every_other(pages.size() / kMaxPageBytes);
  store.put_from(device, numbers, pages.data(), {});
  std::vector<std::uint64_t> wanted(2100);  // 131 MB
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = numbers[i % numbers.size()];
  Bytes back(wanted.size() * kMaxPageBytes);
  std::vector<Status> statuses(wanted.size(), Status::kInternal);
  EXPECT_EQ(store.get_to(device, wanted, back.data(), PageMemory::kDevice, statuses), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(statuses[i], Status::kOk);
    ASSERT_EQ(std::memcmp(back.data() + i * kMaxPageBytes, pages.data() + i % numbers.size() * kMaxPageBytes,
                          kMaxPageBytes),
              0)
        << i;
  }
  EXPECT_EQ(store.fallback_pages, 0U);
}

TEST(PagesOfADevice, WithoutEvenACopyTheCallThrows) {
  FakePageDevice device;
  device.failing_calls = 1000;
  device.copies_fail = true;
  PageStore::Impl store(on_device(4096, false, 1));
  const Bytes pages = mixed_pages(4096, 600);
  const std::vector<std::uint64_t> numbers = every_other(pages.size() / 4096);
  EXPECT_THROW(store.put_from(device, numbers, pages.data(), {}), Error);
  Bytes back(pages.size());
  EXPECT_THROW(store.get_to(device, numbers, back.data(), PageMemory::kDevice, {}), Error);
}

TEST(PagesOfADevice, AFewPagesAreTheProcessorsAndNoFallback) {
  FakePageDevice device;
  PageStore::Impl store(on_device(4096, false, 1));
  const Bytes pages = mixed_pages(4096, 1);
  const std::vector<std::uint64_t> numbers{7, 9};
  store.put_from(device, numbers, pages.data(), {});
  Bytes back(2 * 4096);
  EXPECT_EQ(store.get_to(device, numbers, back.data(), PageMemory::kDevice, {}), 2U);
  EXPECT_EQ(std::memcmp(back.data(), pages.data(), back.size()), 0);
  EXPECT_EQ(device.calls, 0);
  EXPECT_EQ(device.copies, 2);
  EXPECT_EQ(store.fallback_pages, 0U);
}

TEST(PagesOfADevice, OfANumberThatComesTwiceTheLaterPageStays) {
  FakePageDevice device;
  PageStore::Impl store(on_device(4096, false, 1));
  const Bytes pages = mixed_pages(4096, 600);
  std::vector<std::uint64_t> numbers(pages.size() / 4096);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 300;
  store.put_from(device, numbers, pages.data(), {});
  Bytes page(4096);
  for (std::size_t number = 0; number < 300; ++number) {
    std::size_t last = number;
    while (last + 300 < numbers.size()) last += 300;
    bool found = false;
    ASSERT_EQ(store.get_one(number, page, found), Status::kOk);
    ASSERT_EQ(std::memcmp(page.data(), pages.data() + last * 4096, 4096), 0) << number;
  }
}

TEST(PagesOfADevice, ADamagedPageIsItsOwnError) {
  for (const bool checksums : {true, false}) {
    FakePageDevice device;
    PageStore::Impl store(on_device(4096, checksums, 1));
    const Bytes pages = mixed_pages(4096, 600);
    const std::vector<std::uint64_t> numbers = every_other(pages.size() / 4096);
    store.put_from(device, numbers, pages.data(), {});
    // A token that promises more literals than there are; with checksums a single bit of a raw page.
    std::size_t damaged = numbers.size();
    for (std::size_t i = 0; i < numbers.size() && damaged == numbers.size(); ++i) {
      const PageRef ref = store.flat->of(numbers[i]);
      if (ref.kind() != (checksums ? PageKind::kRaw : PageKind::kCompressed)) continue;
      damaged = i;
      store.data_of(ref.slot())[0] =
          checksums ? store.data_of(ref.slot())[0] ^ std::byte{1} : std::byte{0xFF};
      std::memset(store.data_of(ref.slot()) + 1, checksums ? 0 : 255, 1);
    }
    ASSERT_LT(damaged, numbers.size());
    std::vector<Status> statuses(numbers.size());
    Bytes back(pages.size());
    store.get_to(device, numbers, back.data(), PageMemory::kDevice, statuses);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i == damaged) {
        EXPECT_EQ(statuses[i], checksums ? Status::kBlockChecksumMismatch : Status::kCorruptBlock);
        continue;
      }
      ASSERT_EQ(statuses[i], Status::kOk);
      ASSERT_EQ(std::memcmp(back.data() + i * 4096, pages.data() + i * 4096, 4096), 0) << i;
    }
    EXPECT_THROW(store.get_to(device, numbers, back.data(), PageMemory::kDevice, {}), Error);
  }
}

// liblz4 restores what is made of a word and of a raw page, and nothing is written behind the room that is promised.
TEST(PagesOfADevice, EveryKindIsABlock) {
  for (std::uint32_t page_bytes = kMinPageBytes; page_bytes <= kMaxPageBytes; page_bytes *= 2) {
    Bytes raw(page_bytes);
    std::mt19937_64 random(page_bytes);
    for (std::byte& byte : raw) byte = static_cast<std::byte>(random());
    for (const PageKind kind : {PageKind::kRaw, PageKind::kSameFilled}) {
      const std::span<const std::byte> kept =
          std::span(raw).first(kind == PageKind::kRaw ? page_bytes : kPageWordBytes);
      Bytes page = raw;
      if (kind == PageKind::kSameFilled) fill_page(kept, page);
      Bytes block(most_block_bytes(page_bytes));
      const std::uint32_t bytes = write_as_block(kind, kept, page_bytes, block.data());
      ASSERT_LE(bytes, block.size());
      Bytes restored(page_bytes);
      ASSERT_EQ(LZ4_decompress_safe(chars(block.data()), reinterpret_cast<char*>(restored.data()),
                                    static_cast<int>(bytes), static_cast<int>(page_bytes)),
                static_cast<int>(page_bytes));
      EXPECT_TRUE(restored == page);
    }
  }
}

TEST(PagesOfADevice, WrongCallsChangeNothing) {
  PageStore store({.page_count = 10, .batch = {.backend = "cpu"}});
  Bytes page(4096);
  const std::vector<std::uint64_t> numbers{3}, outside{10};
  std::vector<Status> two(2);
  const auto status_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  EXPECT_EQ(status_of([&] { store.put_many_from_device(outside, page.data()); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.put_many_from_device(numbers, nullptr); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.put_many_from_device(numbers, page.data(), two); }),
            Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.get_many_to_device(numbers, nullptr); }), Status::kInvalidOption);
  // Of a build or a machine without a device, or memory that is none of its.
  const Status status = status_of([&] { store.put_many_from_device(numbers, page.data()); });
  EXPECT_TRUE(status == Status::kDeviceUnavailable || status == Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { store.put_many_from_device({}, nullptr); }), Status::kOk);
  EXPECT_EQ(store.get_many_to_device({}, nullptr), 0U);
  EXPECT_EQ(store.statistics().pages, 0U);

  hemstitch_page_store* of_c = nullptr;
  ASSERT_EQ(hemstitch_page_store_new(nullptr, &of_c), HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_page_store_put_many_from_device(of_c, numbers.data(), 1, nullptr, nullptr, nullptr),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(
      hemstitch_page_store_get_many_to_device(nullptr, numbers.data(), 1, page.data(), nullptr, nullptr),
      HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_page_store_get_many_to_device(of_c, nullptr, 0, nullptr, nullptr, nullptr),
            HEMSTITCH_OK);
  hemstitch_page_store_free(of_c);
}

}  // namespace
}  // namespace hemstitch::testing
