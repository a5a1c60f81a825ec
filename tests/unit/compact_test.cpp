// scan and gather on the CPU, against sums and copies made one after the other.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compact/gather/gather.hpp"
#include "compact/scan/scan.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

std::vector<std::uint32_t> random_sizes(std::size_t count, std::uint32_t seed, std::uint32_t below) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(random() % below);
  return sizes;
}

Status status_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST(Scan, AddsUpAnyNumberOfSizes) {
  constexpr std::size_t kMost = (1 << 17) + 1;
  const std::vector<std::uint32_t> sizes =
      random_sizes(kMost, 1, 0xFFFFFFFFu);  // the total is far above 32 bits
  std::vector<std::uint64_t> expected(kMost + 1, 0);
  for (std::size_t i = 0; i < kMost; ++i) expected[i + 1] = expected[i] + sizes[i];

  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 5000; ++count) counts.push_back(count);
  for (std::size_t power = 8192; power < kMost; power *= 2)
    counts.insert(counts.end(), {power - 1, power, power + 1});
  for (const std::size_t count : counts) {
    std::vector<std::uint64_t> offsets(count + 1, 0xA5);
    ASSERT_EQ(scan_sizes(std::span(sizes).first(count), offsets), expected[count]);
    ASSERT_TRUE(std::equal(offsets.begin(), offsets.end(), expected.begin())) << count << " sizes";
  }
}

TEST(Scan, NeedsOneOffsetMoreThanSizes) {
  const std::vector<std::uint32_t> sizes(5, 1);
  std::vector<std::uint64_t> offsets(5);
  EXPECT_EQ(status_of([&] { scan_sizes(sizes, offsets); }), Status::kInvalidOption);
}

// Gathers pieces of `sizes`, `gap` bytes apart in the output, and compares the whole output.
void expect_gathered(const std::vector<std::uint32_t>& sizes, std::size_t source_step, std::size_t gap) {
  std::size_t source_bytes = 0, output_bytes = gap;
  std::vector<std::size_t> begins;
  std::vector<std::uint64_t> offsets;
  for (const std::uint32_t size : sizes) {
    source_bytes += source_step;
    begins.push_back(source_bytes);
    source_bytes += size;
    offsets.push_back(output_bytes);
    output_bytes += size + gap;
  }
  std::mt19937 random(static_cast<std::uint32_t>(source_bytes));
  std::vector<std::byte> source(source_bytes), expected(output_bytes, std::byte{0xA5}), output = expected;
  for (std::byte& byte : source) byte = static_cast<std::byte>(random() % 0xA5);
  std::vector<const std::byte*> sources;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sources.push_back(source.data() + begins[i]);
    if (sizes[i] != 0) std::memcpy(expected.data() + offsets[i], sources[i], sizes[i]);
  }
  gather_pieces(sources, sizes, offsets, output);
  ASSERT_TRUE(output == expected) << sizes.size() << " pieces, " << gap << " bytes apart";
}

TEST(Gather, CopiesAnyNumberOfPieces) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 33u, 1000u, 20'000u})
    for (const std::size_t gap : {0u, 1u, 7u}) expect_gathered(random_sizes(count, 2, 300), 3, gap);
}

TEST(Gather, CopiesPiecesThatManyThreadsShare) {
  std::vector<std::uint32_t> sizes = random_sizes(300, 3, 1000);
  sizes[100] = 3'000'001;
  sizes[101] = 0;
  expect_gathered(sizes, 1, 0);
  expect_gathered(sizes, 1, 5);
}

TEST(Gather, RefusesWhatDoesNotFit) {
  const std::vector<std::byte> source(100);
  const std::vector<const std::byte*> sources = {source.data(), source.data()};
  const std::vector<std::uint32_t> sizes = {40, 60};
  std::vector<std::byte> output(100, std::byte{0xA5});
  const auto gather = [&](std::vector<std::uint64_t> offsets, std::size_t output_bytes) {
    return status_of([&] { gather_pieces(sources, sizes, offsets, std::span(output).first(output_bytes)); });
  };
  EXPECT_EQ(gather({0, 40}, 100), Status::kOk);
  EXPECT_EQ(gather({0, 41}, 100), Status::kOutputTooSmall);
  EXPECT_EQ(gather({0, 40}, 99), Status::kOutputTooSmall);
  EXPECT_EQ(gather({0, 0xFFFFFFFFFFFFFFFFu}, 100), Status::kOutputTooSmall);
  EXPECT_EQ(gather({0}, 100), Status::kInvalidOption);
}

}  // namespace
}  // namespace hemstitch
