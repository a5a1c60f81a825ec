// Batches of pages: what they are kept as, on every backend, and what hostile entries and failing devices give.
#include <gtest/gtest.h>
#include <lz4.h>

#include <array>
#include <cstring>
#include <random>

#include "engine/fake/fake_backend.hpp"
#include "engine/registry.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/pages.h"
#include "hemstitch/pages.hpp"
#include "mixed_pages.hpp"
#include "page_round_trip.hpp"
#include "pages/page_codec.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

TEST(PageBatch, RoundTripsOfEverySize) {
  for (const std::uint32_t page_bytes : {4096U, 8192U, 16384U, 65536U}) {
    const PageBatch batch({.page_bytes = page_bytes, .backend = "cpu", .threads = 1});
    const PageBatchReport report = expect_round_trip(batch, mixed_pages(page_bytes, 1));
    EXPECT_EQ(report.backend, "cpu");
    EXPECT_GT(report.same_filled, 1U);
    EXPECT_GT(report.compressed, 1U);
    EXPECT_GT(report.raw, 0U);
  }
}

TEST(PageBatch, RoundTripsOfEveryLevelAndTwin) {
  const Bytes pages = mixed_pages(4096, 1);
  for (const int level : {1, 3, 9, 12}) {
    expect_round_trip(PageBatch({.level = level, .backend = "cpu", .threads = 1}), pages);
    EXPECT_EQ(
        expect_round_trip(PageBatch({.level = level, .backend = "reference", .threads = 1}), pages).backend,
        "reference");
  }
}

TEST_WITH_THREADS(PageBatch, RoundTripsByManyThreads) {
  const PageBatch batch({.backend = "cpu", .threads = 4});
  const PageBatchReport report = expect_round_trip(batch, mixed_pages(4096, 300));
  EXPECT_FALSE(report.rule_takes_device);
  EXPECT_TRUE(expect_round_trip(batch, mixed_pages(4096, kPagesOfRule)).rule_takes_device);
}

TEST(PageBatch, EmptyBatches) {
  const PageBatch batch({.backend = "cpu"});
  EXPECT_EQ(batch.compress({}, {}, {}).pages, 0U);
  EXPECT_EQ(batch.restore({}, {}, {}).pages, 0U);
}

// The processor, for a batch that no device is worth, and for a machine that has none.
TEST(PageBatch, AutoTakesTheProcessorForAFewPages) {
  const PageBatch batch;
  EXPECT_EQ(batch.backend_for(Direction::kCompress, 1), "cpu");
  EXPECT_EQ(batch.backend_for(Direction::kRestore, 200), "cpu");
  EXPECT_EQ(expect_round_trip(batch, mixed_pages(4096, 1)).backend, "cpu");
  EXPECT_EQ(PageBatch({.backend = "reference"}).backend_for(Direction::kCompress, 1), "reference");
}

TEST(PageBatch, WrongCalls) {
  const auto status_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  for (const std::uint32_t page_bytes : {0U, 1U, 2048U, 4095U, 5000U, 131072U})
    EXPECT_EQ(status_of([&] { PageBatch({.page_bytes = page_bytes}); }), Status::kInvalidOption);
  for (const int level : {-1, 0, 13})
    EXPECT_EQ(status_of([&] { PageBatch({.level = level}); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([] { PageBatch({.threads = 100000}); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([] { PageBatch({.backend = "abacus"}); }), Status::kUnknownBackend);
  const PageBatch batch({.backend = "cpu"});
  const Bytes page(4096);
  Bytes room(4096);
  std::vector<const std::byte*> pages = {page.data()};
  std::vector<KeptPage> entries(1), two(2);
  EXPECT_EQ(status_of([&] { batch.compress(pages, room, two); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { batch.compress(pages, std::span(room).first(4095), entries); }),
            Status::kOutputTooSmall);
  pages[0] = nullptr;
  EXPECT_EQ(status_of([&] { batch.compress(pages, room, entries); }), Status::kInvalidOption);
  std::vector<std::byte*> outputs = {nullptr};
  EXPECT_EQ(status_of([&] { batch.restore(room, entries, outputs); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { batch.restore(room, two, outputs); }), Status::kInvalidOption);
}

// Entries and kept bytes of any content: each page is right or has a status, and nothing outside is touched.
TEST(PageBatch, HostileEntries) {
  const PageBatch batch({.backend = "cpu", .threads = 1});
  const Bytes pages = mixed_pages(4096, 1);
  const std::vector<const std::byte*> inputs = pointers_to(pages, 4096);
  Bytes kept(pages.size());
  std::vector<KeptPage> entries(inputs.size());
  batch.compress(inputs, kept, entries);
  GuardedBuffer output(4096);
  const std::vector<std::byte*> outputs = {output.bytes().data()};
  std::mt19937 random(1);
  std::size_t damaged = 0, right = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const KeptPage good = entries[random() % entries.size()];
    Bytes bytes(kept.begin() + static_cast<std::ptrdiff_t>(good.at),
                kept.begin() + static_cast<std::ptrdiff_t>(good.at + good.bytes));
    KeptPage entry = good;
    entry.at = 0;
    switch (random() % 5) {
      case 0:
        bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 << random() % 8);
        break;
      case 1:
        bytes.resize(random() % bytes.size());
        entry.bytes = static_cast<std::uint32_t>(bytes.size());
        break;
      case 2:
        entry.kind = static_cast<PageKind>(random() % 6);
        break;
      case 3:
        entry.bytes = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 5000);
        break;
      case 4:
        entry.at = random() % 3 == 0 ? ~std::uint64_t{random() % 5000} : random() % 5000;
        break;
    }
    GuardedBuffer guarded(bytes);
    const PageBatchReport report = batch.restore(guarded.bytes(), {&entry, 1}, outputs);
    EXPECT_EQ(report.damaged, entry.status == Status::kOk ? 0U : 1U);
    EXPECT_TRUE(entry.status == Status::kOk || entry.status == Status::kCorruptBlock);
    ++(entry.status == Status::kOk ? right : damaged);
  }
  EXPECT_GT(damaged, 5000U);
  EXPECT_GT(right, 100U);
}

// Where one page is damaged all others are right.
TEST(PageBatch, ADamagedPageIsItsOwnError) {
  const PageBatch batch({.backend = "cpu", .threads = 1});
  const Bytes pages = mixed_pages(4096, 1);
  const std::vector<const std::byte*> inputs = pointers_to(pages, 4096);
  Bytes kept(pages.size()), restored(pages.size());
  std::vector<KeptPage> entries(inputs.size());
  batch.compress(inputs, kept, entries);
  entries[3].bytes = 5;
  EXPECT_EQ(batch.restore(kept, entries, pointers_into(restored, 4096)).damaged, 1U);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].status, i == 3 ? Status::kCorruptBlock : Status::kOk);
    if (i != 3) {
      EXPECT_EQ(std::memcmp(restored.data() + i * 4096, inputs[i], 4096), 0);
    }
  }
}

// Blocks of same-filled pages and of pages that are almost so, valid, changed and cut: the decoder says what they are.
TEST(PageBatch, ABlockShowsASameFilledPage) {
  std::mt19937 random(1);
  std::size_t same = 0, other = 0;
  for (int trial = 0; trial < 40000; ++trial) {
    const std::uint32_t page_bytes = trial % 100 == 0 ? kMaxPageBytes : kMinPageBytes;
    Bytes page(page_bytes);
    const std::size_t period = std::size_t{1} << random() % 5;  // 16: of two words
    for (std::size_t i = 0; i < page_bytes; ++i)
      page[i] = i < period ? static_cast<std::byte>(random() % 3) : page[i - period];
    if (random() % 4 == 0) page[random() % page_bytes] ^= std::byte{1};
    Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(page_bytes))));
    block.resize(static_cast<std::size_t>(LZ4_compress_fast(
        reinterpret_cast<const char*>(page.data()), reinterpret_cast<char*>(block.data()),
        static_cast<int>(page_bytes), static_cast<int>(block.size()), 1 + static_cast<int>(random() % 9))));
    if (random() % 2 == 0) block[random() % block.size()] ^= static_cast<std::byte>(1 << random() % 8);
    if (random() % 8 == 0) block.resize(random() % block.size());
    Bytes restored(page_bytes);
    const bool expected =
        PageCodec(page_bytes, 1).restore(PageKind::kCompressed, block, restored) == Status::kOk &&
        same_filled(restored);
    std::array<std::byte, kPageWordBytes> word{};
    GuardedBuffer guarded(block);
    ASSERT_EQ(restores_same_filled(guarded.bytes(), page_bytes, word), expected) << trial;
    if (expected) {
      ASSERT_EQ(std::memcmp(word.data(), restored.data(), word.size()), 0) << trial;
    }
    ++(expected ? same : other);
  }
  EXPECT_GT(same, 5000U);
  EXPECT_GT(other, 5000U);
}

// Names of backends stay for the process, so each has its own.
std::string add_fake(FakePlan plan) {
  class Named : public Backend {
   public:
    Named(std::unique_ptr<Backend> inner, std::string name)
        : inner_(std::move(inner)), name_(std::move(name)) {}
    std::string_view name() const override { return name_; }
    std::string description(std::string_view device) const override { return inner_->description(device); }
    std::optional<std::string> unavailable_reason(std::string_view device) const override {
      return inner_->unavailable_reason(device);
    }
    bool chosen_by_auto() const override { return false; }
    std::string_view fallback_name() const override { return inner_->fallback_name(); }
    bool supports(Format format, Direction direction) const override {
      return inner_->supports(format, direction);
    }
    std::unique_ptr<BlockEngine> make_engine(std::string_view device) const override {
      return inner_->make_engine(device);
    }

   private:
    std::unique_ptr<Backend> inner_;
    std::string name_;
  };
  static int count = 0;
  std::string name = "pages-fake-" + std::to_string(++count);
  BackendRegistry::instance().add(std::make_unique<Named>(make_fake_backend(std::move(plan)), name));
  return name;
}

TEST_WITH_THREADS(PageBatch, WhatADeviceFailsOnTheProcessorDoes) {
  const Bytes pages = mixed_pages(4096, 3000);
  {
    FakePlan plan;
    plan.failing_block_calls = {1, 2, 3};
    const std::string name = add_fake(plan);
    const PageBatchReport report = expect_round_trip(PageBatch({.backend = name, .threads = 2}), pages);
    EXPECT_EQ(report.backend, name);
    EXPECT_GE(report.fallback_pages, 1U);
    EXPECT_LE(report.fallback_pages, 3U);
    EXPECT_FALSE(report.fallback_reason.empty());
  }
  {
    FakePlan plan;
    plan.out_of_memory_calls = {2};
    const PageBatchReport report =
        expect_round_trip(PageBatch({.backend = add_fake(plan), .threads = 2}), pages);
    EXPECT_GE(report.fallback_pages, 10U);
    EXPECT_LT(report.fallback_pages, report.pages);
  }
}

TEST(PageBatch, ALostDeviceIsAskedNoMore) {
  const Bytes pages = mixed_pages(4096, 1);
  FakePlan plan;
  plan.lost_from_call = 1;
  plan.counts = std::make_shared<FakeCounts>();
  const PageBatch batch({.backend = add_fake(plan), .threads = 1});
  for (int i = 0; i < 4; ++i) {
    const PageBatchReport report = expect_round_trip(batch, pages);
    EXPECT_GT(report.fallback_pages, 0U);
    EXPECT_FALSE(report.fallback_reason.empty());
  }
  EXPECT_EQ(plan.counts->calls, 2U);
}

TEST(PageBatch, ADeviceThatDoesNotStartIsReplaced) {
  FakePlan plan;
  plan.starts = false;
  const Bytes pages = mixed_pages(4096, 1);
  const PageBatchReport report =
      expect_round_trip(PageBatch({.backend = add_fake(plan), .threads = 1}), pages);
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_EQ(report.fallback_pages, report.pages);
}

TEST(PageBatch, OfC) {
  hemstitch_page_batch_options options{};
  options.size = sizeof options;
  options.backend = "cpu";
  hemstitch_page_batch* batch = nullptr;
  ASSERT_EQ(hemstitch_page_batch_new(&options, &batch), HEMSTITCH_OK);
  const Bytes pages = mixed_pages(4096, 1);
  const std::size_t count = pages.size() / 4096;
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i < count; ++i) inputs.push_back(pages.data() + i * 4096);
  Bytes kept(pages.size()), restored(pages.size());
  std::vector<hemstitch_kept_page> entries(count);
  hemstitch_page_batch_report report{};
  report.size = sizeof report;
  ASSERT_EQ(hemstitch_page_batch_compress(batch, inputs.data(), count, kept.data(), kept.size(),
                                          entries.data(), &report),
            HEMSTITCH_OK);
  EXPECT_EQ(report.pages, count);
  EXPECT_EQ(report.on_device, 0);
  std::vector<void*> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back(restored.data() + i * 4096);
  entries[0].kind = 9;
  ASSERT_EQ(hemstitch_page_batch_restore(batch, kept.data(), kept.size(), entries.data(), outputs.data(),
                                         count, &report),
            HEMSTITCH_OK);
  EXPECT_EQ(report.damaged, 1U);
  EXPECT_EQ(entries[0].status, HEMSTITCH_CORRUPT_BLOCK);
  EXPECT_EQ(std::memcmp(restored.data() + 4096, pages.data() + 4096, pages.size() - 4096), 0);
  EXPECT_EQ(
      hemstitch_page_batch_compress(batch, inputs.data(), count, kept.data(), 1, entries.data(), nullptr),
      HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_EQ(hemstitch_page_batch_compress(batch, nullptr, 1, kept.data(), 4096, entries.data(), nullptr),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(
      hemstitch_page_batch_compress(nullptr, inputs.data(), 1, kept.data(), 4096, entries.data(), nullptr),
      HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_page_batch_new(&options, nullptr), HEMSTITCH_INVALID_OPTION);
  hemstitch_page_batch_free(batch);
  hemstitch_page_batch_free(nullptr);
}

}  // namespace
}  // namespace hemstitch::testing
